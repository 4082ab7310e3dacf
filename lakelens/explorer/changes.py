"""What changed last, one line a statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from lakelens.analysis.timeline.timeline import Statement, group_statements
from lakelens.explorer.explorer import Visit
from lakelens.explorer.place import Place
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Cell, Column, Grid, Target
from lakelens.views.timeline.wording import describe_rewrite

_MOST_WALKED = 40  # snapshots that are looked at for the last statements
#: What the numbers of rows are, wherever commits are listed.
ROWS_RECORDED = "as the commits record them: what is deleted by key or by value may not be counted, a rewrite changes none"


def list_statements(visit: Visit, most: int) -> tuple[list[Statement], int]:
    """List the last statements up to the pinned snapshot, newest first, and how many older snapshots there are."""
    history = visit.table.history
    place = history.find(visit.place.snapshot)
    if place is None:
        return [], 0
    lane = history.marks[place].lane
    before = [mark for mark in history.marks[: place + 1] if mark.lane == lane]
    newest = (mark.snapshot for mark in islice(reversed(before), _MOST_WALKED))
    statements = list(islice(group_statements(newest), most))
    shown = sum(len(statement.snapshots) for statement in statements)
    return statements, len(before) - shown


def grid_statements(statements: Sequence[Statement], place: Place) -> Grid:
    """Show what each statement changed: rows that went and came about one zero line, files, bytes, and how."""
    bars = cells.bars(
        [(statement.rows_gone[0], statement.changes.added_rows or 0) for statement in statements]
    )
    times = cells.moments([statement.snapshots[-1].committed_at for statement in statements])
    rows = []
    for statement, time, bar in zip(statements, times, bars, strict=True):
        word = wording.clean(statement.word, 40)
        name = cells.join(Cell(word, "del")) if statement.is_delete else Cell(word)
        links: list[Cell] = []
        for snapshot in statement.snapshots:
            links += [Cell(" ")] if links else []
            links.append(Cell(str(snapshot.id), "code", target=Target("snapshot", str(snapshot.id))))
        rows.append((name, cells.join(*links), time, *_count(statement, bar)))
    columns = (
        Column("statement", is_short=True),
        Column("snapshots", is_short=True),
        Column("committed, UTC", is_short=True),
        Column("rows −", is_number=True, title=ROWS_RECORDED),
        Column(""),
        Column("rows +", is_number=True, title=ROWS_RECORDED),
        Column("files −", is_number=True),
        Column("files +", is_number=True),
        Column("bytes", is_number=True),
        Column("how"),
    )
    with display.using(max_rows=max(len(rows), 1)):
        return cells.prune(cells.grid(columns, rows, noun="statement"))


def _count(one: Statement, bar: Cell) -> Iterator[Cell]:
    found = one.changes
    gone, is_exact = one.rows_gone
    yield cells.removed(gone) if is_exact else Cell(f"≤ {wording.count(gone)}", "del")
    yield bar
    yield cells.added(found.added_rows or 0)
    yield cells.removed(found.removed_files or 0)
    yield cells.added(found.added_files or 0)
    net = found.net_bytes
    yield cells.text("") if net is None else cells.changed_size(net)
    how = _format_how(one)
    yield Cell(how, "small" if how else "")


def _format_how(one: Statement) -> str:
    """Say what happened to files: raised to a level, rewritten, or kept while rows in them were deleted."""
    found = one.changes
    words = []
    for raised in one.raised:
        words.append(f"{wording.plural(len(raised.files), 'file')} {raised.words}")
    if one.is_rewrite:
        if found.removed_files:
            words.append(
                f"{wording.plural(found.removed_files, 'file')} to {wording.count(found.added_files or 0)}"
            )
        words.append(describe_rewrite(one.counts))
    deleted = wording.deleted(found.deleted, found.added_equality_deletes)
    if deleted:
        words.append(f"{deleted} in files that stay")
    return ", ".join(words)
