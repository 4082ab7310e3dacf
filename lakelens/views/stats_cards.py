"""The card of rows of statistics, as Paimon keeps them: smallest and largest values and null counts of some columns."""

from __future__ import annotations

from typing import Any

from lakelens.views import cells, wording
from lakelens.views.card import Card, Cell


def is_stats(thing: object) -> bool:
    """Whether a thing is rows of statistics: smallest, largest and null counts in the order of some names."""
    return all(hasattr(thing, name) for name in ("names", "min_values", "max_values", "null_counts"))


def word_stats(stats: Any, *, columns_elsewhere: bool = False) -> Cell:
    """The statistics in a line: the range of each column; only their number where they are shown elsewhere."""
    if not stats.names:
        return Cell("none kept", "mute")
    if columns_elsewhere:
        return Cell(f"{wording.plural(len(stats.names), 'column')}: see Bounds", "mute")
    words = []
    for name, low, high, nulls in _walk(stats):
        span = wording.value(low) if low == high else f"{wording.value(low)} to {wording.value(high)}"
        words.append(f"{wording.clean(name, 40)} {span}{f', {nulls} nulls' if nulls else ''}")
    more = f"; {len(words) - 4} more" if len(words) > 4 else ""
    return Cell("; ".join(words[:4]) + more, "code")


def _walk(stats: Any) -> list[tuple[str, Any, Any, int | None]]:
    return list(zip(stats.names, stats.min_values, stats.max_values, stats.null_counts, strict=True))


def describe_stats(stats: Any) -> Card:
    """The statistics, one column a row."""
    rows = [
        (cells.code(name), cells.value(low), cells.value(high), cells.optional_number(nulls))
        for name, low, high, nulls in _walk(stats)
    ]
    grid = cells.grid(("column", "min", "max", "nulls#"), rows, how=".names", noun="column")
    sentence = f"of {wording.plural(len(rows), 'column')}" if rows else "none kept"
    return Card("Statistics", sentence, body=(grid,) if rows else (), about=("common.bounds",))
