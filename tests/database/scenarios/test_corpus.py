"""Every scenario that runs gives the same result on the core and through the engine; live = replayed = stored."""

from __future__ import annotations

import pytest

from bpm.management.driving import perform
from bpm.scenarios import CoreDriver, read_scenarios, run_document, scenario_files
from tests.pure.scenarios.corpus import corpus

# source -> how many of its scenarios start something
SOURCES = {"prod_hmcts_civil": 158, "betsy": 95, "bpmn_js_token_simulation": 52}


@pytest.mark.parametrize("source", SOURCES)
def test_the_core_and_the_engine_agree(source, database):
    found = instances = 0
    before = database.all_commits()
    for file in scenario_files([str(corpus(source) / "scenarios")]):
        for document in read_scenarios(file):
            if document.scenario is not None and document.scenario.start is None:
                continue
            core = run_document(document, lambda file=file: CoreDriver(file.parent))
            performance = perform(document, file.parent, database)
            assert performance.result == core, document.name
            found += 1
            instances += performance.instances
    print(
        f"{source}: {found} scenarios, {instances} instances, {database.all_commits() - before} rows in runtime_commit"
    )
    assert found == SOURCES[source]
    assert instances > found // 2
