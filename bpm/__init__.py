"""BPMN 2.0 processes in Django and PostgreSQL: the engine.

The one sentence that decides every trade-off: whenever the machine dies, restarts, races or retries, the exact state
of the engine is in the database, and the history explains how it got there.

Pure packages at the bottom decide (no clock, no chance, no input or output): expressions, decisions, graph, compiler,
semantics, replay, scenarios, checker. Above them PostgreSQL: models, store. Above that what may do or ask: engine,
queries, audit. On top what calls it: api, jobs, management. sdk stands alone. Imports point down only; the contracts
in pyproject.toml say exactly how.
"""
