"""The overview of a table at a snapshot: its figures, how it came there, what changed last, its parts, and its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from lakelens.analysis.figures import count_by_lists
from lakelens.analysis.shape import measure_growth
from lakelens.analysis.timeline.timeline import Timeline, choose_marks
from lakelens.answers.question import find_question
from lakelens.explorer.answers import find_check
from lakelens.explorer.changes import grid_statements, list_statements
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.maps import show_map
from lakelens.explorer.page import Drawing, Figure, Figures, Link, Links, Page, Part, Section, Wide
from lakelens.explorer.questions import make_form
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Note
from lakelens.views.cards.finding import fold_findings, format_alert
from lakelens.views.present import present
from lakelens.views.timeline.growth import draw_growth
from lakelens.views.timeline.layout import lay_out
from lakelens.views.timeline.picture import describe_cuts, list_legend
from lakelens.views.timeline.wording import describe_history

_MOST_STATEMENTS = 6
_MOST_STATES = 200
# folds of a table's card that are sections of their own here
_ELSEWHERE = ("Changes", "Findings", "Writes")


@page("")
def make_overview(visit: Visit) -> Page:
    """The table at the pinned snapshot."""
    table, snapshot = visit.table, visit.snapshot
    card = present(table)
    title = Card(
        wording.clean(visit.place.table[-1]) if visit.place.table else card.noun,
        card.sentence,
        card.place,
        format_alert(table.findings),
    )
    # the map reads what proves how many rows are live: the figures say the same at the first look as at the second
    drawn = show_map(visit, snapshot)
    parts: list[Part] = [title]
    if snapshot is not None:
        parts.append(Figures(tuple(_list_figures(table, snapshot))))
        form = make_form(find_question("row"), visit.place, table)
        parts += [] if form is None else [form]
    parts += [
        *draw_history(visit, table.history),
        *_show_growth(visit),
        *_show_changes(visit),
        show_findings(visit),
        drawn,
        *_show_parts(snapshot, card),
    ]
    return Page(visit.place, title.noun, parts)


def _show_growth(visit: Visit) -> Iterator[Section]:
    """Show how the branch of the pinned snapshot grew up to it; of a long history as many states as a line shows."""
    history, key = visit.table.history, visit.place.snapshot
    place = history.find(key)
    if place is None:
        return
    lane = history.marks[place].lane
    marks = choose_marks([mark for mark in history.marks[: place + 1] if mark.lane == lane], _MOST_STATES)
    picture = visit.keep(
        ("growth", key), lambda: draw_growth(measure_growth(mark.snapshot for mark in marks))
    )
    if picture is not None:
        words = "after each commit on this branch, as the snapshots record it"
        yield Section("Over time", words, (Wide(Card("", "", body=(picture,)), picture.words),))


def _list_figures(table: Table, snapshot: Snapshot) -> Iterator[Figure]:
    """List rows, files, bytes, which snapshot, and when: what is live first, what it comes from below."""
    figures = snapshot.figures
    yield _count_rows(snapshot)
    files = count_by_lists(snapshot) if figures.files is None else figures.files
    if files is not None:
        below: list[tuple[Cell, str]] = []
        if figures.delete_files:
            below.append((cells.number(figures.delete_files), "delete files"))
        if snapshot.known_vector_count:
            below.append((cells.number(snapshot.known_vector_count), "deletion vectors"))
        if snapshot.manifest_lists:
            below.append((cells.number(len(snapshot.manifests)), "manifests"))
        if figures.partitions:
            below.append((cells.number(figures.partitions), "partitions"))
        yield Figure("files", cells.number(files), "data", tuple(below))
    if figures.size_bytes is not None:
        every = (files or 0) + (figures.delete_files or 0)
        small = (f"{wording.size(figures.size_bytes // every)} a file",) if every else ()
        yield Figure("bytes", cells.size(figures.size_bytes), small=small)
    if snapshot.id is not None:
        yield _name_snapshot(table, snapshot)
    if snapshot.committed_at is not None:
        label = "committed, UTC" if snapshot.id is not None else "newest file, UTC"
        first = table.outline_history(1).first
        first_at = first.committed_at if first is not None else None
        kept = () if first_at is None else (f"first kept {wording.moment(first_at)}",)
        yield Figure(label, cells.moment(snapshot.committed_at), small=kept)


def _count_rows(snapshot: Snapshot) -> Figure:
    """Count the live rows: stored less deleted in digits, or the words that say why they are not known."""
    rows = snapshot.known_live_rows
    if rows.recorded is None:
        return Figure("rows", Cell("not counted", "mute"), small=(wording.clean(rows.reason, 160),))
    if rows.count is None:
        return Figure(
            "rows",
            Cell(wording.live(rows)),
            "live",
            ((cells.number(rows.recorded), "stored"),),
            (wording.clean(rows.reason, 160),),
        )
    below = [(cells.number(rows.recorded), "stored")]
    gone = rows.recorded - rows.count
    if gone and rows.deleted is not None and rows.deleted + rows.waiting == gone:
        if rows.deleted:
            below.append((Cell(wording.count(-rows.deleted)), "deleted, still stored"))
        if rows.waiting:
            below.append((Cell(wording.count(-rows.waiting)), "wait in level 0"))
        return Figure("rows", cells.number(rows.count), "live", tuple(below))
    if gone:
        below.append((Cell(wording.count(-gone)), wording.clean(rows.reason, 80)))
    return Figure("rows", cells.number(rows.count), "live", tuple(below))


def _name_snapshot(table: Table, snapshot: Snapshot) -> Figure:
    by = f" by {wording.clean(snapshot.statement, 40)}" if snapshot.statement else ""
    lines = [f"{wording.clean(snapshot.operation or 'operation not recorded', 40)}{by}"]
    history = table.outline_history(1)
    if history.first is not None:
        since = f", from {history.first.id}" if table.traits.numbers_branches and history.count > 1 else ""
        lines.append(f"{wording.count(history.count)} kept{since}")
    if snapshot.sequence_number is not None:
        lines.append(f"sequence {snapshot.sequence_number}")
    if snapshot.refs:
        lines.append(f"named {wording.clean(', '.join(snapshot.refs), 80)}")
    return Figure("snapshot", cells.code(snapshot.id), small=tuple(lines))


def draw_history(visit: Visit, history: Timeline, first: int = 0, end: int | None = None) -> Iterator[Part]:
    """Draw the picture of a history, or of a window of it, with its legend; of a table without snapshots its times."""
    if not history.marks:
        card = present(history)
        yield Section("Timeline", card.sentence, (replace(card, noun="", sentence=""),))
        return
    layout = visit.keep(("layout", first, end), partial(lay_out, history, first, end))
    count = (len(history.marks) if end is None else end) - first
    statements = Counter(mark.operation for mark in history.marks[first:end])
    said = ", ".join(
        f"{wording.count(number)} {wording.clean(name, 40)}" for name, number in statements.most_common(6)
    )
    legend = " \u2003".join((*list_legend(layout), describe_cuts(layout)))
    yield Section(
        "Timeline",
        f"{wording.plural(count, 'snapshot')}: {said}",
        (
            Drawing(
                layout,
                f"Timeline, the newest at the right. {describe_history(history)}",
                visit.place.snapshot,
            ),
            Card("", "", body=(Note(legend, "mute"),)),
        ),
    )


def _show_changes(visit: Visit) -> Iterator[Section]:
    """Show the last statements up to the pinned snapshot."""
    if not visit.table.traits.has_snapshots or visit.snapshot is None:
        return
    statements, left = list_statements(visit, _MOST_STATEMENTS)
    links = []
    if left and "snapshots" in visit.pages:
        links.append(Link(f"{wording.plural(left, 'older snapshot')}", visit.place.with_page("snapshots")))
    if "diff" in visit.pages and visit.table.snapshot_count > 1:
        links.append(Link("diff of any two", visit.place.with_page("diff")))
    grid = Card("", "", body=(grid_statements(statements, visit.place),))
    below: tuple[Part, ...] = (Links(tuple(links)),) if links else ()
    yield Section("Last changes", "one line a statement; its snapshots are links", (grid, *below))


def _show_parts(snapshot: Snapshot | None, card: Card) -> Iterator[Part]:
    """Show the snapshot's own card, and what is true of the table at any: each fold is an answer."""
    if snapshot is not None:
        own = present(snapshot)
        if own.folds:
            words = own.sentence
            yield Section(own.noun, words, (replace(own, noun="", sentence="", facts=(), alert=""),))
    folds = tuple(replace(fold, opened=False) for fold in card.folds if fold.label not in _ELSEWHERE)
    yield Section("Table", "as it is today", (Card("", "", folds=folds, about=card.about),))


def show_findings(visit: Visit) -> Section:
    """Show what was found, what was looked at, and what was not, with the price of looking."""
    table, snapshot = visit.table, visit.snapshot
    findings = table.findings
    fold = fold_findings(findings)
    body = tuple(fold.body()) if len(findings) else ()
    words = "none found in what was looked at" if not len(findings) else fold.answer
    reads = visit.opening_reads
    looked = (
        f"Looked at: the newest metadata ({wording.plural(reads.files, 'file')}, {wording.size(reads.bytes)} to open "
        "the table), and what the pages that were asked for needed."
    )
    missed, price = _list_missed(table, snapshot)
    links = []
    if "check" in visit.pages:
        check = find_check(table)
        links.append(Link("Check everything", visit.place.with_page("check"), price))
        if check is not None and len(check.findings):
            links.append(
                Link(
                    "findings of the check, with the figures that prove them",
                    visit.place.with_page("findings"),
                )
            )
    return Section(
        "Findings",
        words,
        (
            *((Card("", "", body=body),) if body else ()),
            Links(tuple(links), f"{looked} Not looked at: {missed}."),
        ),
        alert=format_alert(findings),
        is_small=False,
    )


def _list_missed(table: Table, snapshot: Snapshot | None) -> tuple[str, str]:
    """List what no page has read so far, and what it costs to read all of it."""
    if snapshot is None:
        return "nothing: there is no snapshot", ""
    figures = snapshot.figures
    files = count_by_lists(snapshot) if figures.files is None else figures.files
    missed = [wording.plural(files, "data file") if files is not None else "the data files"]
    if figures.delete_files:
        missed.append(wording.plural(figures.delete_files, "delete file"))
    if snapshot.known_vector_count:
        missed.append(f"the bits of {wording.plural(snapshot.known_vector_count, 'deletion vector')}")
    older = table.snapshot_count - 1 if table.traits.has_snapshots else 0
    if older > 0:
        missed.append(wording.plural(older, "other snapshot"))
    size = figures.size_bytes
    return ", ".join(missed), "" if size is None else f"reads about {wording.size(size)}"
