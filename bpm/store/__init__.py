"""PostgreSQL as the only truth: loading what a command touches, and the one flush that writes a commit.

A commit (`committing`) is two round trips, or one. `Unit.load` begins, locks the instance's row in
`runtime_thread_version` as a statement of its own, and reads the time and what the command needs; `decide` works on
that part; `Unit.flush` writes commit, events, variables' history, messages, receipt and rows in one server function,
and commits. What `decide` found missing costs a third. A process that remembers the thread, or starts it, decides
beforehand (`foreseeing`) and says `Unit.settle`: all of it in one, where everything is as it was foreseen. The server
functions are in bpm/migrations/sql (`bpm_load`, `bpm_answer`, `bpm_flush`, `bpm_settle`; for a thread that is
remembered, where the step cannot be foreseen, `bpm_take_up`, or `bpm_resume` where the command asks for more than is
held).

A small instance is loaded whole, a large one by the part around the command's anchor: never more than its scopes, fork
ancestors, what hangs on them, who waits at joins there, and a few witnesses (`loading`). What is written comes of the
entities that the events have touched (`documents`), by one table of columns (`rows`).

Locks of tasks, deliveries of messages and deployments are commits of the nil thread: one statement each.

- `committing`   the one way to write an instance: `ThreadCommit` in, `CommitRecord` out; `wanting`: what it is asked
  for and begins with; `foreseeing`: on what a step is decided before the lock
- `coordinator`  the same for programs of their own, on a pool, without Django's settings; `migrating`: their migrations
- `projection`   what a process remembers of threads; `hydrating` fills it at a start, from `bases` (base states) and
  what came after them
- `schema`       whether the database is what this program was written for; `hardening`: the rights of its role
- `channel`      the connection, and whose transaction it is; `trip`: a round trip in libpq's own words
- `unit`         the transaction of one commit; `loading`, `documents`, `rows`, `history_rows`, `arguments`: its two
  sides; `answering`: what is looked up outside of the instance meanwhile
- `claims`       external tasks: fetch and lock, extend, unlock, release; `heads`: where their queues begin
- `outbox`       messages between instances and from outside
- `schedule`     what schedulers ask: due timers, tokens left behind, sweeps, partitions, the clock
- `deployments`  what is deployed together: `definitions` of processes, `decisions`
- `outside`      commits of the nil thread
- `reading`      history as replay takes it, and the stored state
- `faults`       where tests let a process die; nothing at all otherwise
- `ids`, `values`, `records`, `errors`, `statements`: ids made of ordinals, JSON as PostgreSQL keeps it, results,
  errors, the named statements of sql/*.sql (SQL that locks, claims, sweeps or reads much lives there, each with a line
  why)
"""

from __future__ import annotations

from bpm.store.channel import Channel, django_channel, plain_channel
from bpm.store.committing import commit
from bpm.store.coordinator import CommitCoordinator
from bpm.store.errors import (
    Busy,
    KeyConflict,
    LostRace,
    NoPartition,
    Refused,
    RuleBroken,
    SecondInstance,
    StoreError,
    UnknownInstance,
)
from bpm.store.records import CommitRecord, Incoming
from bpm.store.wanting import ThreadCommit

__all__ = [
    "Busy",
    "Channel",
    "CommitCoordinator",
    "CommitRecord",
    "Incoming",
    "KeyConflict",
    "LostRace",
    "NoPartition",
    "Refused",
    "RuleBroken",
    "SecondInstance",
    "StoreError",
    "ThreadCommit",
    "UnknownInstance",
    "commit",
    "django_channel",
    "plain_channel",
]
