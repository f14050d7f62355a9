"""PM4Py reads our XES and OCEL files and finds the right variants. (Group "mining"; PM4Py is AGPL-3.0.)"""

from __future__ import annotations

import warnings

from tests.database.audit.conftest import ORDER

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pm4py

LEFT_FIRST = ("start", "A", "B", "C", "end")
RIGHT_FIRST = ("start", "A", "C", "B", "end")


def history(world) -> None:
    """Five orders: three do B first, one C first, one is not done."""
    world.deploy(ORDER)
    for _ in range(3):
        world.start("order")
    world.work("A", worker="ada")
    world.work("B", worker="bob")
    world.work("C", worker="bob")
    world.start("order")
    world.work("A", worker="ada")
    world.work("C", worker="bob")
    world.work("B", worker="bob")
    world.start("order")


def test_the_variants_are_those_that_were_run(world, bpm, tmp_path):
    history(world)
    assert bpm("export", "--format", "xes", "--to", tmp_path / "log.xes")[0] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = pm4py.read_xes(str(tmp_path / "log.xes"))
        variants = pm4py.get_variants(log)
        assert {tuple(path): number for path, number in counted(variants).items()} == {
            LEFT_FIRST: 3,
            RIGHT_FIRST: 1,
            ("start",): 1,
        }
        assert set(log["org:resource"]) == {"ada", "bob", "tester", "engine"}
        net, before, after = pm4py.discover_petri_net_inductive(log)
        fit = pm4py.fitness_token_based_replay(log, net, before, after)
        assert fit["log_fitness"] > 0.9


def counted(variants) -> dict[tuple[str, ...], int]:
    return {path: found if isinstance(found, int) else len(found) for path, found in variants.items()}


def test_the_object_centric_log_is_read(world, bpm, tmp_path):
    history(world)
    assert bpm("export", "--format", "ocel", "--to", tmp_path / "log.jsonocel")[0] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = pm4py.read_ocel2_json(str(tmp_path / "log.jsonocel"))
    assert set(pm4py.ocel_get_object_types(log)) == {"process instance", "external task", "resource"}
    assert len(log.events) == 4 * 5 + 1
