"""What is read of a Paimon table together, where each request to its store waits for a network.

    first     the listings and the hints: `looks_at` of the format
    second    the newest schema, the newest snapshots, and all manifests and lists where these are few (detection)
    third     an outline: older snapshots, tags, schemas, the hints of branches; lists and index manifests of the newest
    fourth    the snapshots of branches, deletion vectors whose rows nobody recorded

Nothing here says what a table is: it is what others are going to ask for, and harmless where it is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.deletes.known_rows import MOST_BYTES
from lakelens.formats.paimon.deletes.positions import SMALL
from lakelens.formats.paimon.discovery import HINTS, NEWEST
from lakelens.formats.paimon.manifests.containers import decode_container
from lakelens.formats.paimon.metadata.layout import MAIN, TableLayout
from lakelens.formats.paimon.metadata.wire import parse_json
from lakelens.io.ahead import fetch, fetch_first, is_larger
from lakelens.io.store import Store

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable

# an outline reads every snapshot of a history that is no longer than this
SHORT_HISTORY = 50
_LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_MOST_SCHEMAS, _MOST_SHOWN = 100, 5


def fetch_outline(table: PaimonTable) -> None:
    """Fetch what the card of a table shows."""
    if table.context.store.is_far:
        with suppress(LakeError):  # it is raised where it belongs
            _fetch_states(table)


def _fetch_states(table: PaimonTable) -> None:
    context, ids = table.context, table.context.pointer.ids
    store, layout = context.store, context.layout
    shown = ids if len(ids) <= _MOST_SHOWN + SHORT_HISTORY else (*ids[:1], *ids[-NEWEST:])
    if layout.branch != MAIN:  # detection asked for this of the main branch
        folders = [layout.folder("schema"), layout.folder("tag"), f"{layout.root}/branch"]
        documents = [layout.document("snapshot", number) for number in ids[-NEWEST:]]
        fetch(store, listings=folders, documents=documents)
    newest = [peek(store, layout.document("snapshot", number)) for number in ids[-NEWEST:]]
    others = [TableLayout(layout.root, name) for name in context.branch_names if name != table.branch_name]
    indexes = list_named(layout, newest, "indexManifest")
    store.expect(_list_sizes(layout, newest))
    fetch(
        store,
        documents=[
            *(layout.document("snapshot", number) for number in shown),
            *(layout.document("tag", name) for name in table.context.tag_names),
            *(layout.document("schema", number) for number in context.schemas.ids[-_MOST_SCHEMAS:]),
            *(f"{other.folder('snapshot')}/{hint}" for other in others for hint in HINTS),
            *list_named(layout, newest[-1:], "baseManifestList"),
            *list_named(layout, newest[1 - NEWEST :], "deltaManifestList"),
        ],
        listings=[other.folder("snapshot") for other in others],
        small=[(path, MOST_BYTES) for path in indexes],
    )
    latest = [(other, context.find_pointer(other.branch).latest) for other in others]
    fetch(
        store,
        documents=[one.document("snapshot", number) for one, number in latest if number is not None],
        small=[(path, SMALL) for path in _list_uncounted(store, layout, indexes)],
    )


def fetch_near(
    snapshot: PaimonSnapshot, history: Sequence[Any], compared: Sequence[PaimonSnapshot] = ()
) -> None:
    """What the snapshots about one changed: delta lists and vectors; of those that are `compared` the base lists, too."""
    store, layout, number = snapshot.context.store, snapshot.context.layout, snapshot.id
    own = list_named(layout, [snapshot.raw], _LISTS[1], "indexManifest")
    if not compared and all(store.find_document(path) is not None for path in own):
        return
    near = [one.raw for one in history if abs(one.id - number) <= SHORT_HISTORY]
    both = [one.raw for one in compared]
    asked = (
        snapshot._table._vector_reader.asked
    )  # what is not there, or large, is not asked for again and again
    wanted = [
        *list_named(layout, near, _LISTS[1]),
        *list_named(layout, both, *_LISTS[:2]),
        *(layout.document("schema", one.schema_id) for one in compared),
    ]
    indexes = [path for path in list_named(layout, near, "indexManifest") if path not in asked]
    fetch(
        store,
        documents=[path for path in wanted if path not in asked],
        small=[(path, MOST_BYTES) for path in indexes],
    )
    asked.update(wanted, indexes)
    fetch(store, small=[(path, SMALL) for path in _list_uncounted(store, layout, indexes)])


def fetch_history(table: PaimonTable) -> None:
    """Fetch what the snapshots, tags and changelogs of a branch name, down to manifests: as many of these as are kept."""
    context = table.context
    store, layout = context.store, context.layout
    if not store.is_far:
        return
    with suppress(LakeError):
        fetch(store, listings=[layout.folder(name) for name in ("changelog", "consumer")])
        pointer = table.context.pointer
        paths = [
            *(layout.document("snapshot", number) for number in (*pointer.stray, *pointer.ids)),
            *(layout.document("tag", name) for name in table.context.tag_names),
            *(layout.document("changelog", number) for number in table.context.changelog_numbers),
        ]
        fetch(store, documents=paths)
        states = [peek(store, path) for path in paths]
        lists = list_named(layout, states, *_LISTS)
        named = [state.get("statistics") for state in states]
        statistics = [layout.shared("statistics", name) for name in named if isinstance(name, str)]
        fetch(store, documents=[*lists, *list_named(layout, states, "indexManifest"), *statistics])
        manifests: dict[str, int | None] = {}  # that the lists name, each once, with their sizes
        for path in lists:
            with suppress(LakeError):
                for record in decode_container(store.read(path), path):
                    name = layout.shared("manifest", str(record.get("_FILE_NAME")))
                    manifests[name] = record.get("_FILE_SIZE")
        fetch_first(store, list(manifests.items()), lambda manifest: manifest)


def peek(store: Store, path: str) -> dict[str, Any]:
    """Peek a document of JSON that is about to be read; empty where it cannot be: whoever reads it says so."""
    try:
        return parse_json(store.read(path), path)
    except LakeError:
        return {}


def list_named(layout: TableLayout, snapshots: Iterable[Mapping[str, Any]], *keys: str) -> list[str]:
    """List the paths of what documents of snapshots name under some keys: manifest lists, index manifests."""
    names = (snapshot.get(key) for snapshot in snapshots for key in keys)
    return list(
        dict.fromkeys(layout.shared("manifest", name) for name in names if isinstance(name, str) and name)
    )


def _list_sizes(layout: TableLayout, snapshots: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    """Give the manifest lists of snapshots that record how large these are, as newer versions do."""
    for snapshot in snapshots:
        for key in ("baseManifestList", "deltaManifestList", "changelogManifestList"):
            name, size = snapshot.get(key), snapshot.get(f"{key}Size")
            if isinstance(name, str) and isinstance(size, int):
                yield layout.shared("manifest", name), size


def _list_uncounted(store: Store, layout: TableLayout, indexes: Iterable[str]) -> list[str]:
    """List the small index files with vectors of which nobody recorded how many rows they have: these are counted."""
    found = []
    for path in indexes:
        with suppress(LakeError):
            if is_larger(store, path, MOST_BYTES):
                continue
            for record in decode_container(store.read(path), path):
                ranges = record.get("_DELETIONS_VECTORS_RANGES") or ()
                if any(one and one.get("_CARDINALITY") is None for one in ranges):
                    found.append(layout.shared("index", str(record.get("_FILE_NAME"))))
    return list(dict.fromkeys(found))
