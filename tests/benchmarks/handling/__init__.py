"""An app with handlers that do nothing: what Celery costs is measured, not what they do."""
