"""Documents as they are stored, and the files beside the data: index files and statistics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from lakelens.errors import LakeError, Missing
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import lead_on, link_rows, make_listing
from lakelens.explorer.page import Link, Listing, Page, Part
from lakelens.explorer.pages.files import name_state
from lakelens.explorer.place import Place
from lakelens.explorer.stored import Stored, is_named
from lakelens.model.collections import Items
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Note, Target
from lakelens.views.hexdump.html import find_target
from lakelens.views.listing import PairSource, make_source
from lakelens.views.present import present

_MOST_JSON = 6_000  # characters of a document that is shown as it is
_DEEPEST = 64
_MOST_VERSIONS = 20


# --- index files and statistics ------------------------------------------------------------------------------------------


@page("index")
def make_index(visit: Visit) -> Page:
    """An index file: what is in it; without a path the index files of the snapshot."""
    stored, place = Stored(visit), visit.place
    if not place.get("path"):
        found = visit.snapshot.index_files if visit.snapshot is not None else ()
        return _make_list(visit, "Index files", found, "index")
    file = stored.find_index(stored.ask_path())
    name = wording.name(file.path)
    parts: list[Part] = [*lead_on(present(file, 2), (_link_bytes(place, file.path),))]
    if file.ranges:
        parts.append(_list_vectors(place, file))
    crumbs = (Link("index files", place.with_page("index")), Link(name))
    return Page(place, name, parts, crumbs=crumbs)


def _list_vectors(place: Place, file: Any) -> Listing:
    """List the vectors in an index file, each leading to its bytes and to its data file."""
    ranges = list(file.ranges)
    rows = [
        (
            wording.name(str(vector.get("data_file") or "")),
            {name: vector.get(name) for name in ("offset", "length", "cardinality")},
        )
        for vector in ranges
    ]

    def find_data(at: int) -> Target:
        return Target("page", "deletes", (("path", str(ranges[at].get("data_file") or "")),))

    def find_bytes(at: int) -> Target:
        offset = ranges[at].get("offset")
        asked = (("start", str(offset)),) if isinstance(offset, int) else ()
        return Target("bytes", file.path, asked)

    source = PairSource(file, rows, ("data file", "vector"), ("vector", "vectors"))
    link_data, link_bytes = link_rows("data file", find_data), link_rows("vector", find_bytes)
    return make_listing(
        source, place, adorn=lambda drawn, positions: link_bytes(link_data(drawn, positions), positions)
    )


@page("statistics")
def make_statistics(visit: Visit) -> Page:
    """A statistics file; without a path those of the snapshot."""
    stored, place = Stored(visit), visit.place
    if not place.get("path"):
        found = visit.snapshot.statistics if visit.snapshot is not None else ()
        return _make_list(visit, "Statistics", found, "statistics")
    file = stored.find_statistics(stored.ask_path())
    name = wording.name(file.path)
    links = [_link_bytes(place, file.path)]
    if file.snapshot_id is not None:
        links.append(
            Link(
                f"snapshot {file.snapshot_id}",
                replace(place, snapshot=str(file.snapshot_id), page="", asked=()),
            )
        )
    parts: list[Part] = [*lead_on(present(file, 2), links)]
    blobs = file.raw.get("blob-metadata") if isinstance(file.raw, Mapping) else None
    if isinstance(blobs, list) and blobs:
        rows = [(str(place_of), blob) for place_of, blob in enumerate(blobs)]
        source = PairSource(
            file, rows, ("number", "blob"), ("blob", "blobs"), lambda _, blob: cells.json_value(blob)
        )
        parts.append(make_listing(source, place))
    crumbs = (Link("statistics", place.with_page("statistics")), Link(name))
    return Page(place, name, parts, crumbs=crumbs)


def _make_list(visit: Visit, title: str, found: Sequence[Any], kind: Any) -> Page:
    """Make the files of one kind, each leading to its page."""
    place = visit.place
    if not len(found):
        return Page(
            place, title, [Card(title, f"none in {name_state(visit)}")], crumbs=(Link(title.lower()),)
        )
    adorn = link_rows("file", lambda at: Target(kind, found[at].path))
    assert isinstance(found, Items)
    parts: list[Part] = [
        Card(title, f"of {name_state(visit)}"),
        make_listing(make_source(found), place, adorn=adorn),
    ]
    return Page(place, title, parts, crumbs=(Link(title.lower()),))


def _link_bytes(place: Place, path: str) -> Link:
    return Link("its bytes", place.with_page("bytes", path=path))


# --- documents -----------------------------------------------------------------------------------------------------------


@page("metadata")
def make_metadata(visit: Visit) -> Page:
    """A document as it is stored, key by key: the current one, or that of a path; and the documents beside it."""
    stored, place = Stored(visit), visit.place
    document, path, notes = _read_document(stored, place)
    steps = [step for step in place.get("at").split("/") if step] if place.get("at") else []
    name = wording.name(path) if path else "Metadata"
    whole = place.ask(at=None, **{"from": None, "q": None, "sort": None})
    found, trail = _descend(document, steps, whole)
    links = list(_list_links(stored, place, path))
    card = Card("Document", _describe(found, name, steps), wording.clean(path or ""), body=tuple(notes))
    parts: list[Part] = [*lead_on(card, links)]
    parts += _show_document(place, document, found, steps, visit)
    if not steps:
        parts += _list_documents(visit)
    crumbs = (Link(name, whole if steps else None), *trail)
    keys = (("u", Link("up", place.ask(at="/".join(steps[:-1]) or None, **{"from": None}))),) if steps else ()
    return Page(place, name, parts, crumbs=crumbs, keys=keys)


def _read_document(stored: Stored, place: Place) -> tuple[Any, str | None, list[Body]]:
    """Read the document that is asked for, its path, and what is wrong with it."""
    table = stored.table
    if not place.get("path"):
        return table.metadata, None if _has_many(table.metadata) else table.metadata_path, []
    path = stored.ask_path()
    log = next((entry for entry in table.metadata_log if is_named(entry, path)), None)
    try:
        now = path if log is None else log.path
        if table.storage is None or not stored.inside.holds(now):
            raise Missing("no document of this table", path=path)
        return table.storage.read_document(now), path, []
    except Missing:
        raise
    except LakeError as error:
        return None, path, [Note(f"ERROR, cannot be read: {wording.clean(error)}", "warn")]


def _has_many(metadata: Mapping[str, Any]) -> bool:
    """Check whether what a table has as its metadata are several documents, by their names."""
    return bool(metadata) and all("/" in name for name in metadata)


def _descend(document: Any, steps: Sequence[str], whole: Place) -> tuple[Any, tuple[Link, ...]]:
    """Say what is at a place of a document, and the way to it. Raises `Missing` for a place that there is not."""
    found, trail = document, []
    for number, step in enumerate(steps[:_DEEPEST]):
        try:
            found = found[int(step)] if isinstance(found, list) else found[_decode(step)]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Missing(
                f"the document has no {wording.clean('/'.join(steps), 200)}", path=whole.get("path")
            ) from None
        is_last = number == len(steps) - 1
        leads = None if is_last else whole.ask(at="/".join(steps[: number + 1]))
        trail.append(Link(wording.clean(_decode(step), 60), leads))
    return found, tuple(trail)


def _encode(step: str) -> str:
    """Encode a key as a step of a place: as JSON Pointer (RFC 6901) escapes it.

    >>> _encode("a/b~"), _decode("a~1b~0")
    ('a~1b~0', 'a/b~')
    """
    return step.replace("~", "~0").replace("/", "~1")


def _decode(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _describe(found: Any, name: str, steps: Sequence[str]) -> str:
    where = f"{'/'.join(_decode(step) for step in steps)} of {name}" if steps else name
    if isinstance(found, Mapping):
        return f"{where}: {wording.plural(len(found), 'key')}"
    return f"{where}: {wording.plural(len(found), 'item')}" if isinstance(found, list) else where


def _show_document(
    place: Place, document: Any, found: Any, steps: Sequence[str], visit: Visit
) -> Iterator[Part]:
    """Show the keys of an object or the items of a list in pages, and as JSON what is short."""
    known = visit.table.vocabulary
    if isinstance(found, Mapping | list) and len(found):
        pairs = (
            [*found.items()]
            if isinstance(found, Mapping)
            else [(str(at), one) for at, one in enumerate(found)]
        )
        nouns = ("key", "keys") if isinstance(found, Mapping) else ("item", "items")

        def lead(at: int) -> Target:
            step = _encode(str(pairs[at][0]))
            asked = place.ask(at="/".join((*steps, step)), **{"from": None, "q": None, "sort": None}).asked
            return Target("page", "metadata", asked)

        def name_value(at: int) -> Target | None:
            label, value = str(pairs[at][0]), pairs[at][1]
            return lead(at) if isinstance(value, Mapping | list) and value else find_target(label, value)

        def show(name: str, value: Any) -> Any:
            where = () if _has_many(document or {}) else (*map(_decode, steps), name)
            return cells.stored(value, where, known)

        source = PairSource(found, [(str(name), value) for name, value in pairs], nouns=nouns, show=show)
        yield make_listing(source, place, adorn=link_rows("value", name_value))
    elif isinstance(found, Mapping | list):
        yield Card("", "", body=(Note("it is empty"),))
    elif found is not None:
        yield Card("", "", body=(cells.document(found, _MOST_JSON, how=""),))
        return
    text = json.dumps(found, default=str) if _is_short(found) else ""
    if text and len(text) <= _MOST_JSON:
        yield Card("JSON", "as it is", body=(cells.document(found, 2 * _MOST_JSON, how=""),))


def _is_short(found: Any) -> bool:
    """Check whether something may be written out to find out how long it is."""
    return (
        isinstance(found, Mapping | list)
        and bool(found)
        and len(found) <= 60
        and len(str(found)[:100_000]) < 100_000
    )


def _list_links(stored: Stored, place: Place, path: str | None) -> Iterator[Link]:
    if path:
        yield _link_bytes(place, path)
    table = stored.table
    if place.get("path"):
        yield Link("the metadata of today", place.with_page("metadata"))
    if table.metadata_path and table.metadata_path != path:
        yield Link(
            f"document {wording.name(table.metadata_path)}",
            place.with_page("metadata", path=table.metadata_path),
        )
    snapshot = stored.snapshot
    if (
        snapshot is not None
        and snapshot.id is not None
        and snapshot.path
        and snapshot.path not in (path, table.metadata_path)
    ):
        with suppress(LakeError):
            yield Link(
                f"document of {name_state(stored.visit)}", place.with_page("metadata", path=snapshot.path)
            )


def _list_documents(visit: Visit) -> Iterator[Part]:
    """List the earlier versions of the metadata; where the properties of the table come from."""
    log = visit.table.metadata_log
    if len(log):
        newest = log[-_MOST_VERSIONS:][::-1]
        rows = [
            (
                replace(cells.code(earlier.recorded_path), target=Target("metadata", earlier.path)),
                cells.moment(earlier.timestamp),
            )
            for earlier in newest
        ]
        body: list[Body] = [cells.grid(("metadata-file", "timestamp"), rows, noun="version")]
        if len(log) > len(newest):
            leads = Target("page", "metadata", (("at", "metadata-log"),))
            body.append(Note(f"all {wording.count(len(log))} in the document", target=leads))
        yield Card("Earlier versions", wording.plural(len(log), "earlier version"), body=tuple(body))
    properties = visit.table.properties
    if visit.table.traits.files_are_listed and properties and not visit.place.get("path"):
        yield present(properties)
