"""The first page: the tables that were found, and how each is; and the page that searches what they say of themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.explorer.frame import list_crumbs
from lakelens.explorer.listing import FILTER, FROM, SORT, make_listing
from lakelens.explorer.page import Field, Form, Link, Links, Listing, Page, Part, Redirect, Section
from lakelens.explorer.place import BELOW, Place
from lakelens.explorer.shelf import DEEP_KINDS, KINDS, MOST_FILES, SearchIndex
from lakelens.model.facts.facts import Fact, build_rows
from lakelens.model.warehouse.catalog import Catalog, FoundTable, Outline
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Column, Grid, Note, Target
from lakelens.views.cards.catalog import fold_problems, grid_views
from lakelens.views.listing import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.explorer.explorer import Explorer

#: What leads from the filter of tables right to the one table whose name it is, or holds it.
JUMP = "jump"
_NEWEST = "last commit, UTC"
_COLUMNS = (
    Column("table"),
    Column("format", is_short=True),
    Column("rows live", is_number=True),
    Column("files", is_number=True),
    Column("bytes", is_number=True),
    Column(_NEWEST, is_short=True),
    Column("by", is_short=True),
    Column("snapshots", is_number=True),
    Column("findings"),
)
_SEVERITIES = ("error", "warning", "note")
_UNKNOWN = Cell("unknown", "mute")
_NOT_COUNTED = Cell("not counted", "mute")
_MOST_FOLDERS = 8
_MOST_VIEWS = 500
_MOST_SAID = 160  # characters of a finding


def make_warehouse(explorer: Explorer, place: Place) -> Page | Redirect:
    """List the tables below the root, the newest commit first; where the root is a table, lead to that table."""
    whole = explorer.catalog
    if len(whole) == 1 and not explorer.name(whole[0]):
        return Redirect(Place(()))
    catalog = whole.below(place.get(BELOW)) if place.get(BELOW) else whole
    tables = explorer.outlines.read(catalog)
    outlines = [table.outline for table in tables]
    name = wording.name(catalog.root) or "warehouse"
    sums = ((word, sum(outline.count_findings(word) for outline in outlines)) for word in _SEVERITIES[:2])
    alert = ", ".join(wording.plural(number, word.upper()) for word, number in sums if number)
    reads = [outline.reads for outline in outlines if outline.reads is not None]
    looked = (
        "Looked at: the listing and each table's newest metadata "
        f"({wording.plural(sum(read.requests for read in reads), 'request')}, "
        f"{wording.size(sum(read.bytes for read in reads))}). "
        "Not looked at: manifests, data files; a metastore was not given."
    )
    body = (Note(looked, "mute"),)
    parts: list[Part] = [
        Card(name, _count_formats(catalog), wording.clean(catalog.root), alert, body=body),
    ]
    if place.get(JUMP) and place.get(FILTER).strip():
        wanted = place.get(FILTER).strip().casefold()
        names = {"/".join(explorer.name(table)): explorer.name(table) for table in tables}
        near = [name for name in names if wanted in name.casefold()]
        same = [name for name in near if wanted in (name.casefold(), name.casefold().rpartition("/")[2])]
        if len(near) == 1 or len(same) == 1:
            return Redirect(Place(names[(same if len(same) == 1 else near)[0]]))
        place = place.ask(**{JUMP: None})
    if tables:
        source = TableSource([("/".join(explorer.name(table)), table) for table in tables])
        search = Link(
            "search columns, properties, writers, known defects, names of files", Place(None, "", "search")
        )
        parts.append(_mark_newest(make_listing(source, place, more=(search,)), place))
    if len(catalog.views):
        words = f"{wording.plural(len(catalog.views), 'view')}, queries that hold no rows"
        with display.using(max_rows=_MOST_VIEWS):
            views = grid_views(catalog.views, whole.place)
        parts.append(Section("Views", words, (Card("", "", body=(views,)),)))
    problems = (fold_problems(catalog.problems, catalog.place, opened=False),) if catalog.problems else ()
    parts.append(Card("", "", body=tuple(_list_notes(catalog, outlines)), folds=problems))
    return Page(place, name, parts, list_crumbs(place))


class TableSource(Source):
    """The tables of a warehouse, each with its name below the root; outlined before."""

    nouns = ("Tables", "table", "tables")
    filters = ("filter by words", "filter: name, format, finding: orders, hive, error")
    #: What a first click looks at from its end: the newest commits, the worst findings.
    largest_first = frozenset((_NEWEST, "findings"))

    def __init__(self, tables: Sequence[tuple[str, FoundTable]]) -> None:
        self.subject = self._tables = tables
        self._rows = [_show_table(name, found.outline) for name, found in tables]

    def __len__(self) -> int:
        return len(self._tables)

    @cached_property
    def natural(self) -> Sequence[int]:
        """The newest commit first, those without any last; in order of their names where that is the same."""
        times = [found.outline.committed_at for _, found in self._tables]
        return sorted(
            range(len(self)),
            key=lambda place: (
                -(time.timestamp() if (time := times[place]) is not None else float("-inf")),
                self._tables[place][0],
            ),
        )

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        at = next((at for at, column in enumerate(_COLUMNS) if column.name == name), None)
        if at is None:
            raise KeyError(name)
        if name == "findings":
            return [_rank_findings(found.outline) for _, found in self._tables]
        return [None if row[at].key is None else row[at].key for row in self._rows]

    @cached_property
    def _words(self) -> Sequence[str]:
        return [" ".join(cell.text for cell in row).casefold() for row in self._rows]

    def to_arrow(self, positions: Sequence[int]) -> pa.Table:
        """See `Source.to_arrow`: the columns of `Catalog.to_arrow`."""
        return build_rows((self._tables[position][1] for position in positions), Catalog.facts)

    def _grid(self, positions: Sequence[int]) -> Grid:
        return Grid(_COLUMNS, tuple(self._rows[position] for position in positions))

    @property
    def _known(self) -> Sequence[str]:
        return [column.name for column in _COLUMNS]


def _show_table(name: str, outline: Outline) -> tuple[Cell, ...]:
    title = cells.text(outline.title)
    variant = wording.clean(outline.variant)
    kind = cells.join(title, Cell(f" {variant}", "small")) if variant else title
    is_known = outline.error is None
    size = _NOT_COUNTED if outline.size_bytes is None else cells.size(outline.size_bytes)
    by = "newest file" if not outline.has_snapshots else wording.clean(outline.operation or "", 60)
    time = cells.moment(outline.committed_at) if outline.committed_at is not None else None
    is_listed = outline.has_snapshots or outline.files is not None
    nothing = Cell("none yet" if is_listed else "not listed", "mute") if is_known else _UNKNOWN
    kept = cells.number(outline.snapshot_count) if outline.has_snapshots else Cell("keeps none", "mute")
    return (
        Cell(wording.clean(name), "code", key=name, target=Target("table", name)),
        replace(kind, key=f"{outline.title} {variant}"),
        _show_rows(outline),
        cells.number(outline.files) if outline.files is not None else _NOT_COUNTED if is_known else _UNKNOWN,
        size if is_known else _UNKNOWN,
        time or nothing,
        Cell(by, "small" if by else "", key=by or None),
        kept if is_known else _UNKNOWN,
        _show_findings(outline),
    )


def _show_rows(outline: Outline) -> Cell:
    """The live rows: a number, its bounds, or that nobody has counted them; an inexact count is never a bare number."""
    rows = outline.rows
    if rows is None:
        return _UNKNOWN
    if rows.recorded is None:
        return _NOT_COUNTED
    key = rows.at_most if rows.count is None else rows.count
    return Cell(wording.live(rows), "" if rows.at_most else "mute", wording.stored(rows), key=key)


def _rank_findings(outline: Outline) -> int:
    errors, warnings, notes = (outline.count_findings(severity) for severity in _SEVERITIES)
    return errors * 1_000_000 + warnings * 1_000 + notes


def _show_findings(outline: Outline) -> Cell:
    """Show how many findings of the worst severity there are, and what the first of them says."""
    found = [(finding.severity, finding.message) for finding in outline.findings]
    if outline.error is not None:  # that it cannot be opened is an error
        found.insert(0, ("error", outline.error.reason))
    if not found:
        return Cell("none found", "mute")
    worst, message = min(found, key=lambda finding: _SEVERITIES.index(finding[0]))
    number = sum(severity == worst for severity, _ in found)
    is_bad = worst != "note"
    counted = Cell(wording.plural(number, worst.upper() if is_bad else worst), "warn" if is_bad else "mute")
    more = f"; {len(found) - 1:,} more" if len(found) > 1 else ""
    return cells.join(counted, Cell(f" {wording.clean(message, _MOST_SAID)}{more}"))


def _mark_newest(listing: Listing, place: Place) -> Listing:
    """Say where nothing else is asked for, the list is sorted by its newest commits; a click there turns it round."""
    if place.get(SORT):
        return listing
    asked = place.ask(**{SORT: _NEWEST, FROM: None}).asked
    body = tuple(
        replace(
            part,
            columns=tuple(
                replace(column, order="descending", target=Target("page", "", asked))
                if column.name == _NEWEST
                else column
                for column in part.columns
            ),
        )
        if isinstance(part, Grid)
        else part
        for part in listing.card.body
    )
    return replace(listing, card=replace(listing.card, body=body))


def _count_formats(catalog: Catalog) -> str:
    counts = Counter(table.format for table in catalog).most_common()
    views = f"; {wording.plural(len(catalog.views), 'view')}" if len(catalog.views) else ""
    if not counts:
        return f"no table found{views}"
    listed = ", ".join(f"{number:,} {wording.clean(name).title()}" for name, number in counts)
    return f"{wording.plural(len(catalog), 'table')}: {listed}{views}"


def _list_notes(catalog: Catalog, outlines: Sequence[Outline]) -> Iterator[Note]:
    """List what else is below the root, and what a reader of the list has to know."""
    folders = catalog.empty_folders
    if folders:
        named = []
        for folder in folders[:_MOST_FOLDERS]:
            inside = "not looked below" if folder.is_deepest else "no file"
            inside = wording.plural(folder.files, "file") if folder.files else inside
            named.append(f"{wording.clean(catalog.place(folder.path), 80)}/ ({inside})")
        shown = ", ".join(named)
        more = f", … {len(folders) - _MOST_FOLDERS:,} more" if len(folders) > _MOST_FOLDERS else ""
        number = wording.plural(len(folders), "directory holds", "directories hold")
        yield Note(f"{number} no table: {shown}{more}.", "mute")
    listed = [outline for outline in outlines if not outline.has_snapshots and outline.files is not None]
    if listed:
        files = sum(outline.files or 0 for outline in listed)
        rows, footers = wording.plural(len(listed), "table"), wording.plural(files, "file footer")
        yield Note(f"Rows of {rows} without metadata are in {footers}, which are not read here.", "mute")
    if any(
        outline.rows is not None and outline.rows.count is None and outline.rows.at_most is not None
        for outline in outlines
    ):
        yield Note("≤: deletes and keys may leave fewer rows; only reading the files shows how many.", "mute")


# --- search -------------------------------------------------------------------------------------------------------------

#: What is asked: what shall have the words, and whether manifests and footers are read for it.
WHAT, DEEP = "what", "deep"
_ANYTHING = "anything"
_FOUND_COLUMNS = (Column("table"), Column(WHAT, is_short=True), Column("found"))


def make_search(place: Place, count: int, read: Callable[[bool], SearchIndex]) -> Page:
    """Search what each of `count` tables says of itself; `read` reads that, with manifests and footers where asked to."""
    if place.get(WHAT) == _ANYTHING:
        place = place.ask(**{WHAT: None})
    is_deep, text = place.get(DEEP) == "yes", place.get(FILTER).strip()
    kinds = (_ANYTHING, *KINDS, *(DEEP_KINDS if is_deep else ()))
    fields = (
        Field(FILTER, "words", place.get(FILTER), "search", "email, order_id, write.format, 1.10.1"),
        Field(WHAT, "in", place.get(WHAT) or _ANYTHING, "choice", options=kinds),
        Field(DEEP, "who wrote it, known defects and names of files too", "yes" if is_deep else "", "check"),
    )
    form = Form(Place(None, "", "search").ask(**{FILTER: text}), fields, "search")
    crumbs = (Link("warehouse", Place()), Link("search", is_current=True))
    if not text:
        words = f"{wording.plural(count, 'table')} by name, column or property"
        note = Note(
            "The newest metadata of each table is read, and kept until it has another. Writers, known defects "
            "and names of files take its manifests and the footers of at most 200 of its data files.",
            "mute",
        )
        return Page(place, "Search", [Card("Search", words), form, Card("", "", body=(note,))], crumbs)
    index = read(is_deep)
    source = _MatchSource(index)
    matches = source.keep(text)
    if place.get(WHAT):
        matches = [at for at in matches if source.rows[at][1] == place.get(WHAT)]
    tables = len({source.rows[at][0] for at in matches})
    words = f"{wording.count(tables)} of {wording.plural(len(index.tables), 'table')} for {wording.clean(text, 80)}"
    listing = make_listing(source, place, chooses=True)
    parts: list[Part] = [Card("Search", words), form, replace(listing, form=None)]
    parts += [Card("", "", body=tuple(Note(note, "mute") for note in _list_unread(index, is_deep)))]
    if not is_deep:
        more = Link(
            "search writers, known defects and names of files too", place.ask(**{DEEP: "yes", FROM: None})
        )
        parts.append(Links((more,), "Not looked at: manifests and data files."))
    return Page(place, "Search", parts, crumbs)


def _list_unread(index: SearchIndex, is_deep: bool) -> list[str]:
    notes = []
    if index.unread:
        notes.append(
            f"Not looked into, because they cannot be read: {wording.plural(index.unread, 'table')}."
        )
    if is_deep and index.unlisted:
        many = wording.plural(index.unlisted, "table")
        notes.append(f"Names of files were not looked at in {many} of more than {MOST_FILES:,} files.")
    if is_deep:
        notes.append(
            "A known defect is listed where its writers wrote the table; the check says whether it shows."
        )
    return notes


class _MatchSource(Source):
    """What tables say of themselves: the table, what it is, and the words."""

    nouns = ("Matches", "place", "places")

    def __init__(self, index: SearchIndex) -> None:
        self.subject, self.rows = index, index.rows

    def __len__(self) -> int:
        return len(self.rows)

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        at = self._known.index(name) if name in self._known else None
        if at is None:
            raise KeyError(name)
        return [row[at] for row in self.rows]

    @property
    def _words(self) -> Sequence[str]:
        words: Sequence[str] = self.subject.words
        return words

    def to_arrow(self, positions: Sequence[int]) -> pa.Table:
        """See `Source.to_arrow`."""
        facts = tuple(Fact(name, "string", itemgetter(at)) for at, name in enumerate(self._known))
        return build_rows((self.rows[position] for position in positions), facts)

    def _grid(self, positions: Sequence[int]) -> Grid:
        rows = [
            (
                Cell(wording.clean(name), "code", target=Target("table", name)),
                Cell(kind),
                Cell(wording.clean(text), "code"),
            )
            for name, kind, text in (self.rows[at] for at in positions)
        ]
        return Grid(_FOUND_COLUMNS, tuple(rows))

    @cached_property
    def _known(self) -> Sequence[str]:
        return [column.name for column in _FOUND_COLUMNS]
