"""The step that everything goes through, and the verbs built on it.

A verb locks the instance's version row, loads what its command needs, lets semantics.decide decide, and flushes the
events with the rows they explain in one transaction. What announces ready work is passed in from above, never
imported.
"""
