"""The card of rows of statistics, as Paimon keeps them: smallest and largest values and null counts of some columns."""

from __future__ import annotations

from typing import Any

from lakelens.model.stats import RowStats
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell
from lakelens.views.describe import describe


def word_stats(stats: RowStats, *, columns_elsewhere: bool = False) -> Cell:
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


def _walk(stats: RowStats) -> list[tuple[str, Any, Any, int | None]]:
    return list(zip(stats.names, stats.min_values, stats.max_values, stats.null_counts, strict=True))


@describe.register
def describe_stats(stats: RowStats, detail: int = 1) -> Card:
    """The statistics, one column a row."""
    rows = [
        (cells.code(name), cells.value(low), cells.value(high), cells.optional_number(nulls))
        for name, low, high, nulls in _walk(stats)
    ]
    grid = cells.grid(("column", "min", "max", "nulls#"), rows, how=".names", noun="column")
    sentence = f"of {wording.plural(len(rows), 'column')}" if rows else "none kept"
    return Card("Statistics", sentence, body=(grid,) if rows else (), about=("common.bounds",))
