"""What commands print for people: on a terminal what a value holds must not be taken for an order to the terminal."""

from __future__ import annotations

import re

# Control characters but the line feed and the tab; the marks that turn the direction of text around.
_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """The text with what a terminal would obey written as Python writes it (\\x1b)."""
    return _ORDERS.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
