"""Golden histories: recorded once by each released version, replayed for ever.

`elements` holds small models of every element of BPMN that the engine runs, `record` makes a history of each. Files of
a version are never written anew after it is released: where the format of events moves on, upcasters read the old ones.
"""
