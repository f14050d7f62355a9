"""Template tags of the cockpit."""
