"""Tests against programs of others, each of a dependency group of its own; without them they are not collected."""
