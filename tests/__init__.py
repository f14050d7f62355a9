"""The tests: pure (no server), database (PostgreSQL), system (real processes and a browser), house (rules of the code).

A test asks for what it needs by fixture; a server starts when the first test needs it (tests.servers).
"""
