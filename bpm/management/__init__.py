"""The command line: manage.py bpm."""
