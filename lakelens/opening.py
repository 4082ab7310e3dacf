"""Opening tables and views: `lakelens.open`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from lakelens import options
from lakelens.errors import AccessDenied, LakeError, Missing, NotATable, Unsupported, find_nearest
from lakelens.formats.base import OpenRequest, ViewFound
from lakelens.formats.registry import detect_format, find_rule, load_formats
from lakelens.io.ahead import Answers
from lakelens.io.border import EnclosedStore
from lakelens.io.local import LocalStore, find_neighbours, open_source
from lakelens.io.store import Store, find_info
from lakelens.io.tracing import TracingStore
from lakelens.model.table import Table

if TYPE_CHECKING:
    from lakelens.catalogs.entry import CatalogEntry
    from lakelens.model.view import View


class Wanted(TypedDict, total=False):
    """Which state of a place is wanted, as `open_any` describes it; it is handed on whole."""

    format: str | None
    branch: str | None
    version: int | str | None
    enclosed: bool


class Known(Wanted, total=False):
    """What is wanted, with the name of the table and what its catalog said of it."""

    name: str | None
    catalog: Mapping[str, Any] | None


def open_any(
    source: Any,
    *,
    format: str | None = None,
    branch: str | None = None,
    version: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    catalog: Any = None,
    spark: Any = None,
    enclosed: bool = False,
) -> Table | Any:
    """Open one table from nothing but its files, or one view. No manifest is read, but where a store is far those of a
    small table.

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
    enclosed
        Whether nothing outside of the table's directory is read, wherever metadata and links lead: what is there alone is
        missing. `lakelens.options.recorded_places = "never"` opens every table so.

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
    wanted: Wanted = {"format": format, "branch": branch, "version": version, "enclosed": enclosed}
    try:
        return open_table(source, storage_options=storage_options, catalog=catalog, spark=spark, **wanted)
    except ViewFound as found:
        return open_view(found, branch, version)


def open_view(found: ViewFound, branch: str | None = None, version: int | str | None = None) -> View:
    """Open the view that detection found. Raises `Unsupported` for a branch: views have none."""
    if branch is not None:
        raise Unsupported("a view has no branches", path=found.location) from None
    return found.opener(version=version)


def open_table(
    source: Any,
    *,
    storage_options: Mapping[str, Any] | None = None,
    catalog: Any = None,
    spark: Any = None,
    **wanted: Unpack[Wanted],
) -> Table:
    """Open one table, as `open_any` does; raises `Unsupported` for a view.

    >>> open_table("/nowhere")
    Traceback (most recent call last):
    lakelens.errors.Missing: /nowhere: no such file or directory
    """
    if catalog is not None or (spark is not None and isinstance(source, str) and is_name(source)):
        entry = _find_entry(source, catalog, spark, storage_options)
        return open_entry(entry, storage_options=storage_options, **wanted)
    if hasattr(source, "metadata_location") and hasattr(source, "io"):
        from lakelens.catalogs.trust import combine_options, split_answer

        location = str(source.metadata_location)
        merged = getattr(source.io, "properties", {})
        own = getattr(getattr(source, "catalog", None), "properties", None) or merged
        storage_options = combine_options(
            storage_options or {}, *split_answer(merged, own), location, "the table's catalog"
        )
        # its metadata file is the version that PyIceberg has loaded
        source, wanted = location, {**wanted, "format": "iceberg", "version": None}
    if not isinstance(source, str | os.PathLike):
        raise Unsupported(
            f"cannot open a {type(source).__name__}", hint="a path, a URL, or a pyiceberg table"
        )
    store, path = open_source(source, storage_options)
    return open_in_store(store, path, **wanted)


def open_in_store(
    store: Store, path: str, *, answers: Answers | None = None, **wanted: Unpack[Known]
) -> Table:
    """Open a table in a store that is already open (see `lakelens.io`).

    Of one among many `answers` are known already, and nothing is asked for before it is needed.
    """
    is_enclosed = wanted.get("enclosed") or options.recorded_places == "never"
    if is_enclosed and not isinstance(store, EnclosedStore):
        store = EnclosedStore(store, _find_home(store, path, wanted.get("format")))
    traced = TracingStore(store, ahead=answers is None)
    traced.keep_by(find_rule())
    if traced.is_far and answers is None:
        getattr(store, "connect", tuple)()  # first: what is loaded meanwhile would hold the requests up
        traced.counts.waves.meanwhile = _load_drawing
    with traced.moment(None if answers is None else dict(answers)):
        table = _open_traced(traced, path, wanted)
    # the store is enclosed where that was wanted: nothing has to be said of it again
    again: Known = {**wanted, "format": table.format, "enclosed": False}
    table.reopening = _open_again, (store, path, again)  # type: ignore[misc]
    table.findings.look_with(table.find_newer)
    return table


def _load_drawing() -> None:
    """Load what a table is drawn with; from afar the first answers take longer than that."""
    for name in ("cards.table", "cards.snapshot", "render.text", "render.html"):
        import_module(f"lakelens.views.{name}")
    markup: Any = import_module("lakelens.views.card.markup")
    markup.template_environment().get_template("card.html")


def _open_again(store: Store, path: str, wanted: Known) -> Table:
    """Open a table that was pickled or copied."""
    return open_in_store(store, path, **wanted)


def _find_home(store: Store, path: str, format: str | None) -> str:
    """Find the directory of the table that a path is about; a document of it is looked into for that."""
    info = find_info(store, path)
    if info is None or info.is_dir:
        return path
    try:
        return _open_traced(TracingStore(store), path, {"format": format}).location
    except ViewFound as found:
        return found.location


def _open_traced(traced: TracingStore, path: str, wanted: Known) -> Table:
    format, catalog = wanted.get("format"), wanted.get("catalog")
    try:
        chosen, evidence = detect_format(traced, path, format)
    except Missing as error:
        if error.path == path and error.hint is None:
            near = find_near_paths(traced.inner, path)
            error.hint = f"did you mean {' or '.join(near)}?" if near else None
        raise
    except NotATable:
        from lakelens.walking import count_tables

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
    branch, version, name = wanted.get("branch"), wanted.get("version"), wanted.get("name")
    return chosen.open(OpenRequest(traced, path, evidence, branch, version, name, catalog))


def read_stored(table: Table, path: str) -> tuple[int, Callable[[int, int], bytes]]:
    """Read the size of a file in the store of an open table, and what reads a part of it. Raises `Missing`, `AccessDenied`.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> size, read = read_stored(table, table.files[0].path)
    >>> size == table.files[0].size_bytes, read(0, 4)
    (True, b'PAR1')
    """
    assert table.reopening is not None
    store: Store = table.reopening[1][0]
    return store.info(path).size, partial(store.read_range, path)


def find_near_paths(store: Store, path: str) -> list[str]:
    """The paths nearest to one that does not exist, in the directory where it ceases to; only a local store is asked."""
    if not isinstance(store, LocalStore):
        return []
    above, missing, rest, names = find_neighbours(path)
    near = [os.path.join(above, name) for name in find_nearest(missing, names)]  # noqa: PTH118
    whole = [os.path.join(directory, rest) for directory in near if rest]  # noqa: PTH118
    return [path for path in whole if os.path.exists(path)] or near  # noqa: PTH110


def is_name(source: str) -> bool:
    """Say whether a source is neither a path nor an address, so that it can only be a name."""
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
    entry: CatalogEntry, *, storage_options: Mapping[str, Any] | None = None, **wanted: Unpack[Wanted]
) -> Table:
    """Open what a catalog located; where its directory may not be listed, or is none, by the catalog's metadata file."""
    pointer = entry.metadata_location
    facts = {**entry.facts, "metadata_location": pointer} if entry.facts or pointer else None
    format = wanted.get("format") or (entry.format if entry.format in load_formats() else None)
    known: Known = {**wanted, "format": format, "name": entry.name, "catalog": facts}
    given = _combine(entry, storage_options)
    try:
        return open_located(entry.location, storage_options=given, **known)
    except (Missing, NotATable, AccessDenied) as error:
        if pointer is None or pointer == entry.location:
            raise _name_catalog(error, entry) from None
        try:
            return open_located(pointer, storage_options=given, **known)
        except (Missing, NotATable):
            raise _name_catalog(error, entry) from None


def _combine(entry: CatalogEntry, storage_options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Combine how the storage of an entry is reached, which its catalog has only some say in."""
    if not entry.answer:
        return {**entry.storage_options, **(storage_options or {})}
    from lakelens.catalogs.trust import combine_options

    known = entry.facts.get("catalog") or {}
    source = " ".join(filter(None, (known.get("kind"), known.get("name")))) or "the catalog"
    own = entry.storage_options
    return combine_options(storage_options or {}, own, entry.answer, entry.location, source, entry.name)


def _name_catalog(error: LakeError, entry: CatalogEntry) -> LakeError:
    """Name an error about a place with the catalog that led there."""
    known = entry.facts.get("catalog")
    if known:
        file = f" and its metadata file is {entry.metadata_location}" if entry.metadata_location else ""
        who = " ".join(filter(None, (known["kind"], known["name"])))
        error.message = f"{error.message}; {who} says that {entry.name} is there{file}"
    return error


def open_located(
    location: str, *, storage_options: Mapping[str, Any] | None = None, **known: Unpack[Known]
) -> Table:
    """Open a table at the location that a catalog gave, with the catalog's facts; no catalog is asked again."""
    store, path = open_source(location, storage_options)
    return open_in_store(store, path, **known)
