"""Manifest lists, manifests and their entries: from what a snapshot is made of to one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.linker import find_entry
from lakelens.explorer.listing import FROM, ONLY, SIZE, Adorn, lead_on, link_rows, make_listing
from lakelens.explorer.page import Link, Listing, Page, Part, Split
from lakelens.explorer.pages.entries import count_deleted, show_chosen
from lakelens.explorer.pages.files import name_state, target_file
from lakelens.explorer.stored import Stored, count_entries, read_entries
from lakelens.model.manifest import Entry, Manifest, ManifestList
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Cell, Column, Note, Target
from lakelens.views.cards.manifest import grid_lists
from lakelens.views.listing import Drawn, EntrySource, ItemSource, Source, make_source
from lakelens.views.present import present

if TYPE_CHECKING:
    import pyarrow as pa


def name_list(found: ManifestList) -> str:
    """Name the path of a list as the metadata says it; empty for one that is inline in a document."""
    return found.path or found.recorded_path or ""


@page("manifests")
def make_manifests(visit: Visit) -> Page:
    """The manifests of the snapshot, with the list that each is named by."""
    place, snapshot = visit.place, visit.snapshot
    crumbs = (Link("manifests"),)
    if snapshot is None or not len(snapshot.manifest_lists):
        traits = visit.table.traits
        why = f"{traits.title} tables have no manifests: the directory says which files there are"
        card = Card("Manifests", why if traits.files_are_listed else "there is no snapshot yet")
        return Page(place, "Manifests", [card], crumbs=crumbs)
    roles: dict[str, ManifestList] = {}
    wrong = []
    for manifest_list in snapshot.manifest_lists:
        named, error = manifest_list.walk()
        roles |= {manifest.path: manifest_list for manifest in named}
        if error is not None:
            wrong.append(
                Note(f"the {manifest_list.role} list cannot be read: {wording.clean(error)}", "warn")
            )
    manifests = snapshot.manifests
    sentence = f"{wording.plural(len(manifests), 'manifest')} in {wording.plural(len(snapshot.manifest_lists), 'list')}"
    card = Card("Manifests", f"{sentence}, of {name_state(visit)}", body=(*wrong, _grid_linked_lists(visit)))

    def adorn(drawn: Drawn, positions: Sequence[int]) -> Drawn:
        """The list of each, before it."""
        lists = [roles.get(manifests[at].path) for at in positions]
        shown = [
            [
                cells.ABSENT
                if one is None
                else Cell(one.role, target=Target("manifest_list", name_list(one))),
                *row,
            ]
            for one, row in zip(lists, drawn.rows, strict=True)
        ]
        linked = drawn._replace(
            names=["list", *drawn.names], columns=[Column("list", is_short=True), *drawn.columns], rows=shown
        )
        return _link_manifests(manifests)(linked, positions)

    more: tuple[Link, ...] = ()
    if {manifest.content for manifest in manifests} > {"deletes"} and not place.get("content"):
        more = (Link("only with deletes", place.ask(content="deletes", **{FROM: None})),)
    listing = make_listing(make_source(manifests), place, adorn=adorn, chooses=True, more=more)
    return Page(place, "Manifests", [card, listing], crumbs=crumbs)


def _grid_linked_lists(visit: Visit) -> Body:
    """The lists of the snapshot, each leading to its page."""
    lists = visit.snapshot.manifest_lists if visit.snapshot is not None else ()
    grid = grid_lists(lists, how="")
    at = [column.name for column in grid.columns].index("manifest list")
    rows = [
        tuple(
            replace(cell, target=Target("manifest_list", name_list(one)))
            if place == at and name_list(one)
            else cell
            for place, cell in enumerate(row)
        )
        for one, row in zip(lists, grid.rows, strict=False)
    ]
    return replace(grid, rows=tuple(rows))


def _link_manifests(manifests: Sequence[Manifest]) -> Adorn:
    return link_rows("manifest", lambda at: Target("manifest", manifests[at].path))


@page("manifest_list")
def make_manifest_list(visit: Visit) -> Page:
    """One manifest list: its own facts, and the manifests that it names, in pages."""
    stored, place = Stored(visit), visit.place
    found = stored.find_list(stored.ask_path())
    name = wording.name(found.path) or "inline list"
    named, error = found.walk()
    notes = () if error is None else (Note(f"ERROR, cannot be read: {wording.clean(error)}", "warn"),)
    card = _drop_folds(present(found), "Manifests")
    links = (Link("its bytes", place.with_page("bytes", path=name_list(found))),)
    parts: list[Part] = [*lead_on(replace(card, body=(*notes, *card.body)), links)]
    if error is None:
        parts.append(make_listing(make_source(found.manifests), place, adorn=_link_manifests(named)))
    crumbs = (Link("manifests", place.with_page("manifests")), Link(f"{found.role} list {name}"))
    return Page(place, f"Manifest list {name}", parts, crumbs=crumbs)


def _drop_folds(card: Card, *labels: str) -> Card:
    """Drop a card without what has parts of the page of its own."""
    return replace(card, folds=tuple(fold for fold in card.folds if fold.label not in labels))


# --- one manifest --------------------------------------------------------------------------------------------------------


@page("manifest")
def make_manifest(visit: Visit) -> Page:
    """Show one manifest: its header and counts, its entries in pages, and beside them the one that was chosen."""
    stored, place = Stored(visit), visit.place
    manifest = stored.find_manifest(stored.ask_path())
    name = wording.name(manifest.path)
    source, error = make_entries(visit, manifest)
    chosen = place.get_number("entry") if place.get("entry") else None
    card = _drop_folds(present(manifest), "Entries")
    links = [Link("its bytes", place.with_page("bytes", path=manifest.path))]
    if manifest.added_snapshot_id is not None:
        written = replace(place, snapshot=str(manifest.added_snapshot_id), page="", asked=())
        links.append(Link(f"snapshot {manifest.added_snapshot_id}, which wrote it", written))
    notes = () if error is None else (Note(f"ERROR, cannot be read whole: {wording.clean(error)}", "warn"),)
    head = lead_on(replace(card, body=(*notes, *card.body)), links)
    here = place if place.get("from") or chosen is None else place.ask(**{"from": chosen // SIZE * SIZE})
    parts: list[Part] = [*head]
    crumbs: list[Link] = [Link("manifests", place.with_page("manifests"))]
    keys: tuple[tuple[str, Link], ...] = ()
    if len(source):
        try:
            listing = make_listing(
                source,
                here.ask(entry=None),
                size=SIZE,
                chosen=chosen,
                adorn=_adorn_entries(visit, manifest, source, chosen),
                chooses=True,
            )
        except LakeError as damage:
            body = (Note(f"ERROR, cannot be read: {wording.clean(damage)}", "warn"),)
            listing = Listing(Card("", "", body=body), "entries")
        parts.append(listing)
    if chosen is not None:
        side, keys = show_chosen(visit, manifest, chosen, len(source))
        parts = [*head, Split(tuple(parts[len(head) :]), side)]
        crumbs.append(Link(f"manifest {name}", place.with_page("manifest", path=manifest.path)))
        crumbs.append(Link(f"entry {chosen}"))
    else:
        crumbs.append(Link(f"manifest {name}"))
    return Page(place, f"Manifest {name}", parts, crumbs=tuple(crumbs), keys=keys)


def make_entries(visit: Visit, manifest: Manifest) -> tuple[Source, LakeError | None]:
    """Make the entries of a manifest: of a small one decoded together, of a large one page by page."""
    count = count_entries(manifest)
    if count is None:
        entries, error = read_entries(manifest)
        source = ItemSource(entries)
        source.subject = manifest  # the same one the next time
        return source, error

    def load(names: Sequence[str]) -> pa.Table:
        from lakelens.model.facts.facts import list_entries
        from lakelens.model.scan.files_to_arrow import assemble_table, make_request
        from lakelens.model.scan.scan_to_arrow import iterate_batches

        scan = visit.table.scan_manifests([manifest])
        if scan is None:
            return list_entries(manifest.entries, visit.table.files.columns, names)
        request = make_request(scan.columns, wanted=names, entries=True)
        return assemble_table(list(iterate_batches(scan, request)), scan.columns, request)

    return EntrySource(manifest, count, manifest.read_entry, load), None


def _adorn_entries(visit: Visit, manifest: Manifest, source: Source, chosen: int | None) -> Adorn:
    """Before each entry its number, behind it how many of its rows are deleted at the pinned snapshot."""
    stored = Stored(visit)

    def adorn(drawn: Drawn, positions: Sequence[int]) -> Drawn:
        entries: Sequence[Entry] = source.choose(positions)
        title = f"deleted at {visit.snapshot.id}" if visit.snapshot is not None else "deleted"
        lost = [count_deleted(stored, entry) for entry in entries]
        has_lost = any(cell is not None for cell in lost)
        rows = []
        for at, gone, row in zip(positions, lost, drawn.rows, strict=True):
            leads = find_entry(visit.place, manifest.path, at)
            leads = leads.ask(
                **{
                    name: visit.place.get(name)
                    for name in ("from", "sort", "q", *ONLY)
                    if visit.place.get(name)
                }
            )
            number = Cell(
                f"{at} chosen" if at == chosen else str(at), target=Target("page", "manifest", leads.asked)
            )
            rows.append([number, *row, *([gone or Cell("", "mute")] if has_lost else [])])
        extra = ["entry"], [Column("entry", is_number=True)]
        after = ([title], [Column(title, is_number=True)]) if has_lost else ([], [])
        whole = Drawn([*extra[0], *drawn.names, *after[0]], [*extra[1], *drawn.columns, *after[1]], rows)
        by_place = dict(zip(positions, entries, strict=True))
        return link_rows("file", lambda at: target_file(by_place[at].file))(whole, positions)

    return adorn
