"""What changed from one snapshot to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from lakelens.analysis.diff.diff import Diff
from lakelens.errors import Missing
from lakelens.explorer.answers import ask
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import make_listing
from lakelens.explorer.maps import show_map
from lakelens.explorer.page import Field, Form, Page, Part
from lakelens.model.snapshot import Snapshot
from lakelens.views.card import named, wording
from lakelens.views.card.model import Card, Cell, Note, Pairs
from lakelens.views.listing import make_source
from lakelens.views.present import present

NOTHING = "nothing"
_MOST_OPTIONS = 60  # snapshots that are offered by their ids; of more the reader writes one
#: The lists of a diff, each in pages: what it is called in the address, in words, and where it is.
_LISTS: dict[str, tuple[str, Callable[[Diff], Any]]] = {
    "added": ("files added", lambda diff: diff.added),
    "removed": ("files removed", lambda diff: diff.removed),
    "kept": ("files kept", lambda diff: diff.kept),
    "partitions": ("partitions", lambda diff: diff.by_partition),
    "manifests_new": ("manifests new", lambda diff: diff.manifests.new),
    "manifests_dropped": ("manifests dropped", lambda diff: diff.manifests.dropped),
    "manifests": ("manifests kept", lambda diff: diff.manifests.kept),
    "metadata": ("places of the document", lambda diff: diff.metadata),
}


@page("diff")
def make_diff(visit: Visit) -> Page:
    """Show the diff of two snapshots, both of which can be chosen; its lists in pages."""
    if not visit.table.traits.has_snapshots:
        words = "This table keeps no snapshots: there are no two states to compare."
        return Page(visit.place, "Diff", [Card("Diff", words)])
    after = _find(visit, visit.place.get("after")) or visit.snapshot
    if after is None:
        return Page(visit.place, "Diff", [Card("Diff", "Nothing has been committed yet.")])
    before, gone = _find_before(visit, after)
    key = ("diff", None if before is None else before.id, after.id)
    diff = ask(visit.table, key, lambda: visit.table.diff(before, after))
    parts: list[Part] = [_make_form(visit, before, after)]
    if gone:
        parts.append(Card("", "", body=(Note(gone, "warn"),)))
    chosen = visit.place.get("part")
    if chosen:
        if chosen not in _LISTS:
            raise Missing(f"no part {chosen!r} of a diff", hint=", ".join(_LISTS))
        whole = visit.place.ask(part=None)
        back = Note("The whole diff", "mute", target=named.page("diff", **dict(whole.asked)))
        words, find = _LISTS[chosen]
        title, shown = f"Diff, {words}", present(diff)
        sides = Card("", shown.sentence, body=(back,), linked=shown.linked)
        parts += [sides, make_listing(make_source(find(diff)), visit.place)]
        return Page(visit.place, title, parts)
    # the diffs beside this one, and its lists in full
    links = Pairs((*_list_neighbours(visit, diff), ("in full", _link_lists(diff))), is_open=True)
    parts += [replace(present(diff), noun=""), Card("", "", body=(links,))]
    parts.append(show_map(visit, after, diff))
    return Page(visit.place, "Diff", parts)


def _find(visit: Visit, text: str) -> Snapshot | None:
    return visit.table.snapshot(text) if text else None


def _find_before(visit: Visit, after: Snapshot) -> tuple[Snapshot | None, str]:
    """Find the older state, by default the parent of the newer; with a sentence where it is no longer there."""
    asked = visit.place.get("before")
    if asked == NOTHING:
        return None, ""
    if asked and asked != str(after.parent_id):
        return _find(visit, asked), ""
    parent = after.parent_id
    if parent is None:
        return None, ""
    if not visit.table.has_snapshot(parent):
        return None, f"Snapshot {parent}, the parent of {after.id}, has expired: compared with nothing."
    return visit.table.snapshot(parent), ""


def _make_form(visit: Visit, before: Snapshot | None, after: Snapshot) -> Form:
    """Both states, by their ids, or by the name of a branch or a tag."""
    table = visit.table
    old, new = NOTHING if before is None else str(before.id), str(after.id)
    target = visit.place.with_page("diff", part=visit.place.get("part"))
    if table.snapshot_count <= _MOST_OPTIONS:
        ids = tuple(str(snapshot.id) for snapshot in reversed(table.snapshots))
        fields = (
            Field("before", "from", old, "choice", options=(NOTHING, *ids)),
            Field("after", "to", new, "choice", options=ids),
        )
        return Form(target, fields, "compare")
    words = "an id, a branch, a tag or a time"
    fields = (Field("before", "from", old, placeholder=words), Field("after", "to", new, placeholder=words))
    return Form(target, fields, "compare", words)


def _list_neighbours(visit: Visit, diff: Diff) -> Iterator[tuple[str, Cell]]:
    """List the commit before and the one after, and this diff the other way round."""
    before, after, table = diff.before, diff.after, visit.table
    if before is not None:
        older = before.parent_id if table.has_snapshot(before.parent_id or 0) else None
        yield "commit before", _name_diff(older, before.id)
    newer = _find_newer(visit, after)
    if newer is not None:
        yield "commit after", _name_diff(after.id, newer)
    if before is not None:
        yield "the other way", _name_diff(after.id, before.id)


def _find_newer(visit: Visit, state: Snapshot) -> int | None:
    """Find the snapshot that was made from a state; where ids are counted, none is read to know it."""
    table = visit.table
    if table.traits.numbers_branches:
        following = (state.id or 0) + 1
        return following if table.has_snapshot(following) else None
    newer = ask(table, "newer", lambda: {snapshot.parent_id: snapshot.id for snapshot in table.snapshots})
    return newer.get(state.id)


def _name_diff(before: int | None, after: int | None) -> Cell:
    old = NOTHING if before is None else str(before)
    return named.lead(Cell(f"{old} to {after}"), named.page("diff", before=old, after=after))


def _link_lists(diff: Diff) -> Cell:
    old = NOTHING if diff.before is None else diff.before.id
    parts: list[Cell] = []
    for name, (words, _) in _LISTS.items():
        parts += [Cell(", ")] if parts else []
        target = named.page("diff", before=old, after=diff.after.id, part=name)
        parts.append(named.lead(Cell(words), target))
    return Cell(", ".join(wording.clean(words) for words, _ in _LISTS.values()), linked=tuple(parts))
