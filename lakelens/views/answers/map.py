"""The cards of a map and of that of a row: the drawing, and every box of it as a line, whole names included."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.analysis.map import Map
from lakelens.model.charts import MOST_BYTES, WORDS, Box, Bucket, RowMap, RowPart, State, Tier
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Column, Fold, Grid, Note, Picture, Role
from lakelens.views.describe import describe, one
from lakelens.views.map.drawing import LEAST, describe_map, render_map
from lakelens.views.map.row import describe_part, describe_row, render_row

_ROLES: dict[State, Role] = {"new": "add", "changed": "add", "gone": "del", "unread": "warn"}


@describe.register
def card_of_map(drawn: Map, detail: int = 1) -> Card:
    """How the files of a table hang together."""
    chart = drawn.chart
    picture = Picture(render_map(drawn), describe_map(drawn), LEAST)
    folds = [_fold_tier(tier) for tier in chart.tiers]
    if chart.bucket is not None:
        folds.append(_fold_bucket(chart.bucket))
    if chart.tree:
        folds.append(_fold_tree(drawn))
    if chart.beside is not None:
        lines = [(head, cells.text("; ".join(lines))) for head, lines in chart.beside.parts]
        folds.append(
            Fold(chart.beside.noun, chart.beside.note, lambda: one(cells.pairs(lines, is_open=True)))
        )
    folds.append(Fold("live rows", wording.clean(drawn.total, 400)))
    folds.append(Fold("new files", drawn.news.removeprefix("new: ")))
    folds += [Fold("to read", " ".join(chart.advice))] if chart.advice else []
    return Card("Map", describe_subject(drawn), body=(picture,), folds=tuple(folds))


def describe_subject(drawn: Map) -> str:
    """Of which table in which state, after what."""
    table, snapshot = drawn.table, drawn.snapshot
    version = table.traits.variant
    words = f"of {wording.clean(table.name, 80)}, {table.traits.title}{f' {version}' if version else ''}"
    if snapshot is None or snapshot.id is None:
        what = wording.clean(" ".join((drawn.statement or "").split()) or drawn.chart.subject, 80)
        return f"{words}, after {what}" if what else words
    statement = " ".join((drawn.statement or "").split())  # in one line, as it is said
    what = wording.clean(statement, 80) if statement else f"snapshot {snapshot.id}"
    beside = [wording.clean(snapshot.operation, 20)] if snapshot.operation else []
    beside += [f"snapshot {snapshot.id}"] if drawn.statement else []
    before = drawn.since.before
    since = ""
    if before is not None and before.id != snapshot.parent_id and not before.is_same(snapshot):
        since = f", compared with snapshot {before.id}"
    inside = f" ({', '.join(beside)})" if beside else ""
    return f"{words}, after {what}{inside}{since}"


def _fold_tier(tier: Tier) -> Fold:
    """Show a tier: each box with its state, and every whole name in a table."""
    answer = "; ".join(_say_box(box) for box in tier.boxes)
    words = " ".join(tier.remark)
    remark = [Note(f"{words[:1].upper()}{words[1:]}.", "mute")] if words else []
    return Fold(tier.noun, answer, lambda: [_grid(tier.boxes), *remark])


def _say_box(box: Box) -> str:
    said = ", ".join((box.word, *(wording.clean(line, 120) for line in box.lines)))
    return f"{wording.clean(box.name, 160)}: {said}"


def _grid(boxes: Sequence[Box]) -> Grid:
    rows = [
        (
            cells.code(wording.clean(box.name)) if box.names_files else cells.text(wording.clean(box.name)),
            Cell(box.word, _ROLES.get(box.state, "mute")),
            cells.number(box.count),
            cells.code(box.field) if box.field else cells.text(""),
            cells.text("; ".join(wording.clean(line) for line in box.lines)),
        )
        for box in boxes
    ]
    columns = (
        Column("what", title="the file, or the files of one kind"),
        Column("state", is_short=True, title="what the change did to it"),
        Column("files", is_number=True, title="how many files it stands for"),
        Column("named by", is_short=True, title="the field of the file above that names it"),
        Column("holds", title="what is in it"),
    )
    return cells.grid(columns, rows, how="table.map().boxes", noun="box")


def _fold_bucket(bucket: Bucket) -> Fold:
    """Fold the levels of a bucket with their runs."""
    levels = [
        f"level {level.name}: {wording.plural(level.rows or 0, 'row')}, "
        + ", ".join(f"{wording.clean(run.name, 160)} {WORDS[run.state]}" for run in level.runs)
        for level in bucket.levels
        if level.runs
    ]
    beside = [_say_box(box) for box in bucket.boxes]
    answer = "; ".join((f"{wording.clean(bucket.name, 160)} ({bucket.rest})", *levels, *beside))
    rows = [
        (
            cells.text(level.name),
            cells.code(wording.clean(run.name)),
            Cell(WORDS[run.state], _ROLES.get(run.state, "mute")),
            cells.number(run.rows),
            cells.text(wording.clean(run.words)),
        )
        for level in bucket.levels
        for run in level.runs
    ]
    columns = (
        Column("level", title="0 is fresh; files of one of the others are sorted by key and do not overlap"),
        Column("file", title="the file, or the files of a sorted run"),
        Column("state", is_short=True, title="what the change did to it"),
        Column("rows", is_number=True, title="rows of the files"),
        Column("note"),
    )
    grid = cells.grid(columns, rows, how="table.map().bucket", noun="run")
    return Fold("one bucket", answer, lambda: (grid, *([_grid(bucket.boxes)] if bucket.boxes else [])))


def _fold_tree(drawn: Map) -> Fold:
    rows = [
        (
            Cell("  " * branch.depth + wording.clean(branch.name), "tree"),
            Cell(branch.word, _ROLES.get(branch.state, "mute")),
            cells.text(wording.clean(branch.words)),
        )
        for branch in drawn.tree
    ]
    columns = (Column("directory or file"), Column("state", is_short=True), Column("holds"))
    said = (f"{wording.clean(branch.name, 160)}: {branch.word}" for branch in drawn.tree)
    answer = "; ".join(said)
    return Fold(
        "directory", answer, lambda: one(cells.grid(columns, rows, how="table.map().tree", noun="line"))
    )


@describe.register
def card_of_row_map(drawn: RowMap, detail: int = 1) -> Card:
    """Show the bytes of a row."""
    fields = wording.plural(len(drawn.row.names), "field")
    shown = f"of a row, {fields}, {wording.plural(drawn.size, 'byte')}, kind {drawn.row.kind}"
    picture = Picture(render_row(drawn), describe_row(drawn), LEAST)
    return Card("Map", shown, body=(picture,), folds=tuple(map(_fold_part, drawn.parts)))


def _fold_part(part: RowPart) -> Fold:
    return Fold(wording.clean(part.noun, 80), describe_part(part), lambda: one(_grid_part(part)))


def _grid_part(part: RowPart) -> Grid:
    rows = []
    for box in part.boxes:
        name = wording.clean(box.name, 80)
        value = Cell("") if box.value is None else cells.value(box.value, "NULL")
        rows.append(
            (
                cells.code(name) if box.is_field else cells.text(name),
                cells.number(box.start),
                cells.code(wording.octets(box.data, MOST_BYTES)),
                cells.text(wording.clean(box.note, 200)),
                cells.NULL if box.is_null else value,
            )
        )
    columns = (
        Column("field"),
        Column("at", is_number=True, title="its first byte, counted from the header"),
        Column("bytes"),
        Column("meaning", title="how the bytes are encoded"),
        Column("value"),
    )
    return cells.grid(columns, rows, how=".map().parts", noun="box")
