"""DMN: decision tables and decision requirements graphs over expressions.

A decision is compiled once, from DMN XML to a frozen table whose cells are expression trees, and evaluated as a pure
function of its inputs. Hit policies are a table, not a chain of branches.
"""
