"""Read-only admin tables of runtime and history, in django-unfold's look; and the people who may log in."""
