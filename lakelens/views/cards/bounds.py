"""Cards of statistics: bounds and counts, column by column."""

from __future__ import annotations

from itertools import islice
from typing import Any

from lakelens.model.stats import Bounds, ColumnBounds, ColumnCounts, KeyRow, Partition, RowStats
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fact, Fold, Grid
from lakelens.views.describe import describe, one


def format_bounds(bounds: Bounds) -> str:
    """How many columns have statistics, and which of them have nulls."""
    if not bounds:
        return "no column has statistics"
    nulls = [column.name for column in bounds.values() if column.nulls]
    holed = f"; nulls in {', '.join(wording.clean(name, 40) for name in nulls[:4])}" if nulls else ""
    more = f" and {len(nulls) - 4} more" if len(nulls) > 4 else ""
    return f"{wording.plural(len(bounds), 'column')}{holed}{more}"


def grid_bounds(bounds: Bounds, how: str = "") -> Grid:
    """Bounds and counts, one column a row; bars for the share of nulls, and for bytes beside the largest column's."""
    shown = list(islice(bounds.values(), display.max_rows))
    largest = max((column.size or 0 for column in shown), default=0)
    nulls = cells.shares([c.nulls for c in shown], [c.values for c in shown])
    sizes = cells.shares([c.size for c in shown], [largest] * len(shown))
    rows = [
        (
            cells.optional(c.field_id),
            cells.code(c.name),
            cells.code(c.type),
            cells.value(c.lower),
            cells.value(c.upper),
            cells.optional_number(c.values),
            cells.optional_number(c.nulls),
            null,
            cells.optional_number(c.nans),
            cells.size(c.size) if c.size is not None else cells.ABSENT,
            size,
        )
        for c, null, size in zip(shown, nulls, sizes, strict=True)
    ]
    names = ("id#", "column", "type", "lower", "upper", "values#", "nulls#", "", "NaNs#", "bytes#", "")
    about = ("common.bounds",)
    return cells.prune(cells.grid(names, rows, how=how, noun="column", total=len(bounds), about=about))


@describe.register
def card_of_bounds(bounds: Bounds, detail: int = 1) -> Card:
    """The statistics of one file, column by column."""
    body = (grid_bounds(bounds, how=".to_pandas()"),) if bounds else ()
    return Card("Bounds", format_bounds(bounds), body=body, about=list_sections(bounds, "bounds"))


@describe.register
def card_of_column(column: ColumnBounds, detail: int = 1) -> Card:
    """The statistics of one column of one file, with the stored bytes."""
    facts = [Fact("lower", cells.value(column.lower)), Fact("upper", cells.value(column.upper))]
    for label in ("nulls", "values", "nans"):
        if getattr(column, label) is not None:
            facts.append(Fact(label, cells.number(getattr(column, label))))
    if column.size is not None:
        facts.append(Fact("bytes", cells.size(column.size)))
    stored = [
        (label, held)
        for label, held in (("lower", column.lower_raw), ("upper", column.upper_raw))
        if held is not None
    ]
    folds = []
    if stored:
        answer = ", ".join(f"{label} {wording.octets(held, 12)}" for label, held in stored)
        items = [(label, cells.value(held)) for label, held in stored]
        folds.append(Fold("Stored", answer, lambda: one(cells.pairs(items))))
    return Card(
        wording.clean(column.name),
        f"{wording.clean(column.type)} column{'; bounds may be cut short' if column.truncated else ''}",
        facts=tuple(facts),
        folds=tuple(folds),
        about=list_sections(column, "bounds"),
    )


def format_stats(stats: RowStats, *, columns_elsewhere: bool = False) -> Cell:
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
def card_of_stats(stats: RowStats, detail: int = 1) -> Card:
    """The statistics, one column a row."""
    rows = [
        (cells.code(name), cells.value(low), cells.value(high), cells.optional_number(nulls))
        for name, low, high, nulls in _walk(stats)
    ]
    grid = cells.grid(
        ("column", "min", "max", "nulls#"), rows, how=".names, .min_values, .max_values", noun="column"
    )
    sentence = f"of {wording.plural(len(rows), 'column')}" if rows else "none kept"
    return Card("Statistics", sentence, body=(grid,) if rows else (), about=("common.bounds",))


@describe.register
def card_of_partition(partition: Partition, detail: int = 1) -> Card:
    """The partition of a file: each value, and how a path spells it."""
    texts = partition.texts
    rows = [
        (cells.code(name), cells.value(held), cells.code(texts.get(name))) for name, held in partition.items()
    ]
    grid = cells.grid(
        ("field", "value", "in a path"), rows, how=".texts", noun="field", about=("common.partition",)
    )
    sentence = wording.clean(partition, 300) or "the table is not partitioned"
    return Card("Partition", sentence, body=(grid,) if rows else (), about=("common.partition",))


@describe.register
def card_of_row(row: KeyRow, detail: int = 1) -> Card:
    """A row that metadata keeps: its fields and their values."""
    rows = [
        (
            cells.code(name),
            cells.code(kind),
            cells.NULL if held is None else cells.value(held),
            cells.value(slot),
        )
        for name, kind, held, slot in row.list_rows()
    ]
    names = ("field", "type", "value", "slot")
    about = ("common.partition",)
    grid = cells.prune(cells.grid(names, rows, how=".to_dict()", noun="field", about=about))
    sentence = (
        f"{wording.plural(len(rows), 'field')}, {wording.plural(len(row.data), 'byte')}, kind {row.kind}"
    )
    body: tuple[Body, ...] = (grid, cells.hint("each byte with its name", ".bytes_view()"))
    return Card("Row", sentence, body=body if rows else (), about=about)


@describe.register
def card_of_counts(counts: ColumnCounts, detail: int = 1) -> Card:
    """One count of each column of a file; a bar beside the largest."""
    title = wording.clean(counts.noun, 80).replace("_", " ").capitalize().replace("Nan ", "NaN ")
    if not counts:
        return Card(title, "none recorded", about=("common.bounds",))
    shown = list(islice(counts.list_rows(), display.max_rows))
    amounts = [held for *_, held in shown]
    is_size = counts.noun == "column_sizes"
    count = cells.size if is_size else cells.number
    rows = [
        (cells.optional(key), cells.code(name), cells.code(kind), count(held), share)
        for (key, name, kind, held), share in zip(
            shown, cells.shares(amounts, [max(amounts)] * len(amounts)), strict=True
        )
    ]
    names = ("id#", "column", "type", f"{_COUNTED.get(counts.noun, 'count')}#", "")
    about = ("common.bounds",)
    grid = cells.grid(names, rows, how=".to_pandas()", noun="column", total=len(counts), about=about)
    total = sum(counts.values())
    whole = wording.size(total) if is_size else wording.count(total)
    return Card(
        title,
        f"{wording.plural(len(counts), 'column')}, {whole} together",
        body=(cells.prune(grid),),
        about=about,
    )


# what is counted, as the card of bounds calls it
_COUNTED = {
    "column_sizes": "bytes",
    "value_counts": "values",
    "null_value_counts": "nulls",
    "nan_value_counts": "NaNs",
    "distinct_counts": "distinct values",
}
