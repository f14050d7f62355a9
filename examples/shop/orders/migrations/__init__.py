"""The tables of the shop, and what it sells to begin with."""
