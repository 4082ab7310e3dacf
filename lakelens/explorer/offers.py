"""What stands before and beside an answer: what a check would read, what can be asked in SQL, what a procedure takes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lakelens.analysis.explain.completing import list_fields
from lakelens.analysis.timeline.timeline import choose_marks
from lakelens.errors import LakeError
from lakelens.explorer.answers import ask, find_check, list_words
from lakelens.explorer.page import Field, Form, Link, Links, Part, Section
from lakelens.model.table import Table
from lakelens.querying import VIEWS, find_columns, list_view_columns
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Card, Cell, Note

if TYPE_CHECKING:
    from lakelens.analysis.check.check import Check
    from lakelens.analysis.space.holders import Expiry
    from lakelens.analysis.space.space import Space
    from lakelens.explorer.explorer import Visit
    from lakelens.model.maintenance import Option

# what the role of a file that holds rows, or deletes them, ends with
_ROWS = frozenset(("data", "delete", "vectors"))


@dataclass(frozen=True, slots=True)
class Price:
    """The files and bytes of the metadata and of what holds rows; `is_cut` where there are more than were listed."""

    metadata_files: int
    metadata: int
    data_files: int
    data: int
    is_cut: bool = False

    @property
    def whole(self) -> int:
        """The bytes of everything."""
        return self.metadata + self.data

    @property
    def metadata_words(self) -> str:
        """The documents, lists and manifests, with their bytes."""
        return self._format(self.metadata_files, self.metadata)

    @property
    def data_words(self) -> str:
        """The data and delete files, with their bytes."""
        return self._format(self.data_files, self.data)

    @property
    def footer_words(self) -> str:
        """How many files have a footer to read."""
        return f"the ends of {self._least}{wording.plural(min(self.data_files, 1_000), 'file')}"

    @property
    def _least(self) -> str:
        return "at least " if self.is_cut else ""

    def _format(self, files: int, size: int) -> str:
        return f"{self._least}{wording.plural(files, 'file')}, {wording.size(size)}"


def find_price(table: Table) -> Price:
    """Find what a check would read.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> price = find_price(table)
    >>> price.whole == sum(file.size_bytes for file in table.tree(references=False).files)
    True
    """
    return ask(table, "price", lambda: _measure(table))


def _measure(table: Table) -> Price:
    tree = table.tree(references=False)
    rows = [f.size_bytes for f in tree.files if f.role.removesuffix(" file").rpartition(" ")[2] in _ROWS]
    size = sum(file.size_bytes for file in tree.files)
    return Price(len(tree.files) - len(rows), size - sum(rows), len(rows), sum(rows), tree.truncated)


def offer_check(visit: Visit) -> list[Part]:
    """Offer a check: what would be looked at, its price, and what starts it."""
    price = find_price(visit.table)
    rows = (
        (
            Cell("totals of snapshots, counts and ranges of manifests, refs, hints"),
            Cell(price.metadata_words),
        ),
        (Cell("that every file is there and as long as recorded"), Cell("one listing")),
        (Cell("footers of data files, of more than a thousand a sample"), Cell(price.footer_words)),
        (Cell("the rows: bounds, counts of values and nulls, keys, order"), Cell(price.data_words)),
    )
    grid = cells.grid(("what is compared with what is there", "what that reads"), rows)
    known = find_check(visit.table)
    notes: list[Note] = []
    if known is not None:
        target = named.page("check", run="yes", data="yes" if known.has_rows else None)
        notes = [Note(f"The check that was run here says: {known.verdict}", "mute", target=target)]
    sentence = (
        "not run. Every figure that the metadata records, compared with what it is about; nothing is written"
    )
    card = Card("Check", sentence, body=(grid, *notes))
    return [card, _make_button(visit, price, data=False), _make_button(visit, price, data=True)]


def offer_rows(visit: Visit, check: Check) -> list[Part]:
    """Offer to read the rows too, below a check that did not."""
    return [] if check.has_rows else [_make_button(visit, find_price(visit.table), data=True)]


def _make_button(visit: Visit, price: Price, *, data: bool) -> Form:
    if data:
        place = visit.place.with_page("check", run="yes", data="yes")
        return Form(place, (), "Check everything", f"reads about {wording.size(price.whole)}")
    place = visit.place.with_page("check", run="yes")
    return Form(place, (), "Check the metadata", f"reads about {wording.size(price.metadata)}, and footers")


# --- SQL ------------------------------------------------------------------------------------------------------------------

_QUERIES = (
    (
        "what there is of each content",
        "SELECT content, count(*) AS files, sum(size_bytes) AS bytes FROM files GROUP BY content",
    ),
    ("the smallest files", "SELECT path, record_count, size_bytes FROM files ORDER BY size_bytes LIMIT 20"),
    (
        "bytes by partition",
        "SELECT partition, count(*) AS files, sum(size_bytes) AS bytes FROM files GROUP BY partition ORDER BY bytes DESC",
    ),
    (
        "commits by operation",
        "SELECT operation, count(*) AS commits, max(committed_at) AS last FROM snapshots GROUP BY operation",
    ),
    ("entries by status", "SELECT status, count(*) AS entries FROM entries GROUP BY status"),
)
_OF_FILES = (
    "files and entries have structs by column: lower_bounds['id'], upper_bounds['id'], null_counts['id'], "
    "partition_values['p']. They and manifests are those of the snapshot that this page is pinned to."
)


def guide_query(visit: Visit) -> list[Part]:
    """Guide a reader to a query: some that lead to their answers, and what can be asked."""
    has_snapshots = visit.table.traits.has_snapshots
    links = [
        Link(words, visit.place.with_page("sql", query=query))
        for words, query in _QUERIES
        if has_snapshots or " FROM files" in query
    ]
    columns = find_columns(visit.table, visit.snapshot)
    rows = [
        (cells.code(view), Cell(wording.clean(", ".join(list_view_columns(view, columns)), 4_000), "code"))
        for view in VIEWS
    ]
    views = Card("", _OF_FILES, body=(cells.grid(("view", "columns"), rows, is_open=True),))
    return [Links(tuple(links), "Try:"), Section("Views", "what can be asked", (views,))]


# --- conditions -----------------------------------------------------------------------------------------------------------


def guide_condition(visit: Visit) -> list[Part]:
    """Guide a reader to a condition: the columns, and for each the least and the greatest value that is known of it."""
    rows = []
    words = list_words(visit.table, has_values=True)
    for field, (name, _, values) in zip(list_fields(visit.table).values(), words, strict=False):
        ends = (
            [
                Cell(
                    wording.clean(value, 40),
                    "exact",
                    target=named.page(visit.place.page, where=f"{name} {sign} {value}"),
                )
                for value, sign in ((values[0], "<="), (values[-1], ">="))
            ]
            if values
            else [Cell("")] * 2
        )
        rows.append((cells.code(name), Cell(wording.clean(str(field.type), 40), "code"), *ends))
    grid = cells.grid(("column", "type", "least", "greatest"), rows, is_open=True)
    about = "what a condition can name; the values are of partitions and bounds, each leads to a condition"
    return [Section("Columns", about, (Card("", "", body=(grid,)),))]


# --- maintenance procedures ------------------------------------------------------------------------------------------------

_FEW = 5  # options of a procedure that are not folded
_MOST_STEPS = 40  # times that the slider stops at
_CHOICES = ("", "true", "false")


def offer_procedures(visit: Visit) -> list[Part]:
    """Offer the procedures of the table's format; of one that is chosen the options, and what each time would free."""
    place, procedures = visit.place, visit.table.procedures
    chosen = procedures.get(place.get("procedure"))
    if chosen is None:
        rows = [
            (
                Cell(known.name, "code", target=named.page("dry_run", procedure=known.name)),
                Cell(known.meaning),
            )
            for known in procedures.values()
        ]
        if not rows:
            title = visit.table.traits.title
            return [Card("", "", body=(Note(f"a {title} table has no maintenance procedures", "mute"),))]
        pasted = Field(
            "procedure", "or the statement", place.get("procedure"), "text", "as it stands in a runbook"
        )
        form = Form(
            place.with_page("dry_run", run="yes"), (pasted,), "What would it do?", "nothing is written"
        )
        if place.get("run"):
            return [Links((Link("all procedures", place.with_page("dry_run")),), ""), form]
        return [
            Card("", "", body=(cells.grid(("procedure", "what it is for"), rows, is_open=True),)),
            form,
        ]
    fields = [_make_field(option, place.get(f"o.{option.name}")) for option in chosen.options]
    fields.sort(key=lambda field: field.label != "older_than")  # the first one is what the slider sets
    steps = (
        _list_steps(visit)
        if chosen.name.startswith("expire_snap") and fields[0].label == "older_than"
        else []
    )
    form = Form(
        place.with_page("dry_run", procedure=chosen.name, run="yes"),
        tuple(fields[:_FEW]),
        "What would it do?",
        "nothing is written",
        tuple(fields[_FEW:]),
        tuple((text, words) for text, words, _ in steps) if len(steps) > 1 else (),
    )
    line = Links((Link("all procedures", place.with_page("dry_run")),), f"{chosen.name}: {chosen.meaning}")
    return [line, form, *([] if place.get("run") else _show_steps(steps, visit))]


def _make_field(option: Option, value: str) -> Field:
    expected = option.default or ("" if option.is_required else "not set")
    meaning = f"{option.meaning}, required" if option.is_required else option.meaning
    if option.kind == "boolean":
        small = f"{meaning}; {option.default} where it is not set" if option.default else meaning
        return Field(f"o.{option.name}", option.name, value, "choice", options=_CHOICES, small=small)
    return Field(f"o.{option.name}", option.name, value, "text", expected, small=meaning)


def _find_space(table: Table) -> Space:
    """Find where the bytes are, worked out once."""
    return ask(table, ("space", None), table.space)


def _list_steps(visit: Visit) -> list[tuple[str, str, Expiry]]:
    """List the times at which more goes: each as text, what it frees in words, and as it was found."""
    try:
        space = _find_space(visit.table)
    except LakeError:
        return []
    marks = choose_marks(visit.table.history.marks, _MOST_STEPS)
    times = [datetime.fromtimestamp(mark.time / 1_000, UTC) for mark in marks]
    steps: list[tuple[str, str, Expiry]] = []
    for time in dict.fromkeys(times):
        freed = space.find_freed(time + timedelta(milliseconds=1))
        if steps and freed.snapshots == steps[-1][2].snapshots:
            continue  # what a ref or a consumer keeps: nothing more goes
        words = (
            f"{wording.plural(freed.snapshots, 'snapshot')} would go, "
            f"{wording.size(freed.size_bytes)} in {wording.plural(freed.files, 'file')} would be free"
        )
        steps.append((freed.before.isoformat(sep=" ", timespec="milliseconds")[:23], words, freed))
    return steps


def _show_steps(steps: list[tuple[str, str, Expiry]], visit: Visit) -> list[Part]:
    """Show what each time frees, each with its plan; and what a branch or tag alone keeps."""
    if not any(freed.snapshots for _, _, freed in steps):
        return []
    sizes = [freed.size_bytes for _, _, freed in steps]
    bars = cells.shares(sizes, [max(sizes)] * len(sizes))
    rows = [
        (
            Cell(
                text,
                target=named.page(
                    "dry_run", procedure="expire_snapshots", **{"o.older_than": text}, run="yes"
                ),
            ),
            cells.number(freed.snapshots),
            cells.size(freed.size_bytes),
            bar,
            cells.number(freed.files),
        )
        for (text, _, freed), bar in zip(steps, bars, strict=True)
    ]
    grid = cells.grid(("older than, UTC", "snapshots go#", "bytes freed#", "", "files#"), rows, is_open=True)
    words = "what refs and consumers keep stays; the engine's own rules (retain_last, ages of refs) are in the plan"
    parts: list[Part] = [Section("What expiring would free", words, (Card("", "", body=(grid,)),))]
    kept = [
        held for held in _find_space(visit.table).by_ref if held.kind in ("branch", "tag") and held.size_bytes
    ]
    if kept:
        dropped = [
            (Cell(wording.clean(held.name, 80)), cells.size(held.size_bytes), cells.number(held.files))
            for held in kept
        ]
        grid = cells.grid(("dropped", "bytes freed#", "files#"), dropped, is_open=True)
        heading = "What dropping a branch or a tag would free"
        parts.append(Section(heading, "each by itself", (Card("", "", body=(grid,)),)))
    return parts
