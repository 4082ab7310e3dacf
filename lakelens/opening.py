"""Opening tables and views: `lakelens.open`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.errors import AccessDenied, LakeError, Missing, NotATable, Unsupported, find_nearest
from lakelens.formats.base import OpenRequest, ViewFound
from lakelens.formats.registry import detect_format, find_rule, load_formats
from lakelens.io.ahead import Answers
from lakelens.io.local import LocalStore, find_neighbours, open_source
from lakelens.io.store import Store
from lakelens.io.tracing import TracingStore
from lakelens.model.table import Table
from lakelens.model.view import View
from lakelens.walking import count_tables

if TYPE_CHECKING:
    from lakelens.catalogs.entry import CatalogEntry


def open_any(
    source: Any,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    catalog: Any = None,
    spark: Any = None,
) -> Table | Any:
    """Open one table from nothing but its files, or one view. No manifest is read.

    Parameters
    ----------
    source
        The path or URL of a table's directory; the path of one Iceberg `*.metadata.json` (that version of that table); a
        `pyiceberg.table.Table`; or, with `catalog` or `spark`, a name `"database.table"`. An Iceberg view's, too.
    format
        The name of a format: no other is looked for.
    branch
        The branch to open.
    version
        An older metadata file of an Iceberg table or view: its number, name or path.
    storage_options
        Options for fsspec.
    catalog
        The catalog that knows the name, whose pointer then wins over what the directory shows: a catalog of PyIceberg, its
        name in `.pyiceberg.yaml`, its properties or its address, or the directory of a warehouse.
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
            catalog=catalog,
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
    catalog: Any = None,
    spark: Any = None,
) -> Table:
    """Open one table, as `open_any` does; raises `Unsupported` for a view.

    >>> open_table("/nowhere")
    Traceback (most recent call last):
    lakelens.errors.Missing: /nowhere: no such file or directory
    """
    if catalog is not None or (spark is not None and isinstance(source, str) and _is_name(source)):
        entry = _find_entry(source, catalog, spark, storage_options)
        return open_entry(
            entry, format=format, branch=branch, version=version, storage_options=storage_options
        )
    if hasattr(source, "metadata_location") and hasattr(source, "io"):
        from lakelens.catalogs.trust import choose_storage_options

        options = {**choose_storage_options(getattr(source.io, "properties", {})), **(storage_options or {})}
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
    answers: Answers | None = None,
) -> Table:
    """Open a table in a store that is already open (see `lakelens.io`).

    Of one among many `answers` are known already, and nothing is asked for before it is needed.
    """
    traced = TracingStore(store, ahead=answers is None)
    traced.keep_by(find_rule())
    with traced.moment(None if answers is None else dict(answers)):
        table = _open_traced(traced, path, format, branch, version, name, catalog)
    how = (store, path, table.format, branch, version, name, catalog)
    table.reopening = _open_again, how  # type: ignore[misc]
    return table


def _open_traced(
    traced: TracingStore,
    path: str,
    format: str | None,
    branch: str | None,
    version: int | str | None,
    name: str | None,
    catalog: Mapping[str, Any] | None,
) -> Table:
    try:
        chosen, evidence = detect_format(traced, path, format)
    except Missing as error:
        if error.path == path and error.hint is None:
            error.hint = _suggest_path(traced.inner, path)
        raise
    except NotATable:
        counted = count_tables(traced.inner, path) if format is None else ""
        if not counted:
            raise
        hint = f"lakelens.find({path!r}) lists them"
        raise NotATable(f"not a table: it holds {counted}", path=path, hint=hint) from None
    known = (catalog or {}).get("catalog")
    if known:
        where = f" at {known['uri']}" if known["uri"] else ""
        said = " ".join(filter(None, (known["kind"], known["name"]))) + where
        evidence = replace(evidence, reasons=(*evidence.reasons, f"{said} knows it as {known['table']}"))
    traced.keep_by(find_rule(chosen))
    return chosen.open(OpenRequest(traced, path, evidence, branch, version, name, catalog))


def read_stored(table: Table, path: str) -> tuple[int, Callable[[int, int], bytes]]:
    """The size of a file in the store of an open table, and what reads a part of it. Raises `Missing`, `AccessDenied`.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> size, read = read_stored(table, table.files[0].path)
    >>> size == table.files[0].size_bytes, read(0, 4)
    (True, b'PAR1')
    """
    assert table.reopening is not None
    store: Store = table.reopening[1][0]
    return store.info(path).size, partial(store.read_range, path)


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


def _suggest_path(store: Store, path: str) -> str | None:
    """The paths nearest to one that does not exist, in the directory where it ceases to; None where none is near."""
    if not isinstance(store, LocalStore):
        return None
    above, missing, rest, names = find_neighbours(path)
    found = [os.path.join(above, name) for name in find_nearest(missing, names)]  # noqa: PTH118
    whole = [os.path.join(one, rest) for one in found if rest]  # noqa: PTH118
    existing = [one for one in whole if os.path.exists(one)] or found  # noqa: PTH110
    return f"did you mean {' or '.join(existing)}?" if existing else None


def _is_name(source: str) -> bool:
    return "/" not in source and ":" not in source and not os.path.exists(source)  # noqa: PTH110


def _find_entry(
    name: Any, catalog: Any, spark: Any, storage_options: Mapping[str, Any] | None
) -> CatalogEntry:
    if not isinstance(name, str):
        raise Unsupported(f"a {type(name).__name__} is no name in a catalog", hint="database.table")
    if catalog is None:
        from lakelens.spark.local.catalog import locate

        return locate(spark, name)
    from lakelens.catalogs.choice import connect, find_entry

    return find_entry(connect(catalog, storage_options), name)


def open_entry(
    entry: CatalogEntry,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Table:
    """Open what a catalog located; where its directory may not be listed, or is none, by the catalog's metadata file."""
    pointer = entry.metadata_location
    facts = {**entry.facts, "metadata_location": pointer} if entry.facts or pointer else None
    wanted = format or (entry.format if entry.format in load_formats() else None)
    how: dict[str, Any] = {"format": wanted, "branch": branch, "version": version, "name": entry.name}
    how |= {"storage_options": {**entry.storage_options, **(storage_options or {})}, "catalog": facts}
    try:
        return open_located(entry.location, **how)
    except (Missing, NotATable, AccessDenied) as error:
        if pointer is None or pointer == entry.location:
            raise _name_catalog(error, entry) from None
        try:
            return open_located(pointer, **how)
        except (Missing, NotATable):
            raise _name_catalog(error, entry) from None


def _name_catalog(error: LakeError, entry: CatalogEntry) -> LakeError:
    """An error about a place with the catalog that led there."""
    known = entry.facts.get("catalog")
    if known:
        file = f" and its metadata file is {entry.metadata_location}" if entry.metadata_location else ""
        who = " ".join(filter(None, (known["kind"], known["name"])))
        error.message = f"{error.message}; {who} says that {entry.name} is there{file}"
    return error


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
