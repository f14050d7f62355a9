"""The tables, a module an aggregate: columns, CHECKs and pgtriggers, and no behaviour.

Runtime tables change and every change is guarded by its version; history tables only grow, which the database itself
enforces.
"""
