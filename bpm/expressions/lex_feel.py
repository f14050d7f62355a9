"""Tokens of FEEL (DMN 1.5, 10.3.1.2).

FEEL cannot be cut into tokens before it is parsed: a name may hold spaces and signs, and where it ends depends on the
names in scope. `Names` knows the names that need such knowledge and answers the longest one that begins at a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from bpm.expressions.cursor import Token, number
from bpm.expressions.errors import SyntaxFault
from bpm.expressions.vocabulary import FEEL_NAMES_WITH_WORDS, FEEL_WORDS

SPACE = "[\\s\u180e\u200b\ufeff]"
_START = (
    "?A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_PART = _START + "0-9\u00b7\u0300-\u036f\u203f-\u2040"

_TOKEN = re.compile(
    rf"""
      (?P<blank> {SPACE}+ | //[^\n]* | /\*.*?\*/ )
    | (?P<number> (?: [0-9]+ (?: \.(?!\.)[0-9]+ )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<text> "(?: \\. | [^"\\] )*" )
    | (?P<quoted> `[^`\S\n]*[^`\s][^`\n]*` )
    | (?P<name> [{_START}][{_PART}]* )
    | (?P<sign> \*\* | \.\. | <= | >= | != | -> | /(?!\*) | [-+*()\[\]{{}}<>=,:.@] )
    """,
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(rf"[{_PART}]+|[^{_PART}\s]")
_PLAIN = re.compile(rf"[{_START}][{_PART}]*")
_WORDS_THEN_COLON = re.compile(rf"(?:{SPACE}+[{_PART}]+)*{SPACE}*:")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{6}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_LAST_CHARACTER = 0x10FFFF


class Names:
    """The names in scope that hold spaces or signs. Never changed: `with_names` gives another."""

    __slots__ = ("_by_first",)

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_first: dict[str, tuple[tuple[str, re.Pattern[str]], ...]] = {}
        self._add({*names, *FEEL_NAMES_WITH_WORDS})

    def with_names(self, names: Iterable[str]) -> Names:
        """These names and more; itself when none of them needs knowledge."""
        special = {name for name in names if not _PLAIN.fullmatch(name)}
        if not special:
            return self
        grown = Names.__new__(Names)
        grown._by_first = dict(self._by_first)
        grown._add(special)
        return grown

    def longest(self, first: str, text: str, position: int) -> tuple[str, int] | None:
        """The longest known name at this position, whose first piece is `first`, and where it ends."""
        for name, pattern in self._by_first.get(first, ()):
            found = pattern.match(text, position)
            if found:
                return name, found.end()
        return None

    def _add(self, names: Iterable[str]) -> None:
        for name in names:
            pieces = _PIECE.findall(name)
            if len(pieces) > 1:
                known = {*self._by_first.get(pieces[0], ()), (joined(name), _pattern(tuple(pieces)))}
                self._by_first[pieces[0]] = tuple(sorted(known, key=lambda entry: (-len(entry[0]), entry[0])))


@lru_cache(maxsize=1)
def builtin_names() -> Names:
    """The names that are known everywhere."""
    return Names()


def joined(name: str) -> str:
    """A name with its words one space apart."""
    return " ".join(name.split())


def names_an_argument(text: str, token: Token) -> bool:
    """Whether the token begins a name that ends in a colon, as in `f(start position: 1)`."""
    return token.kind in ("name", "word") and _WORDS_THEN_COLON.match(text, token.end) is not None


def is_plain(name: str) -> bool:
    """Whether a name stands for itself in a text: words without signs, none of them a word of the language."""
    if name in FEEL_NAMES_WITH_WORDS:
        return True
    words = name.split(" ")
    plain = all(
        _PLAIN.fullmatch(word) or (place and word.isascii() and word.isdigit()) for place, word in enumerate(words)
    )
    return plain and not FEEL_WORDS.intersection(words)


def read_feel(text: str, position: int, names: Names) -> Token:
    """The FEEL token at or after position; SyntaxFault when there is none."""
    while True:
        if position >= len(text):
            return Token("end", "", len(text), len(text))
        found = _TOKEN.match(text, position)
        if found is None:
            raise _no_token(text, position)
        if found.lastgroup != "blank":
            break
        position = found.end()
    spelling, end = found[0], found.end()
    match found.lastgroup:
        case "number":
            return Token("number", spelling, position, end, number(spelling, text, position))
        case "text":
            return Token("text", spelling, position, end, _unescape(spelling[1:-1]))
        case "quoted":
            return Token("name", joined(spelling[1:-1]), position, end)
        case "name":
            known = names.longest(spelling, text, position)
            if known is not None:
                return Token("name", known[0], position, known[1])
            return Token("word" if spelling in FEEL_WORDS else "name", spelling, position, end)
        case _:
            return Token("sign", spelling, position, end)


@lru_cache(maxsize=4096)
def _pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    ends_open = f"(?![{_PART}])" if _PLAIN.fullmatch(pieces[-1]) or pieces[-1][-1].isdigit() else ""
    return re.compile(f"{SPACE}*".join(re.escape(piece) for piece in pieces) + ends_open)


def _no_token(text: str, position: int) -> SyntaxFault:
    if text[position] == '"':
        return SyntaxFault("the text is not closed", text, position, "a closing '\"'")
    if text[position] == "'":
        return SyntaxFault('unexpected "\'"', text, position, "texts in double quotes")
    if text.startswith("/*", position):
        return SyntaxFault("the comment is not closed", text, position, "'*/'")
    return SyntaxFault(f"unexpected {text[position]!r}", text, position, "an expression")


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_unescaped, text)
    # Two \u escapes may be the halves of one character; a half alone is no character and becomes U+FFFD.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    if escape[0] in "uU" and len(escape) > 1:
        code = int(escape[1:], 16)
        return chr(code) if code <= _LAST_CHARACTER else "\ufffd"
    return _ESCAPED.get(escape, found[0])
