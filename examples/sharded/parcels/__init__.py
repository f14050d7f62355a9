"""Parcels: sent, paid, carried, handed over."""
