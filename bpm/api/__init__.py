"""The HTTP API under /api/: our own, and Camunda 7's for workers that exist already.

Handlers translate between HTTP and the engine's verbs and hold no rules. Errors are problem documents (RFC 9457).
"""
