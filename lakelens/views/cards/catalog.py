"""Cards of listings of tables and views, and of one table or view in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from lakelens.errors import LakeError
from lakelens.model.view import View
from lakelens.model.warehouse.catalog import (
    Catalog,
    FoundTable,
    FoundView,
    FoundViews,
    Outline,
)
from lakelens.model.warehouse.sample import Sample, Samples
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Block, Card, Cell, Fact, Fold, Grid, Note
from lakelens.views.cards.finding import format_alert
from lakelens.views.cards.schema import format_schema
from lakelens.views.cards.table import ABOUT_VIEW, join_dialects
from lakelens.views.describe import describe, one

# more tables than this are not opened for a card, and so cannot be sorted by their last commit
_MOST_OPENED = 200
_ABOUT = ("common.catalog",)
_SEVERITIES = ("error", "warning", "note")
UNKNOWN_CELL = Cell("unknown", "mute")
NOT_COUNTED = Cell("not counted", "mute")


@describe.register
def card_of_catalog(catalog: Catalog, detail: int = 1) -> Card:
    """List the tables below a directory, and whether each is well: the newest commit first."""
    is_sorted = len(catalog) <= _MOST_OPENED
    shown = catalog if is_sorted else catalog[: display.max_rows]
    outlines = shown.read_outlines()
    pairs = list(zip(shown, outlines, strict=True))
    if is_sorted:
        pairs.sort(key=_rank)
    rows = [_row_table(catalog, found, outline) for found, outline in pairs[: display.max_rows]]
    names = (
        "table",
        "format",
        "live rows#",
        "files#",
        "bytes#",
        "last commit, UTC",
        "snapshots#",
        "findings!",
    )
    grid = cells.grid(names, rows, how=".to_pandas()", noun="table", total=len(catalog), about=_ABOUT)
    notes = _list_notes(outlines, is_sorted=is_sorted) if rows else []
    folds = []
    if len(catalog.views):  # they hold no rows, so they are apart from the tables
        places = [wording.clean(view.known_as or catalog.place(view.path), 60) for view in catalog.views[:5]]
        more = f", … {len(catalog.views) - 5:,} more" if len(catalog.views) > 5 else ""
        make = lambda: one(grid_views(catalog.views, catalog.place))  # noqa: E731 - made when the fold is opened
        folds.append(Fold("Views", ", ".join(places) + more, make))
    if rows:
        folds.append(_fold_findings(catalog, pairs))
    if catalog.problems:
        folds.append(fold_problems(catalog.problems, catalog.place))
    return Card(
        wording.name(catalog.root) or "tables",
        _count_formats(catalog),
        wording.clean(catalog.root),
        _alert(outlines, "" if is_sorted else f" in the first {wording.count(len(shown))}"),
        body=(grid, *notes) if rows else (),
        folds=tuple(folds),
        about=_ABOUT,
    )


def _rank(pair: tuple[FoundTable, Outline]) -> tuple[float, str]:
    """Rank the newest commit first, and a table without any last."""
    found, outline = pair
    at = outline.committed_at
    return -at.timestamp() if at is not None else float("inf"), found.path


def _count_formats(catalog: Catalog) -> str:
    counts = sorted(Counter(table.format for table in catalog).items(), key=lambda pair: -pair[1])
    views = wording.plural(len(catalog.views), "view") if len(catalog.views) else ""
    if not counts:
        return f"no table found{', ' if views else ''}{views}"
    listed = ", ".join(f"{number:,} {wording.clean(name).title()}" for name, number in counts)
    return f"{wording.plural(len(catalog), 'table')}: {listed}{'; ' if views else ''}{views}"


def _alert(outlines: Sequence[Outline], among: str = "") -> str:
    """Count the errors and warnings that the tables have together; `among` says of which tables, where not of all."""
    sums = (
        (word, sum(outline.count_findings(word) for outline in outlines)) for word in ("error", "warning")
    )
    counted = ", ".join(wording.plural(number, word.upper()) for word, number in sums if number)
    return f"{counted}{among}" if counted else ""


def _row_table(catalog: Catalog, found: FoundTable, outline: Outline) -> tuple[Cell, ...]:
    is_listed = outline.has_snapshots or outline.files is not None
    nothing = Cell("unknown" if outline.error is not None else "none" if is_listed else "not listed", "mute")
    title = cells.text(outline.title)
    return (
        named.place("table", found.path, wording.clean(found.known_as) or catalog.place(found.path)),
        cells.join(title, Cell(f" {wording.clean(outline.variant)}", "small")) if outline.variant else title,
        _show_rows(outline),
        _show(outline, cells.number(outline.files) if outline.files is not None else NOT_COUNTED),
        _show(outline, cells.size(outline.size_bytes) if outline.size_bytes is not None else NOT_COUNTED),
        cells.moment(outline.committed_at) if outline.committed_at is not None else nothing,
        cells.number(outline.snapshot_count) if outline.has_snapshots else Cell("keeps none", "mute"),
        _show_findings(outline),
    )


def _show(outline: Outline, cell: Cell) -> Cell:
    return cell if outline.error is None else UNKNOWN_CELL


def _show_rows(outline: Outline) -> Cell:
    """Show the live rows: a number, its bounds, or that nobody has counted them."""
    rows = outline.rows
    if rows is None:
        return UNKNOWN_CELL
    if rows.recorded is None:
        return NOT_COUNTED
    return Cell(wording.live(rows), "" if rows.at_most else "mute", wording.stored(rows))


def _show_findings(outline: Outline) -> Cell:
    """Show how many findings of the worst severity there are."""
    for severity in _SEVERITIES:
        number = outline.count_findings(severity)
        if number:
            is_bad = severity != "note"
            return Cell(
                wording.plural(number, severity.upper() if is_bad else severity), "warn" if is_bad else ""
            )
    return Cell("none found", "mute")


def _fold_findings(catalog: Catalog, pairs: Sequence[tuple[FoundTable, Outline]]) -> Fold:
    """Fold what was found in the tables: the worst first, the table of each beside it."""
    found = [
        (severity, table, message)
        for severity in _SEVERITIES
        for table, outline in pairs
        for message in _list_messages(outline, severity)
    ]
    if not found:
        return Fold("Findings", "none found in what was looked at")
    rows = [
        (
            Cell(severity.upper() if severity != "note" else severity, "warn" if severity != "note" else ""),
            named.place("table", table.path, wording.clean(table.known_as) or catalog.place(table.path)),
            cells.text(message),
        )
        for severity, table, message in found
    ]
    grid = cells.grid(("!", "table", "what"), rows, how="catalog[name].open().findings", noun="finding")
    sums = ((word, sum(severity == word for severity, _, _ in found)) for word in _SEVERITIES)
    answer = ", ".join(
        wording.plural(number, word.upper() if word != "note" else word) for word, number in sums if number
    )
    return Fold("Findings", answer, lambda: one(grid), opened=found[0][0] != "note")


def _list_messages(outline: Outline, severity: str) -> list[str]:
    """List what an outline has of a severity; that it could not be opened is an error."""
    messages = [finding.message for finding in outline.findings if finding.severity == severity]
    return (
        [outline.error.reason, *messages] if outline.error is not None and severity == "error" else messages
    )


def _list_notes(outlines: Sequence[Outline], *, is_sorted: bool) -> list[Note]:
    """List what was looked at, and what was not."""
    requests = sum(outline.reads.requests for outline in outlines if outline.reads is not None)
    size = sum(outline.reads.bytes for outline in outlines if outline.reads is not None)
    looked = (
        f"Looked at: the newest metadata of {wording.plural(len(outlines), 'table')} "
        f"({wording.plural(requests, 'request')}, {wording.size(size)}); not at manifests and data files."
    )
    if any(outline.files is None and outline.error is None for outline in outlines):
        looked += " .measure() lists and counts the files where that was not done."
    if any(not outline.has_snapshots and outline.files is not None for outline in outlines):
        looked += " Rows of tables without metadata are in the footers of their files."
    if any(
        outline.rows is not None and outline.rows.count is None and outline.rows.at_most is not None
        for outline in outlines
    ):
        looked += " ≤: deletes and keys may leave fewer; table.current.live_rows counts."
    notes = [Note(looked, "mute")]
    if not is_sorted:
        notes.append(
            Note(f"In path order: of more than {_MOST_OPENED:,} tables only these are opened.", "mute")
        )
    return notes


def fold_problems(
    problems: Sequence[LakeError], place: Callable[[str | None], str], *, opened: bool = True
) -> Fold:
    """Show the directories that could not be looked into, by the reason: one line for each."""
    groups: dict[tuple[str, str], list[str]] = {}
    for problem in problems:
        groups.setdefault((problem.reason, problem.hint or ""), []).append(place(problem.path))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    rows = []
    for (reason, hint), paths in ordered:
        places = ", ".join(wording.clean(path, 120) for path in paths[:8])
        places += f", … {len(paths) - 8:,} more" if len(paths) > 8 else ""
        rows.append((cells.explain(cells.text(reason), hint), cells.number(len(paths)), cells.code(places)))
    grid = cells.grid(("reason", "directories#", "where"), rows, how=".problems", noun="reason")
    said = [
        f"{wording.clean(reason.split(':')[0], 60)} ({len(paths):,})" for (reason, _), paths in ordered[:3]
    ]
    more = f", {len(ordered) - 3:,} more reasons" if len(ordered) > 3 else ""
    number = wording.plural(len(problems), "directory", "directories")
    return Fold("Problems", f"{number} not listed: {', '.join(said)}{more}", lambda: one(grid), opened=opened)


@describe.register
def card_of_found(found: FoundTable, detail: int = 1) -> Card:
    """One table that was found: where, why it is one, and what it is today."""
    outline = found.outline
    said = [
        f"{severity.upper()} {wording.clean(message, 160)}"
        for severity in _SEVERITIES
        for message in _list_messages(outline, severity)
    ]
    more = f"; … {len(said) - 3:,} more" if len(said) > 3 else ""
    folds = (
        Fold("Evidence", wording.clean("; ".join(found.evidence.reasons), 400)),
        Fold("Findings", "; ".join(said[:3]) + more if said else "none found in what was looked at"),
    )
    facts = [Fact("live rows", _show_rows(outline))]
    for label, cell in (
        ("files", _show(outline, cells.number(outline.files))),
        ("bytes", _show(outline, cells.size(outline.size_bytes))),
        ("snapshots", cells.number(outline.snapshot_count)),
        ("last commit, UTC", cells.moment(outline.committed_at)),
    ):
        if cell.text not in ("unknown", "absent"):
            facts.append(Fact(label, cell))
    sentence = f"{wording.clean(outline.title)} table: .open()"
    alert = _alert((outline,))
    place = wording.clean(found.path)
    return Card(wording.clean(found.name), sentence, place, alert, tuple(facts), folds=folds, about=_ABOUT)


@describe.register
def card_of_samples(samples: Samples, detail: int = 1) -> Card:
    """The tables that ship with the package, each with what it shows and its story: all of them, however many rows."""
    rows = [
        (
            cells.code(sample.name),
            cells.text(sample.format),
            cells.text(sample.feature),
            cells.text(sample.story),
            cells.size(sample.size_bytes),
        )
        for sample in samples
    ]
    with display.using(max_rows=max(display.max_rows, len(rows))):
        listed = cells.grid(("name", "format", "shows", "story", "size#"), rows, noun="sample")
    return Card(
        "samples",
        "small tables that engines wrote; ll.sample(name) opens a copy",
        body=(listed,),
        about=("common.catalog",),
    )


@describe.register
def card_of_sample(one: Sample, detail: int = 1) -> Card:
    """One table that ships with the package, with the script that made it."""
    folds = (
        Fold("Story", wording.clean(one.story)),
        Fold("Size", f"{wording.size(one.size_bytes)} in {wording.plural(one.files, 'file')}"),
        Fold("Script", "what made it", lambda: [Block(one.script)]),
    )
    sentence = f"{wording.clean(one.format)} table: {wording.clean(one.feature)}"
    return Card(wording.clean(one.name), sentence, folds=folds)


def grid_views(views: FoundViews, place: Callable[[str], str]) -> Grid:
    """Show the views in rows, each called by its `place`, with its current version and its dialects."""
    rows: list[tuple[Cell, ...]] = []
    for found in views[: display.max_rows]:
        view, name = found.view, wording.clean(found.known_as or place(found.path))
        title = named.place("table", found.path, name)
        if isinstance(view, LakeError):
            rows.append((title, *[UNKNOWN_CELL] * 4, Cell(view.reason, "warn")))
            continue
        rows.append(
            (
                title,
                cells.number(view.version_id),
                cells.number(len(view.versions)),
                cells.text(join_dialects(view.dialects)),
                cells.moment(None if view.current is None else view.current.created_at),
                cells.text(format_alert(view.findings) or format_schema(view.schema) if view.schema else ""),
            )
        )
    names = ("view", "version#", "versions#", "SQL", "created, UTC!", "what")
    return cells.grid(names, rows, how=".views", noun="view", total=len(views), about=ABOUT_VIEW)


@describe.register
def card_of_found_view(found: FoundView, detail: int = 1) -> Card:
    """One view that was found: the view's own card, or why it cannot be opened."""
    view = found.view
    if isinstance(view, View):
        return describe(view, detail)
    folds = (Fold("Error", wording.clean(view.reason, 400), alert="ERROR"),)
    return Card(
        wording.clean(found.name), "view that cannot be opened", wording.clean(found.path), folds=folds
    )
