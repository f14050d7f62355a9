"""The command line: `manage.py bpm SUBCOMMAND`.

`commands/bpm.py` is the one command that Django sees. Each verb is a module in `bpm/` (see there how one is added).
"""
