"""Nothing begins of a version that is suspended, and whoever looks at it sees that."""

from __future__ import annotations

from bpm.queries import definitions


def test_a_definition_says_whether_it_is_suspended(operator, auditor, order):
    path = f"/definitions/{definitions.find_definition(order).id}"

    def said() -> tuple[bool, bool]:
        (listed,) = auditor.get(f"/definitions?key={order}").body["items"]
        return auditor.get(path).body["suspended"], listed["suspended"]

    assert said() == (False, False)
    assert operator.post(f"{path}/suspend", {"reason": "prices are wrong"}).status == 204
    assert said() == (True, True)
    assert operator.post("/instances", {"process": order}).status == 409
    assert operator.post(f"{path}/resume", {"reason": "repaired"}).status == 204
    assert said() == (False, False)
    assert operator.post("/instances", {"process": order}).status == 201
