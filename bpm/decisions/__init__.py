"""DMN: decision tables and decision requirements graphs over expressions.

Design. `model` is what a DMN file says, as frozen data, and `canonical` its stored JSON; the file itself is
read by `bpm.compiler.dmn`. An `Evaluator` (`evaluate`) compiles that data to closures once: tables (`tables`,
hit policies are a table, plain cells an index of bits), boxed expressions (`boxed`), texts (`formulas`), item
definitions as FEEL types (`types`). Evaluation is a pure function of variables and host; it gives the value,
the rules that matched (`trace`) and why something is null. `results` has Camunda's result mappings, `tck` the
cases of the DMN compatibility kit.
"""

from __future__ import annotations

from bpm.decisions.canonical import decisions_hash, from_json, to_json
from bpm.decisions.evaluate import Evaluation, Evaluator
from bpm.decisions.model import Decisions
from bpm.decisions.results import mapped
from bpm.decisions.trace import RuleTrace, TableTrace

__all__ = [
    "Decisions",
    "Evaluation",
    "Evaluator",
    "RuleTrace",
    "TableTrace",
    "decisions_hash",
    "from_json",
    "mapped",
    "to_json",
]
