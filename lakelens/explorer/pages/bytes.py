"""Bytes with their names: of a file, of a part of it, of a record, of an encoded value in a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.linker import find_entry
from lakelens.explorer.listing import link_rows, make_listing
from lakelens.explorer.page import Link, Listing, Page, Part
from lakelens.explorer.pages.entries import MOST_BESIDE
from lakelens.explorer.place import Place
from lakelens.explorer.stored import Stored, count_entries, read_entries
from lakelens.model.bytes_view import BytesView
from lakelens.model.datafile import DataFile, IndexFile, StatisticsFile
from lakelens.model.facts.facts import Fact, Facts, build_rows
from lakelens.model.manifest import Manifest, ManifestList
from lakelens.model.stats import Encoded
from lakelens.model.storage import MetadataLogEntry, StoredFile
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Column, Grid, Note, Target
from lakelens.views.listing import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.span.span import Span

_KINDS: tuple[tuple[type, str], ...] = (
    (ManifestList, "manifest_list"),
    (Manifest, "manifest"),
    (IndexFile, "index"),
    (StatisticsFile, "statistics"),
    (MetadataLogEntry, "metadata"),
    (DataFile, "file"),
)
_COLUMNS = (Column("object"), Column("what it is"), Column("bytes", is_number=True))
_OBJECT: Facts = (
    Fact("path"),
    Fact("relative_path"),
    Fact("role"),
    Fact("size_bytes", "int64"),
    Fact("modified", "time"),
)
_SMALL = 4_096  # bytes whose leaves are all looked at
_MOST_SIBLINGS = 200_000  # parts of a structure that are walked to find those beside one

Keys = tuple[tuple[str, Link], ...]


@page("bytes")
def make_bytes(visit: Visit) -> Page:
    """The bytes that are asked for: of a file by `path`, of an entry by `manifest` and `entry`, of a value by `field`."""
    if visit.place.get("manifest"):
        return _make_encoded(visit)
    stored, place = Stored(visit), visit.place
    if not place.get("path"):
        return _make_choice(visit)
    path = stored.ask_path()
    whole, thing = stored.explain_path(path)
    name = wording.name(path)
    owner = _link_owner(place, path, thing)
    crumbs = (*((owner,) if owner is not None else ()), Link("bytes"))
    title = f"Bytes of {name}"
    if not _asks_for_part(place):
        parts = _show(whole, (owner,) if owner is not None else (), "of")
        keys: Keys = () if owner is None else (("u", owner),)
        return Page(place, title, parts, crumbs=crumbs, keys=keys)
    up = Link("all of the file", place.with_page("bytes", path=path))
    return _make_part(place, title, whole, up, (*crumbs[:-1], Link("bytes", up.place)))


def _make_choice(visit: Visit) -> Page:
    """Which files there are to choose from: what the snapshot is made of, and every object in the table's directory."""
    place = visit.place
    words = "Every byte of any file of the table, with what it means: choose one, or follow “its bytes” on a page about one."
    # no manifest is read for it
    objects = visit.keep("objects", lambda: ObjectSource(list(visit.table.tree(references=False))))
    lead = link_rows("object", lambda at: Target("bytes", objects.subject[at].path))
    return Page(place, "Bytes", [Card("Bytes", words), make_listing(objects, place, adorn=lead)])


class ObjectSource(Source):
    """The objects of a table's directory: what each is and its size, by which they are sorted too."""

    nouns = ("Objects", "object", "objects")

    def __init__(self, found: Sequence[StoredFile]) -> None:
        self.subject = self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        keys = {"object": "relative_path", "what it is": "role", "bytes": "size_bytes"}
        return [getattr(stored, keys[name]) for stored in self._found]

    @property
    def _words(self) -> Sequence[str]:
        return [f"{stored.relative_path} {stored.role}".casefold() for stored in self._found]

    @property
    def _known(self) -> Sequence[str]:
        return [column.name for column in _COLUMNS]

    def to_arrow(self, positions: Sequence[int]) -> pa.Table:
        """See `Source.to_arrow`."""
        return build_rows(self.choose(positions), _OBJECT)

    def _grid(self, positions: Sequence[int]) -> Grid:
        rows = [
            (cells.code(stored.relative_path), cells.text(stored.role), cells.size(stored.size_bytes))
            for stored in self.choose(positions)
        ]
        return Grid(_COLUMNS, tuple(rows))


def _asks_for_part(place: Place) -> bool:
    return any(place.get(name) for name in ("start", "length", "unpacked"))


def _link_owner(place: Place, path: str, thing: Any) -> Link | None:
    """The page of what has the bytes."""
    for kind, name in _KINDS:
        if isinstance(thing, kind):
            return Link(f"{name.replace('_', ' ')} {wording.name(path)}", place.with_page(name, path=path))
    if path.endswith((".json", ".json.gz")) or "/snapshot-" in path or "/schema-" in path:
        return Link(f"document {wording.name(path)}", place.with_page("metadata", path=path))
    return None


def _show(view: BytesView, links: Sequence[Link], words: str) -> list[Part]:
    """Show the line of links, then the bytes."""
    head = Listing(Card("", ""), words, tuple(links))
    return [head, view] if links else [view]


# --- a part --------------------------------------------------------------------------------------------------------------


def _make_part(place: Place, title: str, whole: BytesView, up: Link, crumbs: tuple[Link, ...]) -> Page:
    """Make a part of an explanation, with what it is in and what is beside it."""
    notes: list[Part] = []
    if place.get("unpacked"):
        at = place.get_number("unpacked")
        stored_up = Link("the stored bytes", place.ask(unpacked=None, start=at, length=None))
        try:
            _check_place(whole, at)
            whole = whole.unpacked(at)
        except ValueError:
            raise Missing(f"the bytes at {at} are not compressed", path=whole.path) from None
        except LakeError as error:
            if isinstance(error, Missing):
                raise
            notes.append(Card("", "", body=(Note(f"ERROR: {wording.clean(error)}", "warn"),)))
            return Page(place, title, notes, crumbs=(*crumbs, Link(f"byte {at}")), keys=(("u", stored_up),))
        crumbs, up = (*crumbs, Link(f"unpacked at {at}")), stored_up
        if not place.get("start"):
            return Page(place, title, _show(whole, (up,), "in"), crumbs=crumbs, keys=(("u", up),))
    start, length = place.get_number("start"), place.get_number("length")
    _check_place(whole, start)
    view = _focus(whole, start, length)
    trail = _trace(whole, view.start, view.end)
    inside = [span for span in trail[:-1] if (span.start, span.end) != (view.start, view.end)]
    links: list[tuple[str, Link]] = []
    if len(inside) > 1:
        links.append(("u", _link_span(place, f"up to {_name(inside[-1])}", inside[-1])))
        links.append(("", up))
    else:
        links.append(("u", up))
    if inside:
        before, after = _find_beside(inside[-1], view)
        links += [(",", _link_span(place, f"before: {_name(before)}", before))] if before is not None else []
        links += [(".", _link_span(place, f"after: {_name(after)}", after))] if after is not None else []
    keys = tuple((key, link) for key, link in links if key)
    shown = _show(view, [link for _, link in links], f"bytes {view.start:,} to {view.end - 1:,}")
    return Page(place, title, shown, crumbs=(*crumbs, Link(_name(trail[-1]))), keys=keys)


def _check_place(whole: BytesView, start: int) -> None:
    if not whole.start <= start < whole.end:
        there = f"there are bytes {whole.start:,} to {whole.end - 1:,}" if len(whole) else "it is empty"
        raise Missing(f"no byte {start:,}: {there}", path=whole.path)


def _focus(whole: BytesView, start: int, length: int) -> BytesView:
    """The structure of a length at a byte; the smallest around the byte that deserves its own view where there is none."""
    if not length:
        return whole.at(start)
    trail = _trace(whole, start, start + length)
    found = trail[-1]
    if (found.start, found.end) != (start, start + length):
        return whole.at(start)
    view = whole.focus(found)
    view.origin = next((span.origin for span in reversed(trail) if span.origin is not None), None)
    way = " › ".join((whole.what, *(span.label for span in trail[1:-1])))
    view.details = "; ".join(filter(None, (way if len(trail) > 1 else "", whole.details)))
    return view


def _trace(whole: Span, start: int, end: int) -> list[Span]:
    """Trace the spans around some bytes, down to the first that is exactly these."""
    trail = [whole]
    while (trail[-1].start, trail[-1].end) != (start, end):
        around = (span for span in trail[-1].iter_children() if span.start <= start and end <= span.end)
        found = next((span for span in around if len(span)), None)
        if found is None:
            break
        trail.append(found)
    return trail


def _find_beside(parent: Span, view: Span) -> tuple[Span | None, Span | None]:
    """Find what is before some bytes in their structure, and what is after; separators are passed over."""
    before = None
    for number, span in enumerate(parent.iter_children()):
        if number > _MOST_SIBLINGS:
            break
        if span.end <= view.start:
            before = span if len(span) > 1 or span.label.isalnum() else before
        elif span.start >= view.end and (len(span) > 1 or span.label.isalnum()):
            return before, span
    return before, None


def _link_span(place: Place, text: str, span: Span) -> Link:
    return Link(text, place.ask(start=span.start, length=len(span)))


def _name(span: Span) -> str:
    return wording.clean(span.label, 60) or "bytes"


# --- an entry, and a value of it -----------------------------------------------------------------------------------------


def _make_encoded(visit: Visit) -> Page:
    """Show the record of an entry, or one encoded value of it, with the others beside it."""
    stored, place = Stored(visit), visit.place
    manifest, number, entry = stored.ask_entry()
    stored.inside.check(manifest.path)
    path, name = manifest.path, wording.name(manifest.path)
    known = {encoded.field: encoded for encoded in entry.file.list_encoded()}
    field = place.get("field")
    crumbs = (
        Link("manifests", place.with_page("manifests")),
        Link(f"manifest {name}", place.with_page("manifest", path=path)),
        Link(f"entry {number}", find_entry(place, path, number)),
    )
    if field and field not in known:
        hint = f"one of {', '.join(list(known)[:20])}" if known else "it has none"
        raise Missing(
            f"no encoded value {wording.clean(field, 60)!r} in entry {number}", path=path, hint=hint
        )
    view = known[field].explain() if field else entry.bytes_view()
    title = f"{field or 'Record'} of entry {number} of {name}"
    if _asks_for_part(place):
        all_of_it = place.ask(start=None, length=None, unpacked=None)
        up = Link(f"all of {field or 'the record'}", all_of_it)
        return _make_part(place, title, view, up, (*crumbs, Link(field or "bytes", all_of_it)))
    count = count_entries(manifest) or len(read_entries(manifest)[0])
    links = list(_list_beside(place, number, count, known, field))
    keys = tuple((key, link) for key, link in links if key)
    explained = ""
    if len(view) <= _SMALL:
        named = sum(len(leaf) for leaf in view.leaves() if leaf.role not in ("damage", "unexplained"))
        explained = f"; {named} of {wording.plural(len(view), 'byte')} explained"
    beside = Listing(Card("", ""), f"beside it{explained}", tuple(link for _, link in links))
    return Page(place, title, [view, beside], crumbs=(*crumbs, Link(field or "bytes")), keys=keys)


def _list_beside(
    place: Place, number: int, count: int, known: dict[str, Encoded], field: str
) -> Iterator[tuple[str, Link]]:
    """Up to the entry, to the largest from the smallest, to the other values, to the same of the entries beside."""
    manifest = place.get("manifest")
    yield "u", Link(f"up to entry {number}", find_entry(place, manifest, number))
    partner = known[field].partner if field else ""
    if partner:
        yield "m", Link(partner, place.ask(field=partner))
    if field:
        yield "", Link("the record", place.ask(field=None))
        yield "e", Link("the record as stored", place.with_page("entry", manifest=manifest, entry=number))
    for other in islice(known, MOST_BESIDE):
        if other not in (field, partner):
            yield "", Link(other, place.ask(field=other))
    for key, at in ((",", number - 1), (".", number + 1)):
        if 0 <= at < count:
            yield key, Link(f"the same of entry {at}", place.ask(entry=at))
