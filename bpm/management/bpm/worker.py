"""Do external tasks with the handlers of the installed apps, without Celery and Redis.

Asks the database for ready tasks of the topics that have a handler, and does one after the other. Several may run; each
task goes to one. The ordinary way is a Celery worker, which is woken at once; this one looks once a second.

    manage.py bpm worker                                  all topics with a handler
    manage.py bpm worker --topic orders.ship              only some
    manage.py bpm worker --once                           what is ready now, then end

It also does what Celery beat does (timers, expired locks, messages), so that a site without Celery runs, too; not with
--topic. Ends at Ctrl-C or SIGTERM when the task at hand is done.
"""

from __future__ import annotations

import argparse
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error, close_old_connections

from bpm.jobs.handlers import topics
from bpm.jobs.running import ROW_SECONDS, run_one
from bpm.jobs.schedule import Rounds
from bpm.jobs.starting import require_schema

IDLE = 1.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--topic NAME]... [--once]."""
    parser.add_argument("--topic", metavar="NAME", action="append", default=[], help="only this topic")
    parser.add_argument("--once", action="store_true", help="end when nothing is ready any more")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Work until told to end; the exit status."""
    mine = options["topic"] or topics()
    missing = [topic for topic in options["topic"] if topic not in topics()]
    if missing:
        raise CommandError(f"no installed app has a handler for {', '.join(missing)}", returncode=1)
    require_schema()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    command.stderr.write(f"topics: {', '.join(mine) or 'none'}")
    done, rounds = 0, Rounds()
    while not stop.is_set():
        # A database that was restarted is met on a new connection.
        close_old_connections()
        try:
            moved = 0 if options["topic"] else rounds.run_due()
            # One task a topic, with what follows from it while the round is young, then the schedule again: a topic
            # that never runs dry holds up nothing else, and timers do not wait for a row of each topic.
            row: dict[str, Any] = {"beside": mine, "until": time.monotonic() + ROW_SECONDS, "stopped": stop.is_set}
            worked = sum(run_one(topic, **row) for topic in mine if not stop.is_set())
        except Error as trouble:
            if options["once"]:
                raise
            command.stderr.write(f"the database cannot be reached, trying again: {trouble}")
            moved = worked = 0
        done += worked
        if not moved + worked:
            if options["once"]:
                break
            stop.wait(IDLE)
    command.stderr.write(f"{done} task{'' if done == 1 else 's'} done")
    return 0
