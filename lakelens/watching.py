"""Watching a block of code: what it changed in storage.

with ll.watch("warehouse/shop.db/orders") as change:
    spark.sql("INSERT INTO …")
change.created, change.removed, change.rewritten, change.diff
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakelens.analysis.trace import (
    ListingChange,
    Stamp,
    TableState,
    TableTrace,
    Trace,
    describe_created,
    find_checked,
    read_state,
    trace_file,
)
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.io.local import open_source
from lakelens.io.memory import SnapshotStore
from lakelens.io.store import Store
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table
from lakelens.opening import find_near_paths, open_in_store
from lakelens.warehouse import find_in_store

if TYPE_CHECKING:
    from lakelens.catalogs.entry import CatalogEntry

# what a session of `lakelens.spark.session` writes beside its tables
SCRATCH = ("metastore", "metastore_db", "tmp", "derby.log", "spark.log")
# the content of objects up to this size is compared too: a hint may be rewritten within a second
_MARKED_BYTES = 256
_MOST_MARKED = 2_000
_MOST_DESCRIBED = 20


def watch(
    target: str | os.PathLike[str] | Table,
    *,
    spark: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    depth: int = 4,
    ignore: Collection[str] | None = None,
    references: bool = True,
) -> Watch:
    """Watch what a block of code does to storage: a context manager that gives a `Trace`, filled when the block ends.

    Files of a table outside its directory are not compared. An exception of the block is kept in `change.error` and
    propagates.

    Parameters
    ----------
    target
        The path or URL of a table, which need not exist before or after the block, or of a warehouse; a `Table`; or,
        with `spark` or an active session, a name `"catalog.database.table"`.
    spark
        A session: the catalog's facts about Hive tables are then compared too.
    storage_options
        Options of the store, as in `lakelens.open`.
    depth
        How many levels below a warehouse are searched for tables.
    ignore
        Names of a warehouse's children to leave out; by default, where a metastore is beside the tables, the files that
        Spark and Derby write for themselves (`SCRATCH`).
    references
        Whether to walk every snapshot before the block, to explain removed objects; False is faster when nothing will be
        removed.

    Raises
    ------
    Unsupported
        A name without a session, or one that is stopped.
    AccessDenied
        The directory may not be listed.

    Examples
    --------
    >>> import lakelens as ll, pathlib
    >>> table = ll.sample("paimon")
    >>> with ll.watch(table.location) as change:
    ...     _ = pathlib.Path(table.location, "bucket-0", "data-left-behind-0.parquet").write_bytes(b"PAR1")
    >>> change.created[0].reason
    'data file, referred to by nothing'
    """
    return Watch(_find_target(target, spark, storage_options), depth, ignore, references)


@dataclass(frozen=True)
class _Target:
    """What is watched: a place in a store, or a name in a session's catalogs, whose place may not be known yet."""

    store: Store
    root: str | None
    name: str | None = None
    spark: Any = None
    storage_options: Mapping[str, Any] | None = field(default=None, repr=False)  # may have secrets


@dataclass(frozen=True)
class _Moment:
    """One moment: the frozen store, its objects' stamps, the tables in it by location, and the name's entry."""

    store: SnapshotStore
    stamps: Mapping[str, Stamp]
    tables: Mapping[str, TableState]
    entry: CatalogEntry | None = None
    notes: tuple[str, ...] = field(default=())


class Watch:
    """The context manager behind `lakelens.watch`; one for each block."""

    def __init__(self, target: _Target, depth: int, ignore: Collection[str] | None, references: bool) -> None:
        self._target, self._depth, self._references = target, depth, references
        self._ignore = ignore
        self._before: _Moment | None = None
        self.trace = Trace(target.root or target.name or "")

    def __enter__(self) -> Trace:
        self._before = self._capture(self._references)
        self._before.store.close()
        return self.trace

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._before is not None
        self.trace.error = error
        try:
            after = self._capture(True)
            self.trace.root = _find_root(self._target, self._before, after)
            _fill(self.trace, self._before, after)
            self.trace.is_missing = _is_nothing(self._target, self._before) and _is_nothing(
                self._target, after
            )
            if self.trace.is_missing:
                target = self._target
                if target.name is None:
                    self.trace.near = tuple(find_near_paths(target.store, target.root or ""))
                else:
                    from lakelens.spark.local.catalog import find_near_names

                    self.trace.near = tuple(find_near_names(target.spark, target.name))
            after.store.close()
        except Exception as second:
            if error is None:  # the block's own error matters more
                raise
            error.add_note(f"lakelens could not compare storage before and after: {second}")

    def _capture(self, references: bool) -> _Moment:
        target = self._target
        if target.name is not None:
            return _capture_named(target, references, self._before)
        assert target.root is not None
        ignore = _find_scratch(target.store, target.root) if self._ignore is None else self._ignore
        store = SnapshotStore(target.store, target.root, ignore=ignore)
        notes = _list_notes(store)
        tables: dict[str, TableState] = {}
        for table in _find_tables(store, target, self._depth, notes):
            _add_state(tables, table, _ask_metastore(target.spark, table, len(tables)), references, notes)
        return _Moment(store, _stamp(store), tables, None, tuple(notes))


def _find_target(target: Any, spark: Any, storage_options: Mapping[str, Any] | None) -> _Target:
    if spark is not None:
        from lakelens.spark.local.session import check_running

        check_running(spark)
    if isinstance(target, Table):
        return _find_table_target(target, spark, storage_options)
    if not isinstance(target, str | os.PathLike):
        raise Unsupported(
            f"cannot watch a {type(target).__name__}", hint="a path, a URL, a table or its name"
        )
    if isinstance(target, str) and looks_like_name(target):
        spark = spark or find_session()
        if spark is not None:
            return _Target(open_source(".")[0], None, target, spark, storage_options)
    store, path = open_source(target, storage_options)
    if path.endswith((".metadata.json", ".metadata.json.gz")):
        path = posixpath.dirname(posixpath.dirname(path))
    return _Target(store, path, None, spark, storage_options)


def _find_table_target(table: Table, spark: Any, storage_options: Mapping[str, Any] | None) -> _Target:
    if spark is not None and table.catalog and table.name.count(".") == 2:
        return _Target(open_source(".")[0], None, table.name, spark, storage_options)
    if storage_options is None and table.reopening is not None:
        # where it was opened, with the options that it was opened with
        return _Target(table.reopening[1][0], table.location, None, spark, storage_options)
    store, path = open_source(table.location, storage_options)
    try:
        store.info(path)
    except Missing:
        raise Unsupported(
            "the table is not on this machine", path=table.location, hint="lakelens.watch(its URL)"
        ) from None
    return _Target(store, path, None, spark, storage_options)


def looks_like_name(text: str) -> bool:
    """Check whether a text may be a table's name: several parts, and not an existing path.

    >>> looks_like_name("iceberg.shop.orders"), looks_like_name("warehouse/t"), looks_like_name("t")
    (True, False, False)
    """
    return "/" not in text and ":" not in text and "." in text.strip(".") and not os.path.exists(text)  # noqa: PTH110


def find_session() -> Any:
    """Find the active Spark session, if any; PySpark is not imported to find it."""
    import sys

    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _stamp(store: SnapshotStore) -> dict[str, Stamp]:
    """The size and time of each object, and a hash of the content of small ones."""
    stamps, marked = {}, 0
    for path, info in store.files.items():
        mark = None
        if 0 < info.size <= _MARKED_BYTES and marked < _MOST_MARKED:
            marked += 1
            try:
                mark = hashlib.blake2b(store.read(path), digest_size=16).hexdigest()
            except LakeError:  # gone between the listing and now: its size and time are known
                mark = None
        stamps[path] = Stamp(info.size, info.modified, mark)
    return stamps


def _find_tables(store: SnapshotStore, target: _Target, depth: int, notes: list[str]) -> Iterator[Table]:
    """Find the tables at or below the root; a table that cannot be opened is noted."""
    assert target.root is not None
    if not store.has_folder(target.root):
        return
    catalog = find_in_store(store, target.root, depth=depth)
    for found in catalog:
        try:
            yield found.open()
        except LakeError as error:
            notes.append(str(error))


def _find_scratch(store: Store, root: str) -> Collection[str]:
    """Find the other files of a local session; none without a metastore, because a table may have any name."""
    try:
        names = {child.name for child in store.list(root)}
    except LakeError:
        return ()
    return SCRATCH if names & {"metastore", "metastore_db"} and "derby.log" in names else ()


def _list_notes(store: SnapshotStore) -> list[str]:
    """Say what could not be listed."""
    cut = ["there are more objects than were listed; the others were not compared"] if store.is_cut else []
    return [*(str(problem) for problem in store.problems), *cut]


def _add_state(
    tables: dict[str, TableState],
    table: Table,
    facts: Mapping[str, object],
    references: bool,
    notes: list[str],
) -> None:
    try:
        tables[table.location] = read_state(table, facts, references=references)
    except LakeError as error:
        notes.append(str(error))


def _ask_metastore(spark: Any, table: Table, asked: int) -> Mapping[str, object]:
    """Give the metastore's facts about a table that was found by its path; none if it knows no table there."""
    if spark is None or not table.traits.files_are_listed or asked >= _MOST_DESCRIBED:
        return {}
    from lakelens.spark.local.catalog import locate

    name = table.name if "." in table.name else f"default.{table.name}"
    try:
        entry = locate(spark, f"spark_catalog.{name}")
        place = open_source(entry.location)[1]
    except LakeError:
        return {}
    return entry.facts if place == table.location else {}


def _capture_named(target: _Target, references: bool, earlier: _Moment | None) -> _Moment:
    """Capture a table by name. One that does not exist yet may appear anywhere below its catalog's warehouse."""
    from lakelens.spark.local.catalog import locate

    assert target.name is not None
    try:
        entry = locate(target.spark, target.name)
    except Missing:
        if earlier is not None:  # dropped, or never created: look at the same place
            store = SnapshotStore(earlier.store.inner, earlier.store.root)
        else:
            store = SnapshotStore(*_find_warehouse(target))
        return _Moment(store, _stamp(store), {}, None, tuple(_list_notes(store)))
    inner, path = open_source(entry.location, target.storage_options)
    store, tables = SnapshotStore(inner, path), dict[str, TableState]()
    notes = _list_notes(store)
    facts = {**entry.facts, "metadata_location": entry.metadata_location}
    try:
        table = open_in_store(store, path, format=entry.format, name=entry.name, catalog=facts)
        known = entry.facts if table.traits.files_are_listed else {}
        if not table.traits.files_are_listed and entry.metadata_location is not None:
            known = {"metadata_location": entry.metadata_location}
        _add_state(tables, table, known, references, notes)
    except LakeError as error:  # damaged, or its directory is still empty
        notes.append(str(error))
    return _Moment(store, _stamp(store), tables, entry, tuple(notes))


def _find_warehouse(target: _Target) -> tuple[Store, str]:
    """Find the warehouse of a name's catalog by the session's settings; an empty store without a setting."""
    from lakelens.spark.local.catalog import parse_name

    catalog = parse_name(target.name or "")[0]
    key = (
        "spark.sql.warehouse.dir" if catalog == "spark_catalog" else f"spark.sql.catalog.{catalog}.warehouse"
    )
    found = target.spark.conf.get(key, None)
    if not found:
        from lakelens.io.memory import MemoryStore

        return MemoryStore({}), "/nowhere"
    return open_source(found, target.storage_options)


def _find_root(target: _Target, before: _Moment, after: _Moment) -> str:
    if target.root is not None:
        return target.root
    if before.entry is None and after.entry is None:
        return target.name or before.store.root
    return after.store.root if after.entry is not None else before.store.root


def _is_nothing(target: _Target, moment: _Moment) -> bool:
    """Check whether nothing was at the target: no entry of the name, no object and no directory at the path."""
    if target.root is None:
        return moment.entry is None
    return not moment.stamps and not moment.store.has_folder(target.root)


def _fill(trace: Trace, before: _Moment, after: _Moment) -> None:
    """Fill in all changes below the root: table by table, then those in no table."""
    root = trace.root
    whole = ListingChange(before.stamps, after.stamps).restrict(root)
    parts = whole.split({*before.tables, *after.tables})
    tables = []
    for place in sorted(parts.keys() - {""}):
        had_folder = before.store.has_folder(place)
        found = TableTrace(
            before.tables.get(place), after.tables.get(place), parts[place], root, had_folder=had_folder
        )
        if found.files or found.kind != "changed" or found.document or found.metastore:
            tables.append(found)
    files = [file for table in tables for file in table.files]
    for path, state in parts[""].states.items():
        is_checksum = find_checked(path) != path
        file = StoredFile(path, "", 0, "checksum" if is_checksum else "unknown")
        reason = describe_created(file) if is_checksum else "in no table"
        files.append(trace_file(file, whole, state, reason, root))
    untouched = len(whole.after.keys() - whole.states.keys())
    notes = tuple(dict.fromkeys((*before.notes, *after.notes)))
    trace.finish(files, tables, untouched, notes)
