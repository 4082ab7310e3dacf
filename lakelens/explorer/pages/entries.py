"""Entries of manifests: what is said of one beside its manifest, and its record as it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from lakelens.errors import LakeError, Missing
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.linker import find_entry
from lakelens.explorer.listing import lead_on, make_pager
from lakelens.explorer.page import Link, Listing, Page, Part
from lakelens.explorer.pages.files import target_file
from lakelens.explorer.stored import Stored, count_entries, read_entries, read_entry
from lakelens.model.manifest import Entry, Manifest
from lakelens.model.stats import Encoded
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Cell, Column, Fact, Grid, Note, Target
from lakelens.views.cards.file import grid_bounds
from lakelens.views.hexdump.html import find_target

_MOST_DEEP = 8  # levels of a record
_FIELDS = 100  # of a record on a page
#: Encoded values that are named beside an entry, and beside one of them; all are in the record.
MOST_BESIDE = 24


def count_deleted(stored: Stored, entry: Entry) -> Cell | None:
    """Count how many rows of an entry's file the pinned snapshot deletes; None where that is not asked of it."""
    if entry.file.content != "data" or stored.snapshot is None:
        return None
    live = stored.find_live(entry.file.path)
    if live is None:
        return Cell("not live", "mute")
    try:
        matches = live.deletes
    except LakeError:
        return Cell("cannot be read", "warn")
    if not len(matches):
        return Cell("0", "mute")
    target = Target("page", "deletes", (("path", entry.file.path),))
    if len(matches) == 1 and matches[0].cardinality is not None:
        return replace(cells.removed(matches[0].cardinality), target=target)
    most = sum(match.at_most or 0 for match in matches)
    known = min(most, live.record_count) if live.record_count is not None else most
    return Cell(f"{wording.change(-known)} at most", "del", target=target)


def show_chosen(
    visit: Visit, manifest: Manifest, number: int, count: int
) -> tuple[tuple[Part, ...], tuple[tuple[str, Link], ...]]:
    """Show the chosen entry: its links first, then its figures, then its bounds; and the keys of its links."""
    place = visit.place
    try:
        entry = read_entry(manifest, number)
    except Missing:
        raise
    except LakeError as error:
        return (
            Card(
                f"Entry {number}", "", body=(Note(f"ERROR, cannot be read: {wording.clean(error)}", "warn"),)
            ),
        ), ()
    file, path = entry.file, manifest.path
    offset = dict(target_file(file).asked)
    deletes = count_deleted(Stored(visit), entry)
    record = place.with_page("entry", manifest=path, entry=number)
    links = [
        Link("the file", place.with_page("file", path=file.path, **offset)),
        Link("its bytes", place.with_page("bytes", path=file.path, start=offset.get("offset"))),
        Link("the record's bytes", place.with_page("bytes", manifest=path, entry=number)),
        Link("its deletes", place.with_page("deletes", path=file.path, **offset)),
    ]
    writer = entry.snapshot_id if entry.snapshot_id is not None else None
    if writer is not None:
        links.append(Link("who wrote it", replace(place, snapshot=str(writer), page="", asked=())))
    links.append(
        Link(
            "who wrote it" if writer is None else "its biography",
            place.with_page("biography", path=file.path),
        )
    )
    links.append(Link("entry as stored", record))
    gone = _describe_gone(visit, deletes)
    facts = [
        Fact("rows", cells.number(file.record_count), gone),
        Fact("bytes", cells.size(file.size_bytes), wording.clean(file.file_format)),
    ]
    where = ", ".join(_describe_place(entry))
    encoded = [
        Link(encoded.field, record.with_page("bytes", manifest=path, entry=number, field=encoded.field))
        for encoded in islice(file.list_encoded(), MOST_BESIDE)
    ]
    near = [
        (key, Link(f"entry {at}", find_entry(place, path, at)))
        for key, at in ((",", number - 1), (".", number + 1))
        if 0 <= at < count
    ]
    bounds = file.bounds
    body: tuple[Body, ...] = (_link_bounds(grid_bounds(bounds), bounds, path, number),) if bounds else ()
    card = Card(f"Entry {number}", where, wording.clean(file.path), facts=tuple(facts))
    parts: list[Part] = [*lead_on(card, links)]
    parts.append(
        Listing(Card("", "", body=body), "encoded values" if encoded else "no encoded values", tuple(encoded))
    )
    parts.append(Listing(Card("", ""), "beside it", tuple(link for _, link in near)))
    return tuple(parts), (*near, ("e", Link("entry as stored", record)))


def _describe_gone(visit: Visit, deletes: Cell | None) -> str:
    """Describe what the pinned snapshot says of the rows of an entry's file, in words that name the snapshot."""
    if deletes is None or visit.snapshot is None:
        return ""
    state = f"at {visit.snapshot.id}"
    if deletes.text.startswith("not "):
        return f"the file is not live {state}"
    return "none deleted " + state if deletes.text == "0" else f"{deletes.text} deleted {state}"


def _link_bounds(grid: Grid, bounds: Mapping[str, Any], path: str, number: int) -> Grid:
    """Bounds whose values lead to their bytes, where each has bytes of its own."""
    names = [column.name for column in grid.columns]
    rows = []
    for row, column in zip(grid.rows, bounds.values(), strict=False):
        cells_of_row = list(row)
        for label, data in (("lower", column.lower_raw), ("upper", column.upper_raw)):
            if data is not None and label in names:
                at = names.index(label)
                asked = (
                    ("manifest", path),
                    ("entry", str(number)),
                    ("field", f"{label}_bounds.{column.field_id}"),
                )
                cells_of_row[at] = replace(cells_of_row[at], target=Target("bytes", "", asked))
        rows.append(cells_of_row)
    kept = [at for at, name in enumerate(names) if name in ("column", "lower", "upper", "nulls")]
    columns = tuple(grid.columns[at] for at in kept)
    return replace(grid, columns=columns, rows=tuple(tuple(row[at] for at in kept) for row in rows))


def _describe_place(entry: Entry) -> Iterator[str]:
    """Describe the status of an entry, and where its file is in the table."""
    file = entry.file
    yield entry.status
    if file.content != "data":
        yield file.content.replace("_", " ")
    if file.partition:
        yield wording.clean(file.partition)
    if file.bucket is not None:
        yield f"bucket {file.bucket}" + (f" of level {file.level}" if file.level is not None else "")


# --- one entry as stored -------------------------------------------------------------------------------------------------


@page("entry")
def make_entry(visit: Visit) -> Page:
    """The record of one entry as it is stored; each encoded value leads to its bytes."""
    stored, place = Stored(visit), visit.place
    manifest, number, entry = stored.ask_entry()
    path, name = manifest.path, wording.name(manifest.path)
    fields = {encoded.field: encoded for encoded in entry.file.list_encoded()}
    held = list(_flatten(entry.raw))
    start = min(place.get_number("from"), max(len(held) - 1, 0)) // _FIELDS * _FIELDS
    rows = []
    for label, value in held[start : start + _FIELDS]:
        field = label.removeprefix("_FILE.").removeprefix("data_file.")
        known = fields.get(field)
        asked = (("manifest", path), ("entry", str(number)), ("field", field))
        cell = cells.NULL if value is None else cells.value(value)
        target = find_target(label.rpartition(".")[2], value) if known is None else Target("bytes", "", asked)
        rows.append((cells.code(label), replace(cell, target=target), _show_decoded(known)))
    grid = Grid((Column("field"), Column("stored"), Column("decoded")), tuple(rows))
    card = Card(
        "Entry as stored",
        f"entry {number} of {name}, {entry.status}",
        wording.clean(manifest.path),
        body=(grid,),
    )
    count = count_entries(manifest) or len(read_entries(manifest)[0])
    steps = ((",", number - 1), (".", number + 1))
    near = tuple(
        (key, Link(f"entry {at}", place.with_page("entry", manifest=path, entry=at)))
        for key, at in steps
        if 0 <= at < count
    )
    up = Link(f"entry {number} beside its manifest", find_entry(place, path, number))
    links = (
        up,
        Link("its bytes", place.with_page("bytes", manifest=path, entry=number)),
        Link(
            "the file",
            place.with_page("file", path=entry.file.path, **dict(target_file(entry.file).asked)),
        ),
        *(link for _, link in near),
    )
    crumbs = (
        Link("manifests", place.with_page("manifests")),
        Link(f"manifest {name}", place.with_page("manifest", path=path)),
        Link(f"entry {number}", up.place),
        Link("as stored"),
    )
    pager = make_pager(place, start, len(held), _FIELDS)
    words = wording.plural(len(held), "field")
    if len(held) > _FIELDS:
        words = f"{start} to {start + len(rows) - 1} of {words}"
    title = f"Entry {number} of {name}"
    head = lead_on(replace(card, body=()), links)
    body = Listing(Card("", "", body=card.body), words, pager)
    return Page(place, title, [*head, body], crumbs=crumbs, keys=(("u", up), *near))


def _show_decoded(known: Encoded | None) -> Cell:
    """Show what bytes of a record decode to; nothing for what is no encoded value, and for bytes whose parts are shown."""
    if known is None:
        return Cell("")
    try:
        value = known.read()
    except LakeError as error:
        return Cell(f"ERROR: {wording.clean(error, 200)}", "warn")
    return Cell("") if isinstance(value, bytes) else cells.value(value)


def _flatten(raw: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Flatten the fields of a record by their names, those of records inside of it one by one; a map by columns too."""
    for name, value in raw.items():
        label = f"{before}{name}"
        if isinstance(value, Mapping) and depth < _MOST_DEEP:
            yield from _flatten(value, f"{label}.", depth + 1)
        elif name in ("lower_bounds", "upper_bounds") and isinstance(value, list):
            for pair in value:
                if isinstance(pair, Mapping) and {"key", "value"} <= pair.keys():
                    yield f"{label}.{pair['key']}", pair["value"]
        else:
            yield label, value
