"""The benchmark: how fast the engine is, measured against what PostgreSQL itself can do in the same run.

    script/bench                  every figure, about half an hour; writes docs/performance.md
    script/bench hot-path queue   some of them; the page's other figures stay as they are
    script/bench --short          everything with small numbers, under a minute: whether it works, not how fast
    script/bench --full           the largest numbers: ten million events, transactions held for two minutes

A figure is a module with `run(ground, scale)`, which yields `Line`s, and a row in `table`; a new one needs nothing
else. Each line is one JSON object on stdout and a row of the table on stderr. What is compared is measured in turn,
repetition by repetition, on the same server and the same tables, and medians are told: a machine that is busy slows
both sides. Nothing is extrapolated: `n` is what was really done.

- `ground`    a PostgreSQL server of its own (fsync and synchronous_commit on), databases cloned from a migrated one,
  the processor time of the server
- `crowd`     client processes, each with a connection, that do something at the same moment; their processor time
- `limit.sql` the hot path's rows written by hand for pgbench: the limit; `pgbench` runs it
- `table`     the figures by name; `running` runs them, each whatever became of the others
- `lines`     a line and the statistics in it; `page`: docs/performance.md, of which a run rewrites only its own figures
- `models`    the processes that run; `stock`: instances of them, in amounts
- `hot_path`, `instances`, `queue`, ... the figures
- `peers`     what others need for the same work; each in an environment of its own
"""
