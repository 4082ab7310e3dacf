"""From the path of a file or directory below the root to the place that shows it: what *Open with lakelens* asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.errors import LakeError, Missing
from lakelens.explorer.page import Page
from lakelens.explorer.place import BELOW, NO_SNAPSHOT, Place
from lakelens.model.table import Table

if TYPE_CHECKING:
    from lakelens.explorer.explorer import Explorer

#: The address at which a path is asked for: `open?path=shop.db/orders/metadata/v3.metadata.json`.
OPEN = "open"
_MOST = 4_096  # characters of a path
#: The page of an object of a table, by how its role begins; its bytes are shown where there is none, or it does not know it.
_PAGES = {
    "manifest list": "manifest_list",
    "manifest": "manifest",
    "table metadata": "metadata",
    "statistics": "statistics",
    "partition statistics": "statistics",
    "data": "file",
    "changelog data": "file",
    "position delete": "file",
    "equality delete": "file",
    "deletion vectors": "index",
    "file index": "index",
    "hash index": "index",
    "btree index": "index",
}


def pin(table: Table, names: tuple[str, ...] = ()) -> Place:
    """The overview of an open table at the snapshot that is current in it.

    >>> import lakelens as ll
    >>> pin(ll.sample("hive"), ("web", "clicks")).url
    'web/clicks/@-/'
    """
    newest = None if table.current is None else table.current.id
    return Place(names, NO_SNAPSHOT if newest is None else str(newest))


def locate(explorer: Explorer, path: str) -> Place:
    """The place of a path below the root: the page of a table, of a view, of a file of one, else the tables below the path.

    Parameters
    ----------
    explorer
        The explorer of the root.
    path
        The path below the root, with slashes.

    Raises
    ------
    Missing
        The path leads out of the root.

    Examples
    --------
    >>> import lakelens as ll
    >>> from lakelens.explorer.explorer import Explorer
    >>> explorer = Explorer(ll.sample("iceberg").location)
    >>> locate(explorer, ""), locate(explorer, "metadata/version-hint.text").url
    (Place(table=(), snapshot='', page='', asked=()), '')
    """
    names = tuple(name for name in path.split("/") if name)
    if len(path) > _MOST or "\0" in path or any(name in (".", "..") for name in names):
        raise Missing("no path below the root", path=path[:200])
    catalog = explorer.catalog
    if names in {explorer.name(view) for view in catalog.views}:
        return Place(names)
    known = {explorer.name(table) for table in catalog}
    home = next((names[:n] for n in range(len(names), -1, -1) if names[:n] in known), None)
    if home is None:
        return Place().ask(**{BELOW: "/".join(names)})
    return _locate_in_table(explorer, Place(home), "/".join(names[len(home) :]))


def _locate_in_table(explorer: Explorer, overview: Place, inner: str) -> Place:
    """Lead from a directory of a table to its overview, from a file to its page."""
    assert overview.table is not None
    if not inner:
        return overview
    try:
        table = explorer.open(overview.table)
        stored = next((stored for stored in table.list_files() if stored.relative_path == inner), None)
    except LakeError:
        return overview  # which says what is wrong
    if stored is None:
        return overview
    here = pin(table, overview.table)
    name = next((page for begins, page in _PAGES.items() if stored.role.startswith(begins)), "bytes")
    place = here.with_page(name, path=stored.path)
    shown = explorer.answer(place)
    is_shown = isinstance(shown, Page) and shown.status == 200
    return place if is_shown else here.with_page("bytes", path=stored.path)
