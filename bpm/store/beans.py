"""The registry of beans: Python functions that expressions may call by name, only looked up, never imported.

    from bpm import bean

    @bean("mailer.address")
    def address(customer: str) -> str: ...

`${mailer.address(customer)}` calls it. A bean takes and gives JSON values, dates and times, is called inside the step's
transaction, and so must be quick and change nothing; its answer is written into the commit and never asked again. Work
is for external tasks.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from bpm.expressions import ExpressionError, to_json, typed
from bpm.store.values import normal

# What FEEL asks the host for, since the core has no chance of its own.
_BUILT_IN: Mapping[str, Callable[..., object]] = {
    "uuid": lambda: str(uuid.uuid4()),
    "random number": lambda: Decimal(random.random()).quantize(Decimal("1e-15")),  # noqa: S311
}
_REGISTERED: dict[str, Callable[..., object]] = dict(_BUILT_IN)


def bean[F: Callable[..., object]](name: str) -> Callable[[F], F]:
    """Register a function under `bean.method` or `function`. ValueError for what is no name, and for one that is taken
    by another function.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f'{name!r:.100} is no name of a bean: write @bean("NAME") before the function')

    def register(function: F) -> F:
        known = _REGISTERED.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"there is a bean {name} already: {known.__module__}.{known.__qualname__}")
        _REGISTERED[name] = function
        return function

    return register


def is_known(name: str) -> bool:
    """Whether a bean of that name is registered in this process."""
    return name in _REGISTERED


def call(name: str, arguments: str) -> dict[str, Any]:
    """What a bean gives for arguments (a JSON list as text): {"value": JSON}, or {"fault": text} for what it raises."""
    try:
        value = _REGISTERED[name](*typed.for_python(json.loads(arguments, parse_float=Decimal)))
        # As replay reads it from the log.
        return {"value": normal(to_json(value))}
    except ExpressionError as unfit:
        return {"fault": unfit.message}
    except Exception as fault:
        return {"fault": f"{type(fault).__name__}: {fault}"}
