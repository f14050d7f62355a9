"""Migrations of the parcels."""
