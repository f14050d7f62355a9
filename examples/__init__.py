"""Example processes with their handlers: Django apps as a user of the engine writes them."""
