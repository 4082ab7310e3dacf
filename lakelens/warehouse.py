"""Finding tables and views below a directory or in a catalog: `lakelens.find`.

Of what a catalog lists no table is opened, and no file is read.
"""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.errors import Interrupted, LakeError, Unsupported
from lakelens.formats.base import ViewFound
from lakelens.io.border import EnclosedStore, FixedStore
from lakelens.io.local import LocalStore, open_source
from lakelens.io.relocation import split_location
from lakelens.io.store import ObjectInfo, Store, list_names
from lakelens.io.waves import NEAR, is_far
from lakelens.model.storage import Evidence
from lakelens.model.view import View
from lakelens.model.warehouse.catalog import Catalog, Folder, FoundTable, FoundView
from lakelens.opening import open_entry, open_in_store, open_view
from lakelens.progress import Progress
from lakelens.walking import Detected, TableWalk

if TYPE_CHECKING:
    from lakelens.catalogs.entry import CatalogEntry
    from lakelens.io.remote.web import AskWeb

# tables behind a network of which it is kept for their outlines what was read to find them, and entries of listings of each
_MOST_KEPT, _MOST_LISTED = 200, 2_000
# documents that are looked at to see whether a table was committed to, and seconds between ticks of a file system's clock
_MOST_STAMPED, _TICK, _TICK_FAR = 40, 0.05, 2.0


def find_tables(
    root: str | os.PathLike[str] | Any = None,
    *,
    depth: int = 4,
    storage_options: Mapping[str, Any] | None = None,
    catalog: Any = None,
    enclosed: bool = False,
    on_found: Callable[[FoundTable | FoundView], None] | None = None,
) -> Catalog:
    """Walk a warehouse and list the tables and views in it; a table's own directories are not walked.

    Behind a network the directories of a level are looked at together (`lakelens.options.max_connections`). After a second
    a line says how far it is; an interrupt ends the walk, and what was found until then is the result.

    Parameters
    ----------
    root
        The path or URL of a directory; a catalog; or with `catalog` a namespace of it, None for all.
    depth
        How many levels of directories, or of namespaces, are searched.
    storage_options
        Options for fsspec.
    catalog
        A catalog, as for `lakelens.open`, whose tables are listed by their names. What one of them raises is in `problems`.
    enclosed
        Whether nothing outside of `root` is read, also when the tables are open, wherever links and metadata lead.
    on_found
        Called with each table and view as soon as it is found, in the order in which directories are looked at.

    Returns
    -------
    Catalog
        The tables in path order, each with `open()`; `views` are the views, and directories that cannot be read are in
        `problems`, as is that it was interrupted.

    Examples
    --------
    >>> import lakelens as ll
    >>> find_tables(ll.sample("iceberg").location, on_found=lambda found: print(repr(found)))
    <FoundTable iceberg iceberg>
    <Catalog 1 tables>
    """
    if catalog is not None or not isinstance(root, str | os.PathLike):
        source, within = (root, None) if catalog is None else (catalog, root)
        found = find_in_catalog(source, within, depth, storage_options, on_found, enclosed=enclosed)
        if isinstance(found, Catalog):
            return found
        root, storage_options = found
    store, path = open_source(root, storage_options)
    enclosing = EnclosedStore(store, path) if enclosed else store
    return find_in_store(enclosing, path, depth=depth, on_found=on_found, may_be_cut=True)


def find_in_store(
    store: Store,
    path: str,
    *,
    depth: int = 4,
    on_found: Callable[[FoundTable | FoundView], None] | None = None,
    may_be_cut: bool = False,
) -> Catalog:
    """Walk a warehouse in a store that is already open. An interrupt is raised, unless the result `may_be_cut`."""
    found: list[FoundTable | FoundView] = []
    problems: list[LakeError] = []
    folders: list[Folder] = []
    walk = TableWalk(store, path, depth)
    try:
        with _Search(walk, found) as search:
            for seen in walk:
                if isinstance(seen, Folder):
                    folders.append(seen)
                elif isinstance(seen, LakeError):
                    problems.append(seen)
                else:
                    found.append(_make_table(seen, len(found)) if isinstance(seen, Detected) else seen)
                    if on_found is not None:
                        on_found(found[-1])
                search.advance()
    except Interrupted as interrupted:
        if not may_be_cut:
            raise
        hint = "what is below the others is not known: find again to look there"
        problems.append(LakeError(str(interrupted), path=path, hint=hint))
    # of a far store what is nearer to the root was found first
    found.sort(key=_order)
    folders.sort(key=_order)
    problems.sort(key=_order)
    tables = [one for one in found if isinstance(one, FoundTable)]
    views = [one for one in found if isinstance(one, FoundView)]
    return Catalog(path, tables, problems, views, folders)


def find_fixed(root: str) -> Catalog:
    """Find what is in a directory that nobody changes and that has no links; nothing outside of it is read."""
    return find_in_store(FixedStore(LocalStore(), root), root)


def find_in_web(ask: AskWeb, url: str, root: str) -> Catalog:
    """Find what is in a public bucket or web folder, for a page of a browser: see `lakelens.io.remote.web.open_web`.

    Raises `LakeError` where nothing there can be asked or listed.
    """
    from lakelens.io.remote.web import open_web

    store = open_web(ask, url, root)
    return find_in_store(EnclosedStore(store, root), root)


class _Search(Progress):
    """How far a walk is."""

    def __init__(self, walk: TableWalk, found: Sequence[object]) -> None:
        super().__init__("directories")
        self._walk, self._found = walk, found

    def describe(self) -> str:
        """Describe how far it is: `reading 40 of 210 directories, 12 tables so far; interrupt to stop`."""
        self.total = self._walk.known
        return (
            f"reading {self.done:,} of {self.total:,} directories, {self._count()} so far; interrupt to stop"
        )

    def describe_stop(self) -> str:
        """Describe what an interrupt leaves."""
        return f"stopped after {self.done:,} of {self._walk.known:,} directories, with {self._count()}"

    def _count(self) -> str:
        return f"{len(self._found):,} table{'' if len(self._found) == 1 else 's'}"


def _order(found: FoundTable | FoundView | Folder | LakeError) -> tuple[str, ...]:
    return tuple((found.path or "").split("/"))


def _make_table(found: Detected, number: int) -> FoundTable:
    opener = partial(open_in_store, found.store, found.path, format=found.format.name)
    is_kept = number < _MOST_KEPT and found.count_listed() <= _MOST_LISTED
    return FoundTable(
        found.path,
        found.format.name,
        found.evidence,
        opener,
        partial(_stamp, found.store, found.path),
        is_far=is_far(found.store),
        _looker=partial(opener, answers=found.answers) if found.answers and is_kept else None,
    )


def _stamp(store: Store, root: str, paths: Sequence[str], since: float | None = None) -> object:
    """Say what a table's directory and those of some of its documents are like now: see `FoundTable.stamp`.

    A commit adds a document beside those before it, which a local disk notes in the time of the directory; elsewhere the
    directories are listed.
    """
    is_local, shown = store.scheme == "file", paths[:_MOST_STAMPED]
    folders = sorted({root, *(posixpath.dirname(path) for path in shown)})
    if is_local:
        found = [_look_at(store, path) for path in (*folders, *shown)]
    else:
        found = [child for folder in folders for _, child in sorted(list_names(store, folder).items())]
    newest = max((one.modified.timestamp() for one in found if one and one.modified), default=0.0)
    # the clock of a store has ticks: what is written within the same one is not seen
    is_settled = newest < (time.time() if since is None else since) - (_TICK if is_local else _TICK_FAR)
    return tuple(found) if is_settled else object()


def _look_at(store: Store, path: str) -> ObjectInfo | None:
    try:
        return store.info(path)
    except LakeError:
        return None


def find_in_catalog(
    catalog: Any,
    within: Any = None,
    depth: int = 4,
    storage_options: Mapping[str, Any] | None = None,
    on_found: Callable[[FoundTable | FoundView], None] | None = None,
    *,
    enclosed: bool = False,
) -> Catalog | tuple[str, Mapping[str, Any]]:
    """Find the tables and views of a catalog by name, of one namespace or of all.

    Of the directory of a warehouse the place to walk is given, and how its storage is reached: that is where its names are.
    """
    from lakelens.catalogs.choice import KINDS, DirectoryCatalog, connect
    from lakelens.catalogs.entry import join_name, list_entries, split_name

    if catalog is None:
        raise Unsupported("nothing says where to look", hint=f"a directory, or {KINDS}")
    connected = connect(catalog, storage_options)
    if isinstance(connected, DirectoryCatalog):
        return connected.find_place(
            () if within is None else split_name(str(within))
        ), connected.storage_options
    if enclosed:
        raise Unsupported("the tables of a catalog may be anywhere", hint="enclosed=True with a directory")
    found: list[FoundTable | FoundView] = []
    problems: list[LakeError] = []
    start = () if within is None else split_name(str(within))
    try:
        with Progress("tables") as progress:
            for entry in list_entries(connected, depth, start):
                progress.advance()
                if isinstance(entry, LakeError):
                    problems.append(entry)
                    continue
                found.append(_make_found(entry, storage_options))
                if on_found is not None:
                    on_found(found[-1])
    except Interrupted as interrupted:
        problems.append(LakeError(str(interrupted), hint="the others are not known: find again to see them"))
    tables = [one for one in found if isinstance(one, FoundTable)]
    views = [one for one in found if isinstance(one, FoundView)]
    root = join_name(start) if start else connected.source.name or connected.source.uri
    return Catalog(root, tables, problems, views)


def _make_found(entry: CatalogEntry, storage_options: Mapping[str, Any] | None) -> FoundTable | FoundView:
    known = entry.facts.get("catalog", {})
    said = " ".join(filter(None, (str(known.get("kind", "")), str(known.get("name", "")))))
    evidence = Evidence(entry.format, (f"{said or 'a catalog'} says so",))
    if entry.is_view:
        view = partial(_open_view, entry, storage_options)
        return FoundView(entry.location, entry.format, evidence, view, known_as=entry.name)
    opener = partial(open_entry, entry, storage_options=storage_options)
    is_far = (split_location(entry.location)[0] or NEAR[0]) not in NEAR
    return FoundTable(entry.location, entry.format, evidence, opener, is_far=is_far, known_as=entry.name)


def _open_view(
    entry: CatalogEntry, storage_options: Mapping[str, Any] | None, version: int | str | None = None
) -> View:
    try:
        open_entry(entry, storage_options=storage_options)
    except ViewFound as found:
        return open_view(found, None, version)
    raise LakeError("the catalog says that this is a view, and it is a table", path=entry.location)
