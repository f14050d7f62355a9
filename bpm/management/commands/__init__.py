"""One command, bpm, with a subcommand for each verb."""
