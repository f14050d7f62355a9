"""Beans: looked up by name, answered once, written into the commit, and replayed from there."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bpm import bean
from bpm.audit.replaying import replay_stored
from tests.database.engine.drawing import end, exclusive, flows, model, service, start

ASKED: list[tuple[object, ...]] = []


@bean("tariff.rate")
def rate(country: str, weight: Decimal) -> Decimal:
    ASKED.append((country, weight))
    if country == "XX":
        raise LookupError("no such country")
    return Decimal("0.19") * weight


@pytest.fixture
def deployed(world):
    ASKED.clear()
    ways = flows("start -> g", "g -> dear -> end", "g -> cheap -> end", g_dear="${tariff.rate(country, weight) &gt; 1}",
                 g_cheap="${not (tariff.rate(country, weight) &gt; 1)}")  # fmt: skip
    world.deploy(model(start(), exclusive("g"), service("dear"), service("cheap"), end(), ways))
    return world


def test_a_bean_decides_and_replay_does_not_ask_it_again(deployed):
    instance = deployed.start(variables={"country": "DE", "weight": Decimal("10.5")})

    assert deployed.where(instance) == ["dear"]
    assert [("DE", Decimal("10.5"))] == ASKED
    assert replay_stored([instance], again=True)[0].problems == ()
    assert len(ASKED) == 1


def test_a_bean_that_raises_is_an_incident(deployed):
    instance = deployed.start(variables={"country": "XX", "weight": 1})

    ((message,),) = deployed.ask("SELECT message FROM incidents WHERE instance_id = %s", instance)
    assert "LookupError: no such country" in message


def test_an_unknown_bean_is_an_incident_that_names_it(world):
    ways = flows("start -> g", "g -> a -> end", g_a="${nobody.knows(1)}")
    world.deploy(model(start(), exclusive("g"), service("a"), end(), ways))

    ((message,),) = world.ask("SELECT message FROM incidents WHERE instance_id = %s", world.start())
    assert "nobody" in message


def test_a_name_belongs_to_one_function():
    with pytest.raises(ValueError, match=r"there is a bean tariff\.rate already"):
        bean("tariff.rate")(lambda: None)
    for name in ("", len):
        with pytest.raises(ValueError, match=r'is no name of a bean: write @bean\("NAME"\)'):
            bean(name)
