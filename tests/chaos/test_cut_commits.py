"""The connection is cut in the middle of COMMIT: whether it was done or not, the caller learns it from the receipt."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.chaos.cutting import MODES, Cutter
from tests.chaos.ground import DATABASE
from tests.chaos.stories import STORIES


@pytest.fixture(scope="module")
def cutter(ground):
    cutter = Cutter(ground.server.sockets)
    yield cutter
    cutter.close()


@pytest.fixture(scope="module")
def behind(ground, cutter):
    """Processes whose only way to the database is through the cutter."""
    with ground.zygote("cut", DATABASE_URL=cutter.url(DATABASE)) as zygote:
        zygote.call("tests.chaos.stories:deploy")
        yield zygote


@pytest.mark.parametrize("mode", MODES)
def test_the_caller_learns_the_truth(behind, cutter, record, tmp_path, mode):
    learned: Counter[str] = Counter()
    cuts, instances, wrong = cutter.cuts, 0, []
    for name in STORIES:
        said = {"name": name, "ledger": str(tmp_path / name)}
        plain = behind.call("tests.chaos.stubborn:tell_plainly", prefix=f"{mode}_{name}_0_", **said)
        (tmp_path / name).unlink(missing_ok=True)
        cut = behind.call("tests.chaos.stubborn:tell", prefix=f"{mode}_{name}_1_", mode=mode, **said)
        learned.update(cut.pop("learned"))
        instances += cut["instances"]
        if cut != plain or cut["problems"]:
            wrong.append((name, cut, plain))
    record.lines.append(f"{cutter.cuts - cuts} COMMITs cut {mode}; the callers learned: {dict(learned)}")
    record.add("cuts", faults=cutter.cuts - cuts, instances=instances, lost=len(wrong), doubled=0, of=len(MODES))
    assert wrong == []
    assert cutter.cuts - cuts > 20
    if mode == "during":
        # Sometimes the answer was faster than the cut.
        assert 0 < learned.total() <= cutter.cuts - cuts
    elif mode == "before":
        assert learned == {"not done": cutter.cuts - cuts}
    else:
        # A step that was not as it was foreseen commits nothing, and begins anew; some are cut there.
        assert learned.total() == cutter.cuts - cuts
        assert learned["done"] > 0.9 * learned.total()
