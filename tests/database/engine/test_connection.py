"""A connection that breaks: the verb says so, and the next request or task works again on a new connection."""

from __future__ import annotations

import psycopg
import pytest
from django.db import Error, connection, transaction

from tests.database.engine.drawing import end, flows, model, service, start


def break_connection() -> None:
    """The server ends the session of Django's connection."""
    pid = connection.connection.info.backend_pid
    parameters = connection.get_connection_params() | {"dbname": connection.settings_dict["NAME"]}
    with psycopg.connect(**{k: v for k, v in parameters.items() if k in ("host", "user", "dbname")}) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])


def test_a_broken_connection_fails_one_verb_and_not_the_next(world):
    world.deploy(model(start(), service("pay"), end(), flows("start -> pay -> end")))
    instance = world.start()
    break_connection()
    with pytest.raises(Error):
        world.start()
    assert world.start() != instance
    assert world.state(instance) == "RUNNING"


def test_a_transaction_of_the_callers_that_was_lost_is_not_begun_anew(world):
    world.deploy(model(start(), service("pay"), end(), flows("start -> pay -> end")))
    with pytest.raises(Error), transaction.atomic():
        world.start()
        break_connection()
        with pytest.raises(Error):
            world.start()
        world.start()
    assert world.ask("SELECT count(*) FROM process_instances") == [(0,)]
    world.start()
