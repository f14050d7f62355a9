"""Scenarios: what a process must do, as data, run on the pure core or through the engine."""
