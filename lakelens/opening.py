"""Opening and finding tables and views: `lakelens.open` and `lakelens.find`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from lakelens.errors import LakeError, Missing, NotATable, Unsupported, find_nearest
from lakelens.formats.base import Candidate, OpenRequest, ViewFound
from lakelens.formats.registry import describe_candidate, detect_at, detect_format, load_formats
from lakelens.io.local import LocalStore, find_neighbours, open_source
from lakelens.io.store import Store
from lakelens.io.tracing import TracingStore
from lakelens.model.catalog import Catalog, FoundTable, FoundView
from lakelens.model.table import Table
from lakelens.model.view import View

# directories that are looked at to say that a directory, which is no table, holds some: here, and where each is a request
_LOOKED_AT, _LOOKED_AT_FAR = 200, 16


def open_any(
    source: Any,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    spark: Any = None,
) -> Table | Any:
    """Open one table from nothing but its files, or one view. No manifest is read.

    Parameters
    ----------
    source
        The path or URL of a table's directory; the path of one Iceberg `*.metadata.json` (that version of that table); a
        `pyiceberg.table.Table`; or, with `spark`, a name `"catalog.database.table"`. An Iceberg view's, too.
    format
        The name of a format: no other is looked for.
    branch
        The branch to open.
    version
        An older metadata file of an Iceberg table or view: its number, name or path.
    storage_options
        Options for fsspec.
    spark
        A session whose catalogs know the current pointer and, for Hive, the metastore's facts.

    Returns
    -------
    Table or View
        The table; a `View`, which has versions and no rows, where the place is one.

    Raises
    ------
    NotATable
        No format recognises the place; the message lists what was looked for, or says that it holds tables.
    Missing, Corrupt, Unsupported, AccessDenied
        It is not there (the hint has the nearest paths), damaged, not supported, or may not be read.

    Examples
    --------
    >>> open_any("/nowhere")
    Traceback (most recent call last):
    lakelens.errors.Missing: /nowhere: no such file or directory
    """
    try:
        return open_table(
            source,
            format=format,
            branch=branch,
            version=version,
            storage_options=storage_options,
            spark=spark,
        )
    except ViewFound as found:
        return open_view(found, branch, version)


def open_view(found: ViewFound, branch: str | None = None, version: int | str | None = None) -> View:
    """The view that detection found. Raises `Unsupported` for a branch: views have none."""
    if branch is not None:
        raise Unsupported("a view has no branches", path=found.location) from None
    return found.opener(version=version)


def open_table(
    source: Any,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    spark: Any = None,
) -> Table:
    """Open one table, as `open_any` does; raises `Unsupported` for a view.

    >>> open_table("/nowhere")
    Traceback (most recent call last):
    lakelens.errors.Missing: /nowhere: no such file or directory
    """
    if spark is not None and isinstance(source, str) and _is_name(source):
        return _open_by_catalog(source, spark, format, branch, version, storage_options)
    if hasattr(source, "metadata_location") and hasattr(source, "io"):
        options = {**dict(getattr(source.io, "properties", {})), **dict(storage_options or {})}
        return open_table(source.metadata_location, format="iceberg", branch=branch, storage_options=options)
    if not isinstance(source, str | os.PathLike):
        raise Unsupported(
            f"cannot open a {type(source).__name__}", hint="a path, a URL, or a pyiceberg table"
        )
    store, path = open_source(source, storage_options)
    return open_in_store(store, path, format=format, branch=branch, version=version)


def open_in_store(
    store: Store,
    path: str,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    name: str | None = None,
    catalog: Mapping[str, Any] | None = None,
) -> Table:
    """Open a table in a store that is already open (see `lakelens.io`)."""
    traced = TracingStore(store)
    try:
        chosen, evidence = detect_format(traced, path, format)
    except Missing as error:
        if error.path == path and error.hint is None:
            error.hint = _suggest_path(store, path)
        raise
    except NotATable:
        counted = _count_tables(store, path) if format is None else ""
        if not counted:
            raise
        hint = f"lakelens.find({path!r}) lists them"
        raise NotATable(f"not a table: it holds {counted}", path=path, hint=hint) from None
    table = chosen.open(OpenRequest(traced, path, evidence, branch, version, name, catalog))
    table.reopening = _open_again, (store, path, chosen.name, branch, version, name, catalog)  # type: ignore[misc]
    return table


def _open_again(
    store: Store,
    path: str,
    format: str,
    branch: str | None,
    version: int | str | None,
    name: str | None,
    catalog: Mapping[str, Any] | None,
) -> Table:
    """A table that was pickled or copied."""
    return open_in_store(
        store, path, format=format, branch=branch, version=version, name=name, catalog=catalog
    )


def find_tables(
    root: str | os.PathLike[str], *, depth: int = 4, storage_options: Mapping[str, Any] | None = None
) -> Catalog:
    """Walk a warehouse and list the tables and views in it; a table's own directories are not walked.

    Parameters
    ----------
    root
        The path or URL of a directory.
    depth
        How many levels below `root` are searched.
    storage_options
        Options for fsspec.

    Returns
    -------
    Catalog
        The tables, each with `open()`; `views` are the views, and directories that cannot be read are in `problems`.

    Examples
    --------
    >>> import lakelens as ll
    >>> find_tables(ll.sample("iceberg").location)
    <Catalog 1 tables>
    """
    store, path = open_source(root, storage_options)
    return find_in_store(store, path, depth=depth)


def find_in_store(store: Store, path: str, *, depth: int = 4) -> Catalog:
    """Walk a warehouse in a store that is already open."""
    tables: list[FoundTable] = []
    views: list[FoundView] = []
    problems: list[LakeError] = []
    for found in _walk(store, path, depth):
        if isinstance(found, FoundTable):
            tables.append(found)
        elif isinstance(found, FoundView):
            views.append(found)
        elif found is not None:
            problems.append(found)
    return Catalog(path, tables, problems, views)


def _walk(store: Store, path: str, depth: int) -> Iterator[FoundTable | FoundView | LakeError | None]:
    """What each directory is: a table, a view, one that cannot be read, or none of these."""
    pending = [(path, 0)]
    while pending:
        here, level = pending.pop()
        try:
            place = describe_candidate(store, here)
            found = _detect_table(place)
        except ViewFound as view:
            yield FoundView(here, view.format, view.evidence, view.opener)
            continue
        except LakeError as error:
            yield error
            continue
        yield found
        if found is None and level < depth:
            folders = [
                c.path for c in place.children.values() if c.is_dir and not c.name.startswith(("_", "."))
            ]
            pending.extend((folder, level + 1) for folder in reversed(folders))


def _count_tables(store: Store, path: str) -> str:
    """How many tables a directory holds, in words; empty for none in the first directories."""
    most = _LOOKED_AT if isinstance(store, LocalStore) else _LOOKED_AT_FAR
    walked = list(islice(_walk(store, path, 4), most + 1))
    count = sum(isinstance(found, FoundTable) for found in walked[:most])
    least = "at least " if len(walked) > most else ""
    return f"{least}{count} table{'' if count == 1 else 's'}" if count else ""


def _suggest_path(store: Store, path: str) -> str | None:
    """The paths nearest to one that does not exist, in the directory where it ceases to; None where none is near."""
    if not isinstance(store, LocalStore):
        return None
    above, missing, rest, names = find_neighbours(path)
    found = [os.path.join(above, name) for name in find_nearest(missing, names)]  # noqa: PTH118
    whole = [os.path.join(one, rest) for one in found if rest]  # noqa: PTH118
    existing = [one for one in whole if os.path.exists(one)] or found  # noqa: PTH110
    return f"did you mean {' or '.join(existing)}?" if existing else None


def _detect_table(place: Candidate) -> FoundTable | None:
    try:
        chosen, evidence = detect_at(place)
    except NotATable:
        return None
    opener = partial(open_in_store, place.store, place.path, format=chosen.name)
    return FoundTable(place.path, chosen.name, evidence, opener)


def _is_name(source: str) -> bool:
    return "/" not in source and ":" not in source and not os.path.exists(source)  # noqa: PTH110


def _open_by_catalog(
    name: str,
    spark: Any,
    format: str | None,
    branch: str | None,
    version: int | str | None,
    storage_options: Mapping[str, Any] | None,
) -> Table:
    from lakelens.spark.local.catalog import locate

    entry = locate(spark, name)
    facts = {**entry.facts, "metadata_location": entry.metadata_location}
    wanted = format or (entry.format if entry.format in load_formats() else None)
    return open_located(
        entry.location,
        format=wanted,
        branch=branch,
        version=version,
        storage_options=storage_options,
        name=entry.name,
        catalog=facts,
    )


def open_located(
    location: str,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    name: str | None = None,
    catalog: Mapping[str, Any] | None = None,
) -> Table:
    """Open a table at the location that a catalog gave, with the catalog's facts; no catalog is asked again."""
    store, path = open_source(location, storage_options)
    return open_in_store(
        store, path, format=format, branch=branch, version=version, name=name, catalog=catalog
    )
