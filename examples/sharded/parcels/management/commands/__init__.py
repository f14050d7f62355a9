"""Commands of the parcel service."""
