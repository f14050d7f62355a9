"""An app with handlers that tests can watch and hold up."""
