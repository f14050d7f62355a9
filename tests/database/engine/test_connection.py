"""A connection that breaks: the verb says so, and the next request or task works again on a new connection."""

from __future__ import annotations

import psycopg
import pytest
from django.db import Error, close_old_connections, connection

from tests.database.engine.drawing import end, flows, model, service, start


def test_a_broken_connection_fails_one_request_and_not_the_next(world):
    world.deploy(model(start(), service("pay"), end(), flows("start -> pay -> end")))
    instance = world.start()
    pid = connection.connection.info.backend_pid
    parameters = connection.get_connection_params() | {"dbname": connection.settings_dict["NAME"]}
    with psycopg.connect(**{k: v for k, v in parameters.items() if k in ("host", "user", "dbname")}) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    with pytest.raises(Error):
        world.start()
    close_old_connections()
    assert world.start() != instance
    assert world.state(instance) == "RUNNING"
