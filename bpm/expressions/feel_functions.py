"""All built-in functions of FEEL by name.

Each family is a table in its own module; `feel_signatures` says how they are declared.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpm.expressions import (
    feel_functions_contexts,
    feel_functions_lists,
    feel_functions_numbers,
    feel_functions_ranges,
    feel_functions_strings,
    feel_functions_temporal,
)
from bpm.expressions.feel_signatures import BuiltIn, declare

BUILT_IN: Mapping[str, BuiltIn] = declare(
    [
        *feel_functions_numbers.DECLARATIONS,
        *feel_functions_strings.DECLARATIONS,
        *feel_functions_lists.DECLARATIONS,
        *feel_functions_contexts.DECLARATIONS,
        *feel_functions_temporal.DECLARATIONS,
        *feel_functions_ranges.DECLARATIONS,
    ]
)
