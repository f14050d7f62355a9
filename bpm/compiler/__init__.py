"""BPMN XML to graph: safe reading, lowering, vendor extensions, rules, diagnostics.

Design. `xml.read` makes a tree of what a stranger sent, or refuses it quickly. `document` answers questions to that
tree. `lowering` holds one table, BPMN element -> function that makes its node; the functions live in a module a family
(`events`, `triggers`, `activities`, `loops`, `work`, `decision_tasks`, `beans`, `users`, `calls`, `gateways`,
`mappings`), and each is given a `Place`: the element and where it stands. `formulas` is the only door to
`bpm.expressions`. `vocabulary` holds the words of the vendors and what is done with each, `supported` what BPMN allows
and what of it the engine runs, the `rules` the standard's static rules. Nothing raises for what a model says: every
problem goes to `diagnostics`, all at once. DMN files are read by `dmn` in the same manner."""

from __future__ import annotations

from bpm.compiler.compiling import Compiled, check_together, compile_bpmn, compile_or_raise
from bpm.compiler.diagnostics import CompileError, Diagnostic

__all__ = ["CompileError", "Compiled", "Diagnostic", "check_together", "compile_bpmn", "compile_or_raise"]
