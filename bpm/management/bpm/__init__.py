"""The subcommands of `manage.py bpm`, one module each.

To add one, add a module with its name here. Its docstring is what `--help` teaches (the first line is the summary in
the list), `arguments(parser)` declares its arguments, and `run(command, options)` does it and returns the exit status.
It writes to `command.stdout` and, for progress and complaints, `command.stderr`; what went wrong altogether is raised
as Django's CommandError, whose returncode is the exit status.
"""
