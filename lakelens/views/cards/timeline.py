"""The card of a history: the still picture, the same in words, and the newest snapshots; of Hive, the times of its files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from lakelens.analysis.timeline.timeline import Timeline
from lakelens.model.snapshot import Snapshot
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Column, Fold, Note, Picture
from lakelens.views.cards.snapshot import format_snapshots, grid_snapshots
from lakelens.views.describe import describe, one
from lakelens.views.timeline.layout import lay_out
from lakelens.views.timeline.picture import describe_cuts, render_picture
from lakelens.views.timeline.wording import describe_history, list_oddities


@describe.register
def card_of_timeline(timeline: Timeline, detail: int = 1) -> Card:
    """How a table came here."""
    name = wording.clean(timeline.table.name, 80)
    if not timeline.marks:
        return _card_of_listing(timeline, name)
    story = describe_history(timeline)
    notes = describe_cuts(lay_out(timeline))
    body: tuple[Body, ...] = (
        Picture(render_picture(timeline), story),
        Note(story, "mute"),
        Note(
            f"{notes[:1].upper()}{notes[1:]}. Interactive" if notes else "Interactive",
            "mute",
            "table.timeline()",
            words=f"{notes[:1].upper()}{notes[1:]}." if notes else "",
        ),
    )
    newest: Sequence[Snapshot] = [mark.snapshot for mark in timeline.marks[-display.max_rows :]]
    total = len(timeline.marks)
    folds = [
        Fold(
            "Snapshots",
            format_snapshots(newest, display.max_rows, total),
            lambda: one(grid_snapshots(newest, total=total)),
            opened=True,
        )
    ]
    if timeline.rollbacks:
        folds.append(_fold_rollbacks(timeline))
    off = [mark.snapshot for mark in timeline.marks if not timeline.lanes[mark.lane].is_branch]
    if off:
        answer = "; ".join(list_oddities(timeline)) or wording.plural(len(off), "snapshot")
        folds.append(Fold("Off branch", answer, lambda: one(grid_snapshots(off, total=len(off)))))
    about = list_sections(timeline.table, "snapshot", "ref")
    return Card(
        "History",
        f"of {name}, {wording.plural(len(timeline), 'snapshot')}",
        body=body,
        folds=tuple(folds),
        about=about,
    )


def _fold_rollbacks(timeline: Timeline) -> Fold:
    rows = [
        (
            cells.moment(rollback.at),
            _name_mark(rollback.start),
            _name_mark(rollback.end),
            cells.number(len(rollback.undone)),
        )
        for rollback in timeline.rollbacks
    ]
    columns = (
        Column("made, UTC", is_short=True, title="when the older snapshot became the current one again"),
        Column("from", title="the snapshot that was current before"),
        Column("back to", title="the older snapshot that the table went back to"),
        Column("snapshots undone", is_number=True, title="how many snapshots the table gave up by it"),
    )
    grid = cells.grid(columns, rows, how="table.history.rollbacks", noun="rollback")
    return Fold("Rollbacks", wording.plural(len(rows), "rollback"), lambda: one(grid))


def _name_mark(key: str) -> Cell:
    """Name a snapshot by its mark: its id."""
    return named.snapshot(int(key)) if key.removeprefix("-").isdecimal() else cells.code(key)


def _card_of_listing(timeline: Timeline, name: str) -> Card:
    if timeline.listing is None:
        return Card("History", f"of {name}: nothing has been committed yet")
    times = _count_times(timeline.listing)
    sentence = f"of {name}: a {timeline.table.traits.title} table keeps no snapshots"
    if not times:
        return Card("History", sentence, body=(Note("No file has a modification time either."),))
    first, last = wording.moment(min(times)), wording.moment(max(times))
    span = f"at {first} UTC" if min(times) == max(times) else f"from {first} to {last} UTC"
    words = (
        f"The nearest thing is when its files were written: {wording.plural(sum(times.values()), 'file')} "
        f"{span}. "
        "Files that were overwritten or deleted have left no trace; copying a table changes these times."
    )
    newest = sorted(times.items(), reverse=True)
    rows = [(cells.moment(moment), cells.number(count)) for moment, count in islice(newest, display.max_rows)]
    grid = cells.grid(
        (
            Column(
                "written, UTC", is_short=True, title="when files were last written, according to the store"
            ),
            Column("files", is_number=True, title="how many files were written in that second"),
        ),
        rows,
        how="table.files.to_pandas()",
        noun="moment",
        total=len(newest),
    )
    return Card(
        "History",
        sentence,
        body=(Note(words),),
        folds=(
            Fold("Written", f"last at {wording.moment(newest[0][0])} UTC", lambda: one(grid), opened=True),
        ),
    )


def _count_times(listing: Snapshot) -> dict[datetime, int]:
    times: dict[datetime, int] = {}
    for file in listing.files:
        moment = getattr(file, "modified", None)
        if isinstance(moment, datetime):
            second = moment.replace(microsecond=0)
            times[second] = times.get(second, 0) + 1
    return times
