"""What stands around every page of a table: crumbs, navigation with its answers, what it is pinned to, and news."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lakelens.analysis.figures import count_by_lists
from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.answers.question import load, load_questions
from lakelens.errors import LakeError
from lakelens.explorer.page import Link, News, Page
from lakelens.explorer.place import BELOW, NO_SNAPSHOT, Place
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.views.card import wording
from lakelens.views.cards.finding import format_alert

if TYPE_CHECKING:
    from lakelens.explorer.explorer import Visit

T = TypeVar("T")
_MOST_NAMED = 5  # new snapshots that are named
# pages that there are of every snapshot: another snapshot leads to the same page of its own
_OF_ALL = frozenset(
    ("", "timeline", "snapshots", "files", "manifests", "schema", "refs", "bytes", "explain", "findings")
)

# pages about one thing, each with the page that lists them
_LISTED_BY = {
    "file": "files",
    "deletes": "files",
    "biography": "files",
    "manifest": "manifests",
    "manifest_list": "manifests",
    "entry": "manifests",
    "diff": "snapshots",
}


def add_frame(page: Page, visit: Visit | None, names: frozenset[str] = frozenset()) -> Page:
    """The page with what stands around it, where its maker left that out; `names` are those of the pages that there are."""
    crumbs = page.crumbs
    if not crumbs or crumbs[0].place != Place():
        crumbs = list_crumbs(page.place, crumbs)
    if visit is None:
        keys = (("h", Link("all keys", Place(None, "", "help"))),) if "help" in names else ()
        return replace(page, crumbs=crumbs, keys=page.keys or keys)
    return replace(
        page,
        crumbs=crumbs,
        navigation=page.navigation or tuple(_list_pages(visit)),
        pinned=page.pinned or tuple(_list_pins(visit)),
        news=page.news or _attempt(lambda: _find_news(visit), None),
        keys=(*page.keys, *_list_keys(visit, crumbs, {key for key, _ in page.keys})),
    )


def list_crumbs(place: Place, more: tuple[Link, ...] = ()) -> tuple[Link, ...]:
    """From the warehouse to a place; `more` stands behind the table, else the name of the page does."""
    crumbs = [Link("warehouse", Place())]
    inner = tuple(filter(None, place.get(BELOW).split("/"))) if place.table is None else place.table[:-1]
    for depth, name in enumerate(inner, 1):
        crumbs.append(Link(name, Place().ask(**{BELOW: "/".join(inner[:depth])})))
    if place.table is not None:
        home = Place(place.table, place.snapshot)
        crumbs.append(Link(place.table[-1] if place.table else "table", home))
        if more:
            crumbs += more
        elif place.page:
            listed, path = _LISTED_BY.get(place.page), place.get("path")
            above = listed or (place.page if path else None)
            if above:
                crumbs.append(Link(name_page(above), place.with_page(above)))
            crumbs.append(Link(wording.name(path) or name_page(place.page), place))
    return (*crumbs[:-1], replace(crumbs[-1], place=crumbs[-1].place or place, is_current=True))


def name_page(name: str) -> str:
    """Name what a page is called in words: `manifest_list` is "manifest list"."""
    return name.replace("_", " ")


def _list_pages(visit: Visit) -> Iterator[Link]:
    """List the pages of a table, each with its answer, in three groups: what it is, its bytes, its care."""
    table, snapshot, here = visit.table, visit.snapshot, visit.place
    has_snapshots = table.traits.has_snapshots
    state: Table | Snapshot = table if snapshot is None or snapshot.id is None else snapshot
    count_manifests = lambda: "none yet" if snapshot is None else wording.count(len(snapshot.manifests))  # noqa: E731
    groups: tuple[tuple[tuple[str, str, Callable[[], str]], ...], ...] = (
        (
            ("", "Overview", str),
            (
                "timeline",
                "Timeline",
                lambda: wording.plural(table.snapshot_count, "commit") if has_snapshots else "newest files",
            ),
            *((("snapshots", "Snapshots", lambda: _span_snapshots(table)),) if has_snapshots else ()),
            ("files", "Files", lambda: _count_files(snapshot)),
            ("schema", "Schema", lambda: wording.plural(len(state.schema.fields), "column")),
            *((("refs", "Refs", lambda: wording.count(len(table.refs))),) if has_snapshots else ()),
        ),
        (
            ("bytes", "Bytes", lambda: "any file"),
            *((("manifests", "Manifests", count_manifests),) if has_snapshots else ()),
            *_list_questions(table, "bytes"),
        ),
        (
            *_list_questions(table, "care"),
            ("findings", "Findings", lambda: _count_findings(table)),
        ),
    )
    for number, group in enumerate(groups):
        shown = [entry for entry in group if entry[0] in visit.pages]
        for place, (name, words, answer) in enumerate(shown):
            yield Link(
                words,
                here.with_page(name),
                _attempt(answer, "unknown"),
                name in (here.page, _LISTED_BY.get(here.page)),
                is_first=bool(number) and not place,
            )


def _list_questions(table: Table, group: str) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """List the questions whose pages belong to a group, each with what is said beside its name."""
    for question in load_questions().values():
        shown = question.page
        if shown is not None and shown.group == group:
            beside = partial(load(shown.beside), table) if ":" in shown.beside else partial(str, shown.beside)
            yield question.name, question.title, beside


def _attempt(ask: Callable[[], T], otherwise: T) -> T:
    """Say what is asked of a table, or what is said where damage keeps it from being known."""
    try:
        return ask()
    except LakeError:
        return otherwise


def _span_snapshots(table: Table) -> str:
    """From which to which, where numbers say it; else how many."""
    history = table.outline_history(1)
    if not history.count:
        return "none yet"
    first = history.first
    if table.traits.numbers_branches and first is not None and history.count > 1:
        return f"{first.id} to {history.newest[-1].id}"
    return f"{wording.count(history.count)} kept"


def _count_files(snapshot: Snapshot | None) -> str:
    if snapshot is None:
        return "none yet"
    figures = snapshot.figures
    files = count_by_lists(snapshot) if figures.files is None else figures.files
    return "" if files is None else wording.count(files + (figures.delete_files or 0))


def _count_findings(table: Table) -> str:
    return format_alert(table.findings) or (
        wording.plural(len(table.findings), "note") if len(table.findings) else "none found"
    )


def _list_pins(visit: Visit) -> Iterator[Link]:
    """List the snapshot that a page is pinned to, and those beside it."""
    here, snapshot = visit.place, visit.snapshot
    if snapshot is None or here.snapshot == NO_SNAPSHOT:
        return
    yield Link(f"snapshot {here.snapshot}", replace(here, page="", asked=()))
    older, newer, newest = _attempt(lambda: _find_beside(visit), ("", "", ""))
    if older:
        yield Link("older", _move(here, older))
    if newer:
        yield Link("newer", _move(here, newer))
    if newest and newest != newer:
        yield Link("newest", _move(here, newest))


def _move(here: Place, snapshot: str) -> Place:
    """The same page of another snapshot, where every snapshot has one; else the other one's overview."""
    is_of_all = here.page in _OF_ALL and not here.get("path")
    return replace(here, snapshot=snapshot, page=here.page if is_of_all else "", asked=())


def _find_beside(visit: Visit) -> tuple[str, str, str]:
    """Find the keys of the snapshot before the pinned one, of the one after it, and of the newest; empty for none."""
    history = visit.table.history
    place = history.find(visit.place.snapshot)
    if place is None:
        return "", "", ""
    after = _list_newer(history, place)
    older = history.marks[place].parent or ""
    return older, after[0].key if after else "", after[-1].key if after else ""


def _list_newer(history: Timeline, place: int) -> list[Mark]:
    """List the snapshots that came after one on its branch."""
    lane = history.marks[place].lane
    return [mark for mark in history.marks[place + 1 :] if mark.lane == lane]


def _find_news(visit: Visit) -> News | None:
    """Find what was committed after the pinned snapshot: made for each request, and no page moves by itself."""
    history, key = visit.table.history, visit.place.snapshot
    place = history.find(key)
    if place is None:
        return None
    newer = _list_newer(history, place)
    if not newer:
        return None
    first = history.find(visit.explorer.find_first(visit.place))
    is_new = first is not None and first <= place
    count = wording.plural(len(newer), "new snapshot" if is_new else "newer snapshot")
    shown = newer if len(newer) <= _MOST_NAMED else [*newer[: _MOST_NAMED - 2], newer[-1]]
    named = [f"{mark.key} {_name_commit(mark)}" for mark in shown]
    if len(shown) < len(newer):
        named.insert(-1, "…")
    stays = f"{', '.join(named)}. This page stays at {key}."
    newest = newer[-1].key
    links = [Link(f"Show {newest}", _move(visit.place, newest))]
    if "diff" in visit.pages:
        links.append(Link(f"diff {key} to {newest}", visit.place.with_page("diff", before=key, after=newest)))
    return News(stays, tuple(links), f"{count} since you opened this" if is_new else count)


def _name_commit(mark: Mark) -> str:
    """Name what a commit was, and by which statement where it says so."""
    statement = mark.snapshot.statement
    by = f" by {wording.clean(statement, 40)}" if statement and statement != mark.operation else ""
    return f"{wording.clean(mark.operation, 40)}{by}"


def _list_keys(visit: Visit, crumbs: tuple[Link, ...], taken: set[str]) -> Iterator[tuple[str, Link]]:
    """Access keys of what leads up, and to the snapshots beside; all of them are links that are on the page."""
    found = []
    if len(crumbs) > 1:
        found.append(("u", Link(f"up to {crumbs[-2].text}", crumbs[-2].place)))
    beside = {link.text: link.place for link in _list_pins(visit)}
    if not (visit.place.get("path") or visit.place.get("manifest")):
        found += [
            (key, Link(f"{word} snapshot", beside[word]))
            for key, word in (("b", "older"), ("a", "newer"))
            if word in beside
        ]
    if "help" in visit.pages:
        found.append(("h", Link("all keys", visit.place.with_page("help"))))
    yield from (entry for entry in found if entry[0] not in taken)
