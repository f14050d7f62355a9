"""A report as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from bpm.checker.checking import Finding, Report

# Of a longer way the first and the last steps are shown.
SHOWN_STEPS = 24


def as_text(report: Report, *, verbose: bool = False) -> str:
    """What was found, each with its way; then a line of what was looked at. `verbose`: notes, and what was assumed."""
    lines: list[str] = []
    for finding in report.findings:
        if verbose or finding.severity != "note":
            lines += [str(finding), *_way(finding)]
    lines.append(summary(report))
    if not report.complete:
        lines += [f"  not complete: {limit}" for limit in report.limits]
    if verbose:
        lines += [f"  assumed: {one}" for one in report.assumed]
    return "\n".join(lines)


def summary(report: Report) -> str:
    """One line: what was looked at, and what came of it."""
    counts = dict.fromkeys(("error", "warning", "note"), 0)
    for finding in report.findings:
        counts[finding.severity] += 1
    found = ", ".join(_number(count, severity) for severity, count in counts.items() if count) or "nothing found"
    extent = "all" if report.complete else "the first"
    return f"{report.process}: {extent} {_number(report.states, 'situation')}, {found}"


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _way(finding: Finding) -> Iterator[str]:
    steps = list(finding.steps)
    if len(steps) > SHOWN_STEPS:
        half = SHOWN_STEPS // 2
        steps = [*steps[:half], f"({len(steps) - SHOWN_STEPS} steps)", *steps[-half:]]
    yield from (f"    {number}. {step}" for number, step in enumerate(steps, 1))
    if finding.shown:
        yield f"    A run{' with such data' if finding.data else ''} shows it."
    elif finding.data:
        yield "    Data decides on the way, and no run has shown it: the process may exclude it."
