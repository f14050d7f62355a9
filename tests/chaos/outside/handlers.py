"""What workers do outside: they leave a line in a ledger, which no crash of the engine takes back."""

from __future__ import annotations
