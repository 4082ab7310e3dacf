"""The whole history of a table, or a part of it: as a picture, and the same in rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lakelens.analysis.timeline.marks import Item
from lakelens.analysis.timeline.timeline import Timeline
from lakelens.explorer.changes import ROWS_RECORDED
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.page import Drawing, Link, Links, Page, Part, Section
from lakelens.explorer.pages.overview import draw_history
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Column, Grid, Target
from lakelens.views.present import present
from lakelens.views.timeline.layout import Layout
from lakelens.views.timeline.wording import (
    describe_history,
    describe_rewrite,
    format_operations,
    format_time,
    join_names,
)

#: What is asked: the places of the first and the last snapshot of a part, counted from the oldest.
FIRST, LAST = "first", "last"
_COLUMNS = (
    Column("committed, UTC", is_short=True),
    Column("snapshots", is_short=True),
    Column("what"),
    Column("rows −", is_number=True, title=ROWS_RECORDED),
    Column(""),
    Column("rows +", is_number=True, title=ROWS_RECORDED),
    Column("on", is_short=True),
    Column("names"),
)
_ELSEWHERE = ("Snapshots",)


@page("timeline")
def make_timeline(visit: Visit) -> Page:
    """How the table came here: every snapshot, long ones folded by the calendar; each fold leads to a picture of its own."""
    history = visit.table.history
    if not history.marks:
        return Page(visit.place, "Timeline", [present(history)])
    first, end = _find_window(visit, history)
    is_whole = end - first == len(history.marks)
    parts: list[Part] = [Card("Timeline", describe_history(history))]
    if not is_whole:
        parts.append(_show_window(visit, history, first, end))
    drawn = [*draw_history(visit, history, first, end)]
    parts += [
        replace(part, heading="All" if is_whole else "Part") if isinstance(part, Section) else part
        for part in drawn
    ]
    layout = next(
        inner.layout
        for part in drawn
        if isinstance(part, Section)
        for inner in part.parts
        if isinstance(inner, Drawing)
    )
    parts.append(Section("In rows", "the newest first", (Card("", "", body=(_grid_items(layout),)),)))
    card = visit.keep("history", lambda: present(history))
    folds = tuple(fold for fold in card.folds if fold.label not in _ELSEWHERE)
    if folds:
        parts.append(Card("", "", folds=folds, about=card.about))
    return Page(visit.place, "Timeline", parts)


def _find_window(visit: Visit, history: Timeline) -> tuple[int, int]:
    """Find the part of the history that is asked for; the whole one where there is no such part."""
    count = len(history.marks)
    first = visit.place.get_number(FIRST)
    last = visit.place.get_number(LAST, count - 1)
    return (first, last + 1) if first <= last < count else (0, count)


def _show_window(visit: Visit, history: Timeline, first: int, end: int) -> Links:
    """Show which part it is, and the parts beside it, as long as it."""
    count, size = len(history.marks), end - first

    def part(start: int) -> Link:
        stop = min(start + size, count)
        words = "earlier" if start < first else "later"
        return Link(words, visit.place.with_page("timeline", **{FIRST: start or "0", LAST: stop - 1}))

    links = [Link("whole history", visit.place.with_page("timeline"))]
    if first:
        links.append(part(max(first - size, 0)))
    if end < count:
        links.append(part(end))
    kept = wording.plural(count, "snapshot")
    words = f"{wording.count(first)} to {wording.count(end - 1)} of {kept}, counted from the oldest:"
    return Links(tuple(links), words)


def _grid_items(layout: Layout) -> Grid:
    """One row for each mark and each fold, the newest first."""
    spots = list(enumerate(layout.spots))[::-1]
    bars = cells.bars([(spot.item.gone[1], spot.item.added) for _, spot in spots])
    # the times of a fold are apart by what it is folded by; those of single snapshots may be in one second
    exact = wording.share_a_second(
        cells.read_milliseconds(spot.item.end) for _, spot in spots if spot.item.count == 1
    )
    rows = [
        tuple(_list_cells(layout, number, spot.item, bar, exact=exact))
        for (number, spot), bar in zip(spots, bars, strict=True)
    ]
    with display.using(max_rows=max(len(rows), 1)):
        return cells.prune(cells.grid(_COLUMNS, rows, noun="item"))


def _list_cells(layout: Layout, number: int, item: Item, bar: Cell, *, exact: bool) -> Iterator[Cell]:
    mark = item.marks[-1]
    start, stop = format_time(item.start, exact=exact), format_time(item.end, exact=exact)
    yield Cell(
        start if start == stop else f"{start} to {stop[11:] if stop[:10] == start[:10] else stop}",
        key=item.end,
    )
    if item.count == 1:
        yield Cell(wording.clean(mark.key, 60), "code", target=Target("snapshot", mark.key))
    else:
        asked = ((FIRST, str(item.first)), (LAST, str(item.last)))
        yield Cell(wording.plural(item.count, "snapshot"), target=Target("page", "timeline", asked))
    yield Cell(
        format_operations(item.count_operations()) if item.count > 1 else wording.clean(mark.operation, 40)
    )
    gone = item.gone
    yield cells.removed(gone[0]) if gone[0] == gone[1] else Cell(f"≤ {wording.count(gone[1])}", "del")
    yield bar
    yield cells.added(item.added)
    yield Cell(join_names([layout.timeline.lanes[lane].name for lane in item.count_lanes()]))
    flags = [banner.full for banner in layout.banners if banner.spot == number]
    notes = [*mark.notes] if item.count == 1 else []
    if all(mark.rows.is_rewrite for mark in item.marks):
        notes.insert(0, describe_rewrite([mark.rows for mark in item.marks]))
    yield Cell(
        ", ".join(filter(None, (join_names(flags) if flags else "", *(wording.clean(n, 80) for n in notes))))
    )
