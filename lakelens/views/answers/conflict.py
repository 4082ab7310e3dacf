"""The card of a conflict: the commits in between beside the writer that did not see them, the files, the checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lakelens.analysis.conflict.conflict import Conflict
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Cell, Column, Fold, Grid, Note
from lakelens.views.describe import describe, one

_MARKS = {"append": "●", "overwrite": "●", "delete": "▼", "replace": "○", "compact": "○"}


@describe.register
def card_of_conflict(conflict: Conflict, detail: int = 1) -> Card:
    """Say why it fails or that it would pass, then show what came between."""
    body: list[Body] = [Note(_format_retry(conflict))]
    if conflict.between:
        body.append(_grid_between(conflict))
    body += [Note(wording.clean(note, 300), "warn") for note in conflict.notes]
    folds = tuple(_make_folds(conflict))
    return Card(_format_title(conflict), _format_sentence(conflict), body=tuple(body), folds=folds)


def _name(conflict: Conflict) -> str:
    name = conflict.operation
    return (name.upper() if name in ("merge", "update", "delete") else name) or "commit"


def _format_title(conflict: Conflict) -> str:
    """Say the outcome; of a commit that collides, how many of those in between are in the way."""
    if conflict.outcome == "passes":
        unchecked = ", unchecked" if conflict.notes else ""
        return "Would pass on a retry" if conflict.failure is not None else f"Would pass{unchecked}"
    verb = "failed" if conflict.failure is not None else "would fail"
    if conflict.outcome == "unknown":
        return f"The {_name(conflict)} failed"
    count = sum(commit.collides for commit in conflict.between)
    whole = "" if conflict.base is None else f" {len(conflict.between)}"
    of = f"{count} of{whole}" if whole else str(count)
    noun = "commit" if len(conflict.between) == 1 else "commits"
    return f"The {_name(conflict)} {verb} by {of} {noun} in between"


def _format_sentence(conflict: Conflict) -> str:
    if conflict.outcome == "passes":
        verb = "is asked for" if conflict.notes else "collides"
        return f"nothing of {wording.plural(len(conflict.between), 'commit')} in between {verb}"
    if conflict.outcome == "unknown":
        return "no file that the exception names is in the table's history"
    failing = next((ruling.check for ruling in conflict.rulings if not ruling.passes), "")
    number = wording.plural(len(conflict.collisions), conflict.collisions.noun)
    return f"{number} against the rule: {wording.clean(failing, 120)}"


def _format_retry(conflict: Conflict) -> str:
    """Say whether a retry of the commit can pass, and whether running it again can: two sentences."""
    level = "" if conflict.isolation is None else f" Isolation {conflict.isolation}"
    level += "" if conflict.mode is None or not level else f", {conflict.mode}"
    level += "." if level else ""
    where = "" if conflict.where is None else f" Filter: {wording.clean(conflict.where, 200)}."
    if conflict.outcome == "passes" and conflict.notes:
        return f"A retry of the commit passes, but what follows is not what two statements in turn would do.{level}{where}"
    if conflict.outcome == "passes":
        return (
            f"A retry of the commit passes, as long as nothing else comes; its files are whole.{level}{where}"
        )
    return f"A retry of the commit alone cannot pass. Running it again can.{level}{where}"


def _grid_between(conflict: Conflict) -> Grid:
    """Two rails down one axis of time: what the table did, and the writer that did not see it."""
    rows: list[tuple[Cell, ...]] = []
    if conflict.base is not None:
        start = cells.join(Cell("reads "), cells.code(str(conflict.base.id)))
        rows.append((cells.moment(conflict.base.committed_at), Cell("●"), Cell("○"), Cell("starts"), start))
    for commit in conflict.between:
        verdict = Cell(" COLLIDES", "del") if commit.collides else Cell(" passes", "mute")
        kind = wording.clean(commit.operation, 40)
        said = f": +{wording.count(commit.added)} −{wording.count(commit.removed)} files"
        said += f"; {wording.count(commit.colliding)} in the way" if commit.collides else ""
        rows.append(
            (
                cells.moment(commit.committed_at),
                Cell(_MARKS.get(commit.operation.lower(), "●")),
                Cell("│", "mute"),
                cells.join(Cell(kind), verdict),
                cells.join(cells.code(str(commit.snapshot_id)), Cell(said)),
            )
        )
    is_failed = conflict.outcome != "passes"
    fate = "would fail" if conflict.failure is None else "fails"
    last = Cell(fate if is_failed else "would pass")
    checked = f"checked against the {wording.plural(len(conflict.between), 'commit')} above"
    checked = checked if conflict.rulings else "asks for no check"
    rows.append((Cell(""), Cell(""), Cell("✕" if is_failed else "○"), last, Cell(checked, "mute")))
    columns = (
        Column("time, UTC", is_short=True),
        Column("table", is_short=True),
        Column("writer", is_short=True),
        Column("what", is_short=True),
        "and to this commit",
    )
    return cells.grid(columns, rows, how=".between", noun="commit", total=len(rows), is_open=True)


def _make_folds(conflict: Conflict) -> Iterator[Fold]:
    """Make the proofs: the files, the checks, what would have passed, what was left."""
    if conflict.collisions:
        places = len({collision.partition for collision in conflict.collisions})
        total = sum(collision.record_count or 0 for collision in conflict.collisions)
        noun = conflict.collisions.noun
        words = wording.plural(len(conflict.collisions), noun)
        if noun == "file":
            words += f" of {wording.plural(places, 'place')}, {wording.plural(total, 'row')}"
        in_the_way = [
            (
                cells.code(wording.name(collision.path)),
                Cell(wording.clean(collision.partition, 80)),
                Cell(wording.clean(collision.content.replace("_", " "), 40)),
                cells.code(str(collision.snapshot_id)),
                cells.optional_number(collision.record_count),
                cells.size(collision.size_bytes),
                Cell(wording.clean(collision.why, 160), "mute"),
            )
            for collision in conflict.collisions
        ]
        columns = ("file", "partition", "content!", "commit!", "rows#", "bytes#", "why")
        grid = cells.grid(columns, in_the_way, how=".collisions", noun=noun)
        yield Fold("Collides", words, partial(one, grid), opened=True)
    rows = [
        (
            Cell(wording.clean(ruling.check, 120)),
            Cell(wording.clean(ruling.because, 200)),
            Cell(wording.clean(ruling.seen, 120)),
            Cell("passes", "mute") if ruling.passes else Cell("FAILS", "del"),
            Cell(wording.clean(ruling.source, 80), "mute"),
        )
        for ruling in conflict.rulings
    ]
    failing = sum(not ruling.passes for ruling in conflict.rulings)
    verb = "fails" if failing == 1 else "fail"
    words = f"{failing} of {wording.plural(len(rows), 'check')} {verb}" if failing else "none fails"
    if rows:
        grid = cells.grid(
            ("check", "asked because", "found", "state!", "rule of"), rows, how=".rulings", is_open=True
        )
        yield Fold("Rule", words, partial(one, grid), opened=True)
    else:
        yield Fold("Rule", "none: it is checked against nothing, its commit must only be the next one")
    ways = [
        (Cell(wording.clean(way.change, 200)), Cell(way.passes), Cell(wording.clean(way.price, 200), "mute"))
        for way in conflict.ways
    ]
    grid = cells.grid(("change", "would it pass?!", "at what price"), ways, how=".ways", is_open=True)
    known = sum(way.passes == "yes" for way in conflict.ways)
    yield Fold("Would pass", wording.plural(known, "way"), partial(one, grid), opened=True)
    yield Fold(
        "Left behind", "files that nothing refers to, since then", partial(_show_left, conflict), level=3
    )


def _show_left(conflict: Conflict) -> tuple[Body, ...]:
    if not conflict.left:
        return (Note("None in the listing."),)
    names_writers = any(file.writer for file in conflict.left)
    rows = (
        (
            cells.code(file.relative_path),
            cells.size(file.size_bytes),
            cells.moment(file.modified),
            Cell(wording.clean(file.why, 120)),
            *((cells.code(file.writer),) if names_writers else ()),
        )
        for file in conflict.left
    )
    headings = ("file", "bytes#", "written, UTC", "tied by", *(("writer",) if names_writers else ()))
    listed = cells.grid(headings, rows, how=".left", noun="file", total=len(conflict.left))
    return (listed, Note("Do not remove them while the job may retry, or another one still writes."))
