"""What a catalog lists, as `lakelens.find` gives it: no table is opened, and no file is read for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lakelens.catalogs.choice import KINDS, DirectoryCatalog, connect
from lakelens.catalogs.entry import CatalogEntry, join_name, list_entries, split_name
from lakelens.errors import Interrupted, LakeError, Unsupported
from lakelens.formats.base import ViewFound
from lakelens.io.relocation import split_location
from lakelens.io.waves import NEAR
from lakelens.model.storage import Evidence
from lakelens.model.view import View
from lakelens.model.warehouse.catalog import Catalog
from lakelens.model.warehouse.found import FoundTable, FoundView
from lakelens.opening import open_entry, open_view
from lakelens.progress import Progress


def find_in_catalog(
    catalog: Any,
    within: Any = None,
    depth: int = 4,
    storage_options: Mapping[str, Any] | None = None,
    on_found: Callable[[FoundTable | FoundView], None] | None = None,
    *,
    enclosed: bool = False,
) -> Catalog | tuple[str, Mapping[str, Any]]:
    """The tables and views of a catalog by name, of one namespace or of all.

    Of the directory of a warehouse the place to walk is given, and how its storage is reached: that is where its names are.
    """
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
