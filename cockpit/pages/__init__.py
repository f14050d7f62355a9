"""Pages of our own beside the admin: an instance, its diagram, its timeline."""
