"""What a page is made of: an object and, below it, what it names, each in a section of its own.

Parts are read in the order of the page; what cannot be read is a part that says so where it would stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeVar

from lakelens.analysis.map import is_quick
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Manifest, ManifestList
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import wording
from lakelens.views.card.model import Target
from lakelens.views.card.named import target_of_file

T = TypeVar("T")
_MOST_MANIFESTS = 6
_MOST_FILES = 5
_MOST_DELETES = 3
_MOST_OTHERS = 3  # index files, statistics files
_MOST_DRAWN = 1_000  # snapshots that are read for a picture of the history
_MOST_WALKED = 200  # snapshots whose lists and manifests are read for the storage tree

_KIB = 1024
# what a section may take; together they stay below the size of a page
SIZES = {
    "table": 42 * _KIB,
    "map": 64 * _KIB,
    "list": 16 * _KIB,
    "manifest": 22 * _KIB,
    "file": 24 * _KIB,
    "deletes": 16 * _KIB,
    "index": 16 * _KIB,
    "statistics": 16 * _KIB,
    "refs": 16 * _KIB,
    "findings": 16 * _KIB,
    "": 32 * _KIB,
}


@dataclass(frozen=True, slots=True, eq=False)
class PagePart:
    """An object that gets a section: what kind it is, by what target others name it, and the part above it.

    Instead of an object it may hold the error that stopped it, under the noun it would have had, or a sentence that says
    why it was left out, with what to type for it.
    """

    thing: Any
    kind: str = ""
    above: PagePart | None = None
    target: Target | None = None
    noun: str = ""
    left_out: tuple[str, str] | None = None
    is_deferred: bool = False  # described after all others were read: it summarises them

    @property
    def depth(self) -> int:
        """How many parts are above it."""
        return 0 if self.above is None else self.above.depth + 1


@dataclass(slots=True)
class _Found:
    """The parts of a page as they are found."""

    parts: list[PagePart] = field(default_factory=list)

    def add(self, thing: Any, kind: str = "", above: PagePart | None = None, **more: Any) -> PagePart:
        part = PagePart(thing, kind, above, **more)
        self.parts.append(part)
        return part

    def read(self, noun: str, read: Callable[[], T], above: PagePart | None = None) -> T | None:
        """What is read; None, with a part that says why, where it is damaged."""
        try:
            return read()
        except LakeError as error:
            self.add(error, noun=noun, above=above)
        except Exception as error:
            if display.strict_views:
                raise
            self.add(error, noun=noun, above=above)
        return None


def list_parts(thing: Any) -> Sequence[PagePart]:
    """The parts of a page in order, the object itself first."""
    found = _Found()
    if isinstance(thing, Table):
        _add_table(found, thing)
    elif isinstance(thing, Snapshot):
        _add_snapshot(found, thing)
    elif isinstance(thing, ManifestList):
        top = found.add(thing, "list")
        _add_manifests(found, [thing], top)
    elif isinstance(thing, Manifest):
        top = found.add(thing, "manifest")
        files = found.read("Data files", lambda: [entry.file for entry in thing.entries[:_MOST_FILES]], top)
        for file in files or ():
            found.add(file, "file", top, target=target_of_file(file))
    elif isinstance(thing, FileSet):
        top = found.add(thing)
        for file in found.read("Data files", lambda: list(islice(thing, _MOST_FILES)), top) or ():
            found.add(file, "file", top, target=target_of_file(file))
    else:
        found.add(thing)
    return found.parts


def _add_table(found: _Found, table: Table) -> None:
    found.add(table, "table", is_deferred=True)
    history = found.read("Snapshots", lambda: table.outline_history(display.max_rows))
    if history is not None and history.count:
        is_drawn = history.count <= _MOST_DRAWN
        found.add(found.read("History", lambda: table.history) or history if is_drawn else history)
    current = found.read("Current snapshot", lambda: table.current)
    if is_quick(current):
        drawn = found.read("Map", table.map)
        if drawn is not None:
            found.add(drawn, "map")
    else:
        found.add(None, noun="Map", left_out=("it reads many manifests", "table.map().to_html(path)"))
    if current is not None:
        _add_snapshot(found, current)
    refs = found.read("Refs", lambda: table.refs)
    if refs is not None and len(refs) > display.max_rows:
        found.add(refs, "refs")
    found.add(table.findings, "findings", is_deferred=True)
    if history is not None and history.count > _MOST_WALKED:
        reason = f"what refers to what is found by walking {wording.plural(history.count, 'snapshot')}"
        found.add(None, noun="Storage tree", left_out=(reason, "table.tree().to_html(path)"))
    else:
        tree = found.read("Storage tree", table.tree)
        if tree is not None:
            found.add(tree)


def _add_snapshot(found: _Found, snapshot: Snapshot) -> None:
    named = None if snapshot.id is None else Target("snapshot", str(snapshot.id))
    top = found.add(snapshot, "table", target=named)
    if snapshot.id is not None:
        changes = found.read("Diff", lambda: snapshot.changes, top)
        if changes is not None:
            found.add(changes, "", top)
    lists = found.read("Manifest lists", lambda: list(snapshot.manifest_lists), top) or []
    manifests = _add_manifests(found, lists, top)
    files = found.read("Files", lambda: (snapshot.files, len(snapshot.files))[0], top)
    if files is not None:
        _add_files(found, snapshot, files, manifests, top)
    for index in islice(found.read("Index files", lambda: snapshot.index_files, top) or (), _MOST_OTHERS):
        found.add(index, "index", top, target=target_of_file(index))
    for statistics in islice(found.read("Statistics", lambda: snapshot.statistics, top) or (), _MOST_OTHERS):
        found.add(statistics, "statistics", top, target=target_of_file(statistics))


def _add_manifests(found: _Found, lists: Sequence[ManifestList], top: PagePart) -> dict[str, PagePart]:
    """The lists, each with its first manifests below it; the parts of the manifests by their path."""
    made: dict[str, PagePart] = {}
    for manifest_list in lists:
        above = top
        if top.thing is not manifest_list:
            named = None if manifest_list.path is None else Target("manifest_list", manifest_list.path)
            above = found.add(manifest_list, "list", top, target=named)
        manifests = found.read("Manifests", lambda one=manifest_list: one.manifests, above)  # type: ignore[misc]
        for manifest in islice(manifests or (), max(_MOST_MANIFESTS - len(made), 1)):
            target = Target("manifest", manifest.path)
            made[manifest.path] = found.add(manifest, "manifest", above, target=target)
    return made


def _add_files(
    found: _Found, snapshot: Snapshot, files: FileSet, manifests: dict[str, PagePart], top: PagePart
) -> None:
    above = found.add(files, "", top)
    chosen = list(_choose_files(files, set(manifests)))
    for file in chosen:
        found.add(file, "file", manifests.get(file.manifest or "", above), target=target_of_file(file))
    deletes = list(islice(files.choose(lambda content: content != "data", "content"), _MOST_DELETES))
    vectors = found.read("Deletion vectors", lambda: list(snapshot.deletion_vectors.values()), above) or []
    if deletes or vectors:
        live = found.read("Live rows", lambda: snapshot.count_live_rows(read=False), top)
        below = found.add(live, "deletes", top) if live is not None else top
        for one in chain(deletes, islice(vectors, _MOST_DELETES)):
            if one not in chosen:
                named = target_of_file(one) if isinstance(one, DataFile) else None
                found.add(one, "deletes", below, target=named)


def _choose_files(files: FileSet, manifests: set[str]) -> Iterator[DataFile]:
    """One file of each manifest that has a section, then the first ones; data files before what deletes from them."""
    first: dict[str, int] = {}
    for number, (content, manifest) in enumerate(files.pick("content", "manifest")):
        if content == "data" and manifest in manifests:
            first.setdefault(manifest, number)
    by_manifest = {manifest: files[number] for manifest, number in islice(first.items(), _MOST_FILES)}
    yield from by_manifest.values()
    chosen = {file.identity for file in by_manifest.values()}
    others = (file for file in files if file.content == "data" and file.identity not in chosen)
    yield from islice(others, max(_MOST_FILES - len(by_manifest), 0))
