"""What is said of a figure, and the arithmetic of it."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One measured value. Ratios are to the limit and to our bare calls, of the same run; `n`: how many operations a
    repetition did; `spread`: largest minus smallest repetition, by the median; `more`: what else was counted.
    """

    name: str
    value: float
    unit: str
    n: int
    connections: int = 1
    ratio_to_limit: float | None = None
    ratio_to_bare: float | None = None
    repetitions: int = 1
    spread: float | None = None
    more: dict[str, float | int | str] = field(default_factory=dict)

    def as_json(self) -> str:
        """The line for stdout: the same nine names always, then what there is more."""
        row = asdict(self)
        more = row.pop("more")
        order = (
            "name",
            "connections",
            "value",
            "unit",
            "ratio_to_limit",
            "ratio_to_bare",
            "n",
            "repetitions",
            "spread",
        )
        return json.dumps({key: rounded(row[key]) for key in order} | {key: rounded(more[key]) for key in more})

    def as_cells(self) -> list[str]:
        """The line for a reader."""
        more = ", ".join(f"{key} {_shown(value)}" for key, value in self.more.items())
        return [
            self.name,
            str(self.connections),
            f"{_shown(self.value)} {self.unit}",
            _shown(self.ratio_to_limit),
            _shown(self.ratio_to_bare),
            f"{self.n:,} × {self.repetitions}",
            "" if self.spread is None else f"{self.spread:.0%}",
            more,
        ]


HEAD = ["figure", "connections", "value", "of the limit", "of bare", "n × repetitions", "spread", "more"]


def measured(name: str, values: Sequence[float], unit: str, n: int, **about: object) -> Line:
    """A line of one figure's repetitions: their median and spread."""
    return Line(
        name=name,
        value=statistics.median(values),
        unit=unit,
        n=n,
        repetitions=len(values),
        spread=spread(values),
        **about,
    )


def spread(values: Sequence[float]) -> float | None:
    """How far the repetitions lie apart, by their median; None for fewer than two."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if len(values) > 1 and middle else None


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of repetitions that were made one after the other."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def percentiles(seconds: Sequence[float]) -> dict[str, float | int | str]:
    """p50, p95 and p99 in milliseconds."""
    ordered = sorted(seconds)
    return {f"p{part}_ms": 1000 * ordered[min(len(ordered) - 1, len(ordered) * part // 100)] for part in (50, 95, 99)}


def chosen[T](scale: str, short: T, usual: T, full: T) -> T:
    """The number for this scale."""
    return {"short": short, "usual": usual, "full": full}[scale]


def rounded(value: object) -> object:
    """A number with as many digits as it deserves."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def say(text: str) -> None:
    """For whoever watches."""
    print(text, file=sys.stderr, flush=True)


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
