"""The card of a table's health: how many figures there are to act on, each beside its limit, and what they are made of."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import log10

from lakelens.analysis.health.clustering import Clustering
from lakelens.analysis.health.health import Health, PartRows
from lakelens.model.measures.measure import Calls, DocumentParts, Measure, Measures, Needs
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Block, Body, Card, Cell, Column, Fold, Grid, Note
from lakelens.views.cards.finding import format_alert
from lakelens.views.describe import describe, one

_ABOUT = ("common.health",)
_VERDICTS = {"act": ("ACT", "warn"), "watch": ("watch", "warn"), "good": ("good", "mute")}
_LEGEND = (
    "The stroke beside a bar is the limit, at the same place in every row; bars are cut at twice it. ≥ wants the bar past "
    "the stroke, ≤ and < short of it. ACT: beyond the limit, and a call helps. watch: beyond it, and no call helps."
)
_DEPTH = (
    "Depth: how many files a look-up of one value must open, from bounds alone; logarithmic. Each stroke is what a "
    "twentieth of all bounds do not exceed, the long one the worst. Left is good."
)
_WIDTH = 200  # pixels of a strip
_LAST_MARK = 36
_MOST_STRIPS = 12
_MOST_PARTS = 8
_ENOUGH = 10  # files of which a tenth is one at least
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


@describe.register
def card_of_health(health: Health, detail: int = 1) -> Card:
    """Whether the table is well: every figure beside its limit, whose limit it is, and what would help."""
    body: list[Body] = [Note(_say_first(health))]
    if health.planning is not None:
        body.append(Note(wording.clean(f"{health.planning}: {health.planning.call.statement}", 400)))
    if health.gaps:
        said = "; ".join(wording.clean(gap, 300) for gap in health.gaps)
        body.append(Note(f"Left out: {said}.", "mute"))
    if len(health.measures):
        body += [_grid_measures(health.measures), Note(_LEGEND, "mute")]
    noun = health.format_verdicts()
    return Card(
        noun[:1].upper() + noun[1:],
        f"{wording.clean(health.name, 120)} against its own properties",
        alert=format_alert(health.findings),
        body=tuple(body),
        folds=tuple(_list_folds(health)),
        about=(*list_sections(health, "health"), *_ABOUT),
    )


def _say_first(health: Health) -> str:
    """Say the call that is worth the most, and of when the figures are."""
    words = "Nothing to act on."
    if len(health.calls):
        first, measure = health.calls[0], health.first
        beyond = "" if measure is None else f" ({measure.name}: {format_value(measure)})"
        words = f"First: {wording.clean(first.name, 80)}, {wording.clean(first.why, 200)}{beyond}."
    moments = [
        snapshot.committed_at for snapshot in health.table.snapshots[-1:] if snapshot.committed_at is not None
    ]
    if moments:
        words += f" Ages are measured from the newest commit, {wording.moment(moments[-1])} UTC."
    return words


def _grid_measures(measures: Sequence[Measure]) -> Grid:
    rows, groups = [], []
    for number, measure in enumerate(measures):
        if not number or measures[number - 1].group != measure.group:
            groups.append((number, measure.group.capitalize()))
        rows.append(_cells_of_measure(measure))
    names = ("measure", "value#", "", "limit!", "verdict!", "what would help; whose limit it is")
    return cells.grid(names, rows, how="health.measures", noun="measure", groups=groups, about=_ABOUT)


def _cells_of_measure(measure: Measure) -> tuple[Cell, ...]:
    word, role = _VERDICTS[measure.verdict]
    whose = measure.source if not measure.compared_with else f"{measure.compared_with}, {measure.source}"
    place = wording.clean(measure.place, 200)
    small = "; ".join(filter(None, (whose, place if len(place) <= 40 else f"{place[:16]}…{place[-20:]}")))
    file = measure.place if measure.group == "deletes" else ""
    worst = named.page("biography", path=file) if file else None
    return (
        cells.text(measure.name),
        Cell(format_value(measure), "" if measure.value else "mute"),
        cells.gauge(measure.value, measure.limit),
        Cell(f"{measure.sense} {format_amount(measure.limit, measure.unit)}"),
        Cell(word, role),  # type: ignore[arg-type]
        cells.explain(Cell(wording.clean(measure.advice, 400)), small, worst),
    )


def format_value(measure: Measure) -> str:
    """Format the value of a measure in its unit."""
    return format_amount(measure.value, measure.unit)


def format_amount(value: float, unit: str) -> str:
    """Format an amount in its unit.

    >>> format_amount(402653184, "bytes"), format_amount(0.213, "share"), format_amount(13_564_800, "seconds")
    ('384 MiB', '21 %', '157 days')
    >>> format_amount(4.6, "times"), format_amount(861, "files"), format_amount(0.0004, "share")
    ('4.60', '861', '< 0.1 %')
    """
    if unit == "bytes":
        return wording.size(round(value))
    if unit == "share":
        return _format_share(value)
    if unit == "seconds":
        for noun, seconds in _UNITS:
            if value >= 2 * seconds or value == seconds:
                return wording.plural(round(value / seconds), noun)
        return f"{value:.0f} s" if value >= 10 or value == int(value) else f"{value:.1f} s"
    if value == int(value) and unit != "times":
        return wording.count(int(value))
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _format_share(value: float) -> str:
    if 0 < value < 0.001:
        return "< 0.1 %"
    return f"{value:.1%}".replace("%", " %") if 0 < value < 0.1 else f"{value:.0%}".replace("%", " %")


def _list_folds(health: Health) -> Iterator[Fold]:
    """List what the figures are made of: open where a figure of the same group is beyond its limit, else closed."""
    beyond = {measure.group for measure in health.measures if measure.verdict != "good"}
    if len(health.calls):
        yield _fold_calls(health)
    if len(health.figures.data):
        partitions, buckets = health.figures.partitions, health.parts.buckets
        if len(partitions) == 1 and not str(partitions[0]):
            yield Fold("Partitions", "none: the files are not divided")
        else:
            yield _fold_parts("Partitions", health.parts.partitions, "partition", "health.parts.partitions")
        if buckets is not None:
            yield _fold_parts("Buckets", buckets, "bucket", "health.parts.buckets")
        if health.rules.has_records:
            yield replace(_fold_clustering(health.parts.columns), opened="columns" in beyond)
        yield from (replace(fold, opened="deletes" in beyond) for fold in _fold_deletes(health))
    if len(health.parts.documents):
        yield replace(_fold_metadata(health.parts.documents), opened="metadata" in beyond)
    if len(needs := health.who_can_read):
        features = ", ".join(wording.clean(need.feature, 60) for need in needs)
        yield Fold("Readers", f"need {features}", lambda: one(_grid_needs(needs)))
    else:
        yield Fold("Readers", "nothing beyond the format itself is needed")


def _fold_calls(health: Health) -> Fold:
    answer = f"{wording.count(len(health.calls))}, the most worth first"
    tried = next((call.procedure for call in health.calls if call.procedure), "")
    if tried and hasattr(health.table, "dry_run"):
        answer += f'; what they would do: table.dry_run("{tried}")'
    return Fold("Calls", answer, lambda: [_block_of_calls(health.calls)], opened=True)


def _block_of_calls(calls: Calls) -> Block:
    return Block("\n".join(f"{wording.clean(call.statement, 1_000)};" for call in calls))


def _fold_parts(label: str, rows: PartRows, noun: str, how: str) -> Fold:
    """Fold the largest parts, and the sums of all."""
    largest = rows.list_largest("size_bytes", 1)
    median = round(statistics.median(rows.to_arrow()["size_bytes"].to_pylist()))
    name = wording.clean(largest[0][noun] or "no partition", 80)
    worst = wording.size(int(str(largest[0]["size_bytes"])))
    answer = (
        f"{wording.plural(len(rows), noun)}; {wording.size(median)} in the median, {worst} at most: {name}"
    )
    return Fold(label, answer, lambda: one(_grid_parts(rows, noun, "size_bytes", how)))


def _grid_parts(rows: PartRows, noun: str, by: str, how: str) -> Grid:
    """The largest parts by a column, what the others have together, and the sums of all."""
    known = rows.to_arrow().column_names
    counts = [
        name
        for name in ("files", "record_count", "small_files", "delete_files", "deleted_rows")
        if name in known
    ]
    if by != "delete_files":
        counts = [name for name in counts if name != "deleted_rows"]
    shown = rows.list_largest(by, _MOST_PARTS)
    largest = max((int(str(row[by])) for row in shown), default=0)
    bars = cells.shares([int(str(row[by])) for row in shown], [largest] * len(shown))
    listed = [
        (
            cells.code(row[noun] or "no partition"),
            *(cells.number(int(str(row[name]))) for name in counts),
            cells.size(int(str(row["size_bytes"]))),
            bar,
        )
        for row, bar in zip(shown, bars, strict=True)
    ]
    every = {name: rows.sum(name) for name in (*counts, "size_bytes")}
    left = {name: total - sum(int(str(row[name])) for row in shown) for name, total in every.items()}
    totals = []
    if len(rows) > len(shown):
        totals.append((f"{wording.count(len(rows) - len(shown))} more", left))
    totals.append((f"all {wording.count(len(rows))}", every))
    sums = [
        (Cell(name), *(cells.number(found[key]) for key in counts), cells.size(found["size_bytes"]), Cell(""))
        for name, found in totals
    ]
    names = [name.replace("record_count", "rows").replace("_", " ") for name in counts]
    columns = (noun, *(f"{name}#" for name in names), "bytes#", "")
    return cells.grid(columns, listed, how=f"{how}.to_pandas()", noun=noun, about=_ABOUT, totals=sums)


def _fold_clustering(columns: Clustering) -> Fold:
    if not len(columns):
        return Fold("Clustering", "nothing is recorded of the values in files")
    ordered = sum(column.mean <= max(column.files / 10, 1) for column in columns)
    files = max(column.files for column in columns)
    if files < _ENOUGH:
        answer = f"{wording.plural(files, 'file')} with bounds, too few to be in an order"
    elif ordered:
        some = f"{wording.count(ordered)} of {wording.plural(len(columns), 'column')} with bounds"
        answer = f"a look-up by {some} opens a tenth of the files or less"
    else:
        every = wording.plural(len(columns), "column")
        answer = f"a look-up by any of {every} with bounds opens more than a tenth of the files"
    return Fold("Clustering", answer, lambda: [_grid_columns(columns), Note(_DEPTH, "mute")])


def _grid_columns(columns: Clustering) -> Grid:
    shown = list(islice(columns, min(_MOST_STRIPS, display.max_rows)))
    deepest = max(column.worst for column in columns)
    decades = max(log10(max(deepest, 1)), 1)
    decade = int(_WIDTH / decades)
    marks = [f"{10**power:,}" if power else "1 file" for power in range(int(decades) + 1)]
    names: list[str | Column] = [
        "column",
        Column("depth", axis=tuple((mark, decade if mark != marks[-1] else _LAST_MARK) for mark in marks)),
    ]
    names += ["mean#", "worst#", "why"]
    rows = []
    for column in shown:
        inside = ""
        if column.inside_mean != column.mean:  # the files of one partition are another depth deep
            inside = f"inside of a partition {format_amount(column.inside_mean, 'files')} in the mean"
        rows.append(
            (
                cells.code(column.name),
                cells.strip([*sorted({*column.quantiles[:-1]} - {column.worst}), column.worst], decade),
                Cell(format_amount(column.mean, "files")),
                cells.number(column.worst),
                cells.text("; ".join(filter(None, (column.why, inside))), "mute"),
            )
        )
    how = "health.parts.columns.to_pandas()"
    return cells.grid(names, rows, how=how, noun="column", total=len(columns), about=_ABOUT)


def _fold_deletes(health: Health) -> Iterator[Fold]:
    reach = health.reach
    if reach is None:
        return
    if not reach.files:
        yield Fold("Deletes", "none: no delete file and no vector")
        return
    rows = health.parts.partitions
    total = rows.sum("record_count")
    touched = sum(count > 0 for count in rows.to_arrow()["delete_files"].to_pylist())
    share = f" ({_format_share(reach.rows / total)})" if total else ""
    words = [
        wording.plural(reach.files, "delete file or vector", "delete files and vectors"),
        f"{wording.plural(reach.rows, 'row')}{share} by position",
    ]
    if reach.equality_files:
        words.append(
            f"{wording.plural(reach.equality_rows, 'row')} of equality deletes, which delete nobody knows how many"
        )
    if len(rows) > 1:
        words.append(f"in {wording.count(touched)} of {wording.plural(len(rows), 'partition')}")
    how = "health.parts.partitions"
    yield Fold(
        "Deletes",
        ", ".join(words),
        lambda: one(_grid_parts(rows, "partition", "delete_files", how)),
    )


def _fold_metadata(documents: DocumentParts) -> Fold:
    named = list(dict.fromkeys(part.document for part in documents))
    first = [part for part in documents if part.document == named[0]]
    size = sum(part.size_bytes for part in first)
    largest = max(first, key=lambda part: part.size_bytes)
    share = _format_share(largest.size_bytes / size) if size else "0 %"
    answer = f"{wording.clean(named[0], 80)}: {wording.size(size)}, {share} of it {wording.clean(largest.name, 60)}"
    return Fold("Metadata", answer, lambda: [_grid_document(documents, name) for name in named])


def _grid_document(documents: DocumentParts, document: str) -> Grid:
    parts = sorted(
        (part for part in documents if part.document == document), key=lambda part: -part.size_bytes
    )
    shown, rest = parts[:_MOST_PARTS], parts[_MOST_PARTS:]
    largest = max((part.size_bytes for part in parts), default=0)
    bars = cells.shares([part.size_bytes for part in shown], [largest] * len(shown))
    rows = [
        (
            cells.text(part.name),
            cells.number(part.entries) if part.entries is not None else Cell(""),
            cells.size(part.size_bytes),
            bar,
        )
        for part, bar in zip(shown, bars, strict=True)
    ]
    blank = Cell("")
    totals = []
    if rest:
        left = sum(part.size_bytes for part in rest)
        totals.append((Cell(f"{wording.count(len(rest))} more"), blank, cells.size(left), blank))
    whole = sum(part.size_bytes for part in parts)
    totals.append((Cell("all"), blank, cells.size(whole), blank))
    how = "health.parts.documents.to_pandas()"
    names = ("part", "entries#", "bytes#", "")
    heading = ((0, wording.clean(document, 80)),)
    return cells.grid(names, rows, how=how, noun="part", about=_ABOUT, totals=totals, groups=heading)


def _grid_needs(needs: Needs) -> Grid:
    rows = [
        (cells.text(need.feature), cells.text(need.where), cells.text(need.since, "mute")) for need in needs
    ]
    names = ("what a reader must know", "where", "since")
    return cells.prune(cells.grid(names, rows, how="health.who_can_read", noun="feature", about=_ABOUT))


@describe.register
def card_of_measures(measures: Measures, detail: int = 1) -> Card:
    """The figures alone."""
    return Card(
        "Measures", wording.plural(len(measures), "measure"), body=(_grid_measures(measures),), about=_ABOUT
    )


@describe.register
def card_of_measure(measure: Measure, detail: int = 1) -> Card:
    """One figure beside its limit."""
    return Card("Measure", wording.clean(measure.name), body=(_grid_measures((measure,)),), about=_ABOUT)


@describe.register
def card_of_calls(calls: Calls, detail: int = 1) -> Card:
    """The statements, to copy."""
    body = (_block_of_calls(calls),) if len(calls) else ()
    return Card("Calls", f"{wording.count(len(calls))}, the most worth first", body=body)


@describe.register
def card_of_clustering(columns: Clustering, detail: int = 1) -> Card:
    """How well files separate the values of each column."""
    body = (_grid_columns(columns), Note(_DEPTH, "mute")) if len(columns) else ()
    return Card("Clustering", wording.plural(len(columns), "column"), body=body, about=_ABOUT)


@describe.register
def card_of_parts(rows: PartRows, detail: int = 1) -> Card:
    """The largest parts, and the sums of all."""
    grid = _grid_parts(rows, rows.noun, "size_bytes", "") if len(rows) else None
    title = f"{rows.noun.capitalize()}s"
    return Card(title, wording.count(len(rows)), body=(grid,) if grid else (), about=_ABOUT)


@describe.register
def card_of_documents(documents: DocumentParts, detail: int = 1) -> Card:
    """What makes the metadata large."""
    named = dict.fromkeys(part.document for part in documents)
    grids = tuple(_grid_document(documents, name) for name in named)
    return Card("Metadata", wording.plural(len(documents), "part"), body=grids, about=_ABOUT)


@describe.register
def card_of_needs(needs: Needs, detail: int = 1) -> Card:
    """What a reader of the table must know."""
    return Card("Readers", wording.plural(len(needs), "feature"), body=(_grid_needs(needs),), about=_ABOUT)
