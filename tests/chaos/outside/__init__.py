"""The world outside the engine, as an app: handlers that do something to it."""
