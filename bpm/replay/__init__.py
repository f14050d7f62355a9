"""Folding history into state and deciding it again: live = replayed = stored."""
