"""The files of a snapshot, one file, and what deletes rows of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from lakelens.errors import LakeError, Missing
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.linker import find_entry
from lakelens.explorer.listing import FROM, SIZE, WITH, lead_on, link_rows, make_listing, make_pager
from lakelens.explorer.page import Link, Listing, Page, Part
from lakelens.explorer.place import Place
from lakelens.explorer.stored import Stored, is_named
from lakelens.model.collections import Items
from lakelens.model.datafile import DataFile
from lakelens.model.deletes import DeleteMatch, DeleteMatches
from lakelens.model.fileset import FileSet
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Column, Note, Target
from lakelens.views.cards.fileset import describe_vectors
from lakelens.views.listing import Drawn, make_source
from lakelens.views.present import present

_MOST_REACHED = 2_000  # data files that are asked whether a delete file reaches them


def target_file(file: DataFile) -> Target:
    """The file as a target; of a vector with its place in its file."""
    offset = getattr(file, "content_offset", None)
    return Target(
        "file", file.path or file.recorded_path, () if offset is None else (("offset", str(offset)),)
    )


@page("files")
def make_files(visit: Visit) -> Page:
    """List the data files and delete files of the snapshot, in pages."""
    whole = Stored(visit).files
    files, more = _choose_reached(visit, whole)
    source = make_source(files)
    link_files = link_rows("file", lambda place: target_file(files[place]))

    def add_commit(drawn: Drawn, positions: Sequence[int]) -> Drawn:
        """Add which commit added each file, as a column, where the format says that."""
        drawn = link_files(drawn, positions)
        added = [files[position].snapshot_id for position in positions]
        if not any(added):
            return drawn
        for row, commit in zip(drawn.rows, added, strict=True):
            row.append(
                cells.ABSENT
                if commit is None
                else replace(cells.code(str(commit)), target=Target("snapshot", str(commit)))
            )
        return drawn._replace(
            names=[*drawn.names, "added by"], columns=[*drawn.columns, Column("added by", is_short=True)]
        )

    listing = make_listing(source, visit.place, adorn=add_commit, chooses=True, more=more)
    size = f"{wording.plural(len(whole), 'file')}, {wording.size(whole.size_bytes)}"
    vectors = describe_vectors(whole)
    head = Card("Files", f"{size}, of {name_state(visit)}{f'; {vectors}' if vectors else ''}")
    return Page(visit.place, "Files", [head, listing], crumbs=(Link("files"),))


def _choose_reached(visit: Visit, files: FileSet) -> tuple[FileSet, tuple[Link, ...]]:
    """The files, or only those of whose rows some are deleted where that is asked for, and the link to the others.

    Each file is asked what deletes from it, so of more files than a few thousand the choice is not offered.
    """
    is_asked = visit.place.get(WITH) == "deletes"
    bare = visit.place.ask(**{WITH: None, FROM: None})
    has_deletes = visit.snapshot is not None and (
        bool(visit.snapshot.deletion_vectors)
        or any(content not in ("data", "changelog") for (content,) in files.pick("content"))
        or bool(visit.snapshot.known_vector_count)
    )
    if not is_asked:
        is_offered = has_deletes and len(files) <= _MOST_REACHED
        return files, (Link("only with deletes", bare.ask(**{WITH: "deletes"})),) if is_offered else ()
    back = (Link("with and without deletes", bare),)
    if len(files) > _MOST_REACHED:
        return files, back

    def choose() -> FileSet:
        return files.take(
            [at for at, file in enumerate(files) if file.content == "data" and len(file.deletes)]
        )

    return visit.keep(("reached", visit.place.snapshot), choose), back


def name_state(visit: Visit) -> str:
    """Name what a page is pinned to, in words."""
    if visit.snapshot is None:
        return "a table without a snapshot"
    return "the listing" if visit.snapshot.id is None else f"snapshot {visit.snapshot.id}"


@page("file")
def make_file(visit: Visit) -> Page:
    """One file: where everything about it is, what the metadata says of it, and what it says of itself."""
    stored = Stored(visit)
    file, is_live = stored.find_file(stored.ask_path(), visit.place.get("offset"))
    card, notes = _present_file(stored, file, is_live, visit)
    links = tuple(_list_links(visit.place, file))
    card = replace(card, body=(*notes, *card.body))
    name = wording.name(file.path)
    crumbs = (Link("files", visit.place.with_page("files")), Link(name))
    keys = tuple(("e", link) for link in links if link.place is not None and link.place.page == "entry")
    return Page(visit.place, name, lead_on(card, links), crumbs=crumbs, keys=keys)


def _present_file(stored: Stored, file: DataFile, is_live: bool, visit: Visit) -> tuple[Card, list[Note]]:
    """Present the card of a file with its footer, where that may be read; and what is odd about the file."""
    notes: list[Note] = []
    if not is_live:
        notes.append(Note(f"{name_state(visit)} does not have this file: this is what another state says"))
    try:
        stored.inside.check(file.path)
    except LakeError as error:
        notes.append(Note(f"not read: {wording.clean(error)}", "warn"))
        if visit.table.traits.files_are_listed:  # all that is known of it is in the file
            return Card("File", wording.name(file.path), wording.clean(file.path)), notes
        return present(file, 1), notes
    try:
        if file.content != "deletion_vector":
            _ = file.footer
        card = present(file, 2)
    except LakeError as error:
        notes.append(Note(f"ERROR: {wording.clean(error)}", "warn"))
        card = present(file, 1)
    return card, notes


def _list_links(place: Place, file: DataFile) -> Iterator[Link]:
    path = file.path or file.recorded_path
    number, vector = getattr(file, "position", None), getattr(file, "content_offset", None)
    if vector is None:
        yield Link("its bytes", place.with_page("bytes", path=path))
    else:
        length = getattr(file, "content_size_in_bytes", None)
        yield Link("its bytes", place.with_page("bytes", path=path, start=vector, length=length))
    deletes = place.with_page("deletes", path=path, offset=vector)
    if file.content == "data":
        count = len(file.deletes)
        yield Link("its deletes", deletes, wording.count(count) if count else "none")
    else:
        yield Link("what it reaches", deletes)
    if file.manifest is not None and number is not None:
        yield Link(f"entry {number} of its manifest", find_entry(place, file.manifest, number))
        yield Link("its record", place.with_page("entry", manifest=file.manifest, entry=number))
    yield Link("its biography", place.with_page("biography", path=path))
    if file.snapshot_id is not None:
        added = replace(place, snapshot=str(file.snapshot_id), page="", asked=())
        yield Link(f"snapshot {file.snapshot_id}, which added it", added)


# --- deletes -------------------------------------------------------------------------------------------------------------


@page("deletes")
def make_deletes(visit: Visit) -> Page:
    """What deletes rows at the snapshot; of a data file what reaches it, of a delete file what it reaches."""
    stored, place = Stored(visit), visit.place
    if not place.get("path"):
        return _make_all_deletes(stored, visit)
    file, is_live = stored.find_file(stored.ask_path(), place.get("offset"))
    name = wording.name(file.path)
    crumbs = (Link("deletes", place.with_page("deletes")), Link(name))
    parts: list[Part] = []
    if not is_live:
        parts.append(Card("", "", body=(Note(f"{name_state(visit)} does not have this file"),)))
    if file.content == "data":
        parts += _show_matches(visit, file)
    else:
        parts += _show_reached(stored, visit, file)
    return Page(place, f"Deletes: {name}", parts, crumbs=crumbs)


def _make_all_deletes(stored: Stored, visit: Visit) -> Page:
    """Make the delete files and vectors of the snapshot, and those that reach nothing."""
    place = visit.place
    files = stored.files.choose(lambda content: content not in ("data", "changelog"), "content")
    vectors = {} if visit.snapshot is None else visit.snapshot.deletion_vectors
    parts: list[Part] = [Card("Deletes", _describe_deletes(len(files), len(vectors), visit))]
    if len(files):
        parts.append(
            make_listing(
                make_source(files), place, adorn=link_rows("file", lambda at: _target_deletes(files[at]))
            )
        )
    elif vectors:
        matches = DeleteMatches(vectors.values())
        parts.append(_list_matches(matches, place, with_data=True))
    dangling = () if visit.snapshot is None else visit.snapshot.dangling_deletes
    if len(dangling):
        parts.append(present(dangling))
    return Page(place, "Deletes", parts, crumbs=(Link("deletes"),))


def _target_deletes(file: DataFile) -> Target:
    found = target_file(file)
    return Target("page", "deletes", (("path", found.key), *found.asked))


def _describe_deletes(files: int, vectors: int, visit: Visit) -> str:
    if not files and not vectors:
        return f"nothing is deleted by a file or a vector in {name_state(visit)}"
    said = [wording.plural(files, "delete file or vector", "delete files and vectors")] if files else []
    if vectors:
        said.append(f"{wording.plural(vectors, 'data file')} with a deletion vector")
    return f"{', '.join(said)}, of {name_state(visit)}"


def _list_matches(matches: DeleteMatches, place: Place, *, with_data: bool = False) -> Listing:
    """Deletes, each leading to its rows; `with_data` also to the data file that it reaches."""

    def find(at: int) -> Target:
        return Target("page", "deletes", place.ask(match=at, **{FROM: None}).asked)

    def add_data(drawn: Drawn, positions: Sequence[int]) -> Drawn:
        """Add which data file each is for, as a column."""
        for row, at in zip(drawn.rows, positions, strict=True):
            name = matches[at].data_file
            cell = cells.code(wording.name(name))
            row.append(replace(cell, target=Target("page", "deletes", (("path", name),))))
        return drawn._replace(
            names=[*drawn.names, "data file"], columns=[*drawn.columns, Column("data file")]
        )

    adorn = add_data if with_data else link_rows("file", find)
    return make_listing(make_source(matches), place, adorn=adorn)


def _show_matches(visit: Visit, file: DataFile) -> Iterator[Part]:
    """Show what reaches a data file, and the rows of the match that was chosen, else of the only one."""
    matches, place = file.deletes, visit.place
    name = wording.name(file.path)
    links = (Link("the file", place.with_page("file", path=file.path)),)
    if not len(matches):
        yield from lead_on(Card("Deletes", f"none reaches {name} in {name_state(visit)}"), links)
        return
    yield from lead_on(
        Card("Deletes", f"{wording.plural(len(matches), 'delete')} of {name} in {name_state(visit)}"), links
    )
    chosen = place.get_number("match") if place.get("match") else 0 if len(matches) == 1 else None
    rest = place.ask(match=None, **{FROM: None})
    yield _list_matches(matches, rest)
    if chosen is not None:
        if chosen >= len(matches):
            raise Missing(f"no delete {chosen}: there are {len(matches)}, counted from 0", path=file.path)
        yield _show_positions(visit, matches[chosen])


def _show_positions(visit: Visit, match: DeleteMatch) -> Listing:
    """Show the rows that a delete takes from a data file, as ranges, in pages; those of an expensive one when asked."""
    place = visit.place
    own: Any = match.file
    links = [Link(wording.name(own.path), _find_place(place, own))]
    if match.offset is not None:
        links.append(
            Link(
                "the bytes of the vector",
                place.with_page("bytes", path=own.path, start=match.offset, length=match.length),
            )
        )
    else:
        links.append(Link("its bytes", place.with_page("bytes", path=own.path)))
    if not match.is_cheap() and "positions" not in vars(match) and not place.get("read"):
        links.append(Link("read the rows", place.ask(read="yes")))
        return Listing(Card("Rows", "not read: files must be decoded for them"), "see", tuple(links))
    try:
        Stored(visit).inside.check(own.path)
        positions = match.positions
    except LakeError as error:
        return Listing(
            Card("Rows", "", body=(Note(f"ERROR: {wording.clean(error)}", "warn"),)), "see", tuple(links)
        )
    count = positions.count_ranges()
    start = min(place.get_number(FROM), max(count - 1, 0)) // SIZE * SIZE
    rows = [
        (cells.number(first), cells.number(last), cells.number(last - first + 1))
        for first, last in islice(positions.ranges(), start, start + SIZE)
    ]
    grid = cells.grid(("from#", "to#", "rows#"), rows, noun="range")
    grid = replace(grid, rows=tuple(rows), more="", how="")
    sentence = f"{wording.plural(len(positions), 'row')}, counted from 0, in {wording.plural(count, 'range')}"
    card = Card("Rows", sentence, body=(grid,) if rows else ())
    shown = f"{wording.count(start)} to {wording.count(start + len(rows) - 1)} of {wording.plural(count, 'range')}"
    words = shown if count > SIZE else wording.plural(count, "range")
    return Listing(card, words, (*make_pager(place, start, count, SIZE), *links))


def _find_place(place: Place, own: Any) -> Place:
    kind = "file" if isinstance(own, DataFile) else "index"
    asked = dict(target_file(own).asked) if isinstance(own, DataFile) else {}
    return place.with_page(kind, path=own.path, **asked)


def _show_reached(stored: Stored, visit: Visit, file: DataFile) -> Iterator[Part]:
    """Show the data files that a delete file or a vector reaches, as far as that is known from a bounded number of them."""
    files, place = stored.files, visit.place
    named = getattr(file, "target", None)
    data = files.choose(lambda content: content == "data", "content")
    if named is not None:
        data = data.choose(lambda recorded: recorded == named, "recorded_path")
    elif len(data) > _MOST_REACHED and file.partition:
        wanted = str(file.partition)
        data = data.choose(lambda partition: str(partition) == wanted, "partition")
    asked = list(islice(data, _MOST_REACHED))
    offset = getattr(file, "content_offset", None)
    reached = [
        data_file
        for data_file in asked
        if any(
            is_named(file, match.file.recorded_path) and (offset is None or match.offset == offset)
            for match in data_file.deletes
        )
    ]
    more = f"; only the first {_MOST_REACHED:,} of {len(data):,} were asked" if len(data) > len(asked) else ""
    link = Link("the delete file", _find_place(place, file))
    sentence = f"{wording.name(file.path)} reaches {wording.plural(len(reached), 'data file')}{more}"
    yield from lead_on(Card("Deletes", sentence), (link,))
    if reached:
        found = _Reached(reached)
        yield make_listing(
            make_source(found),
            place,
            adorn=link_rows("value", lambda at: _target_deletes(reached[at])),
        )
    if named is not None and not reached:
        yield Card("", "", body=(Note(f"it names {wording.clean(named)}", target=Target("file", named)),))


class _Reached(Items[DataFile]):
    """Data files that a delete file reaches."""

    __slots__ = ()
