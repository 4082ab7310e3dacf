"""What the parts of one open Delta table share: storage, the listing of the log, what was read of it, and its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from lakelens.caching import cached_property
from lakelens.codecs.text.objects import find_object, parse_object
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.access import LruCache, TableAccess, explain_late
from lakelens.formats.delta.actions import Action, ActionFile, LogColumns, parse_lines, read_rows
from lakelens.formats.delta.discovery import HINT, LOG, Checkpoint, LogListing, read_names
from lakelens.formats.struct_json import StructColumns, parse_schema
from lakelens.installed import read_text
from lakelens.io.ahead import fetch
from lakelens.io.relocation import Locator, split_location
from lakelens.io.tracing import TracingStore
from lakelens.model.bytes_view import Bound, Source
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType, PartitionField, PartitionSpec, Schema

_MOST_BYTES = 256 * 1024 * 1024  # of files of the log that are kept decoded, by what they have stored
_MOST_FETCHED, _SHOWN = 1_000, 5  # commits that are asked for together, and those that a card shows
_MOST_TOPS = 64  # checkpoints of which what is not about files is kept
#: the features that a reader has to know, as far as this one does
READER_FEATURES = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "geospatial"}
    | {"typeWidening", "typeWidening-preview", "variantType", "variantType-preview", "variantShredding"}
    | {"variantShredding-preview"}
)
#: the features by which a catalog decides which commits there are
CATALOG_FEATURES = frozenset({"catalogManaged", "catalogOwned", "catalogOwned-preview"})
_FURTHER = (
    ("version", DataType("long", "int64")),
    ("modified", DataType("timestamp", "timestamptz", precision=6)),
    ("data_change", DataType("boolean", "boolean")),
    ("vector_id", DataType("string", "string")),
    ("deleted_rows", DataType("long", "int64")),
    ("base_row_id", DataType("long", "int64")),
    ("default_row_commit_version", DataType("long", "int64")),
    ("clustering_provider", DataType("string", "string")),
)
_TEXT = DataType("string", "string")
MAPPED_ID, MAPPED_NAME = "delta.columnMapping.id", "delta.columnMapping.physicalName"
RETENTION, WEEK = "delta.deletedFileRetentionDuration", timedelta(weeks=1)


@cache
def read_features() -> Mapping[str, Mapping[str, Any]]:
    """Read what is known of the features of the protocol, by their names: see `features.toml`."""
    import tomllib

    return tomllib.loads(read_text(__package__, "features.toml"))


class LogContext(Bound):
    """The storage side of a Delta table, shared by its versions, the files of its log and its data files."""

    def __init__(self, store: TracingStore, root: str) -> None:
        self.access = TableAccess(store, Locator(root, scheme=store.scheme))
        self.store = self.access.store
        self.findings: Findings = self.access.findings
        self.root = self.access.locator.root
        self.folder = f"{self.root}/{LOG}"
        self.read_metadata: Callable[[], Action | None] = lambda: None
        self._files: LruCache[str, tuple[ActionFile, int]] = LruCache(_MOST_BYTES, lambda held: held[1])
        self._opened: LruCache[str, LogColumns] = LruCache(_MOST_BYTES, lambda opened: opened.size_bytes)
        self._tops: LruCache[str, ActionFile] = LruCache(_MOST_TOPS)

    @cached_property
    def log(self) -> LogListing:
        """The names in the log, listed once; what is odd about them is a finding."""
        listed = self.store.list(self.folder)
        log = read_names(listed)
        self._fetch_newest(log)
        log.report(self.folder, self.findings)
        if any(info.name == HINT and not info.is_dir for info in listed):
            self._check_hint(log)
        elif log.checkpoints:
            message = f"there are checkpoints, and no {HINT}: readers list the whole log"
            self.findings.add("note", "no-hint", self.folder, message)
        return log

    def _fetch_newest(self, log: LogListing) -> None:
        """Fetch what a card shows: the newest checkpoint, what is after it, the last commits and the first, and the hint."""
        newest = log.versions[-1] if log.versions else -1
        start = max((number for number in log.checkpoints if number <= newest), default=-1)
        last = sorted(number for number in log.commits if number > start)[-_MOST_FETCHED:]
        numbers = {*last, *log.versions[:1], *log.versions[-_SHOWN:]}
        commits = [log.commits[number] for number in sorted(numbers) if number in log.commits]
        parts = log.checkpoints[start][0].files if start in log.checkpoints else ()
        found = [f"{self.folder}/{HINT}"] if log.checkpoints else []
        found += [info.path for info in (*parts, *commits) if info.size <= _MOST_BYTES]
        fetch(self.store, documents=found)

    def _check_hint(self, log: LogListing) -> None:
        """Keep as findings what is wrong with the hint, which only saves readers a listing."""
        path = f"{self.folder}/{HINT}"
        try:
            version = parse_object(self.store.read(path), path, "the hint").get("version")
        except LakeError as error:
            self.findings.add("warning", "stale-hint", path, error.reason)
            return
        newest = max(log.checkpoints, default=None)
        if type(version) is not int:
            self.findings.add("warning", "stale-hint", path, "the hint names no version")
        elif version not in log.checkpoints:
            there = "there is none" if newest is None else f"the newest one that is complete is {newest}"
            message = f"the hint names a checkpoint of version {version}, which is not there: {there}"
            self.findings.add("warning", "stale-hint", path, message)
        elif newest is not None and version < newest:
            message = f"the hint names the checkpoint of version {version}, the newest one is {newest}"
            self.findings.add("note", "stale-hint", path, message)

    @cached_property
    def times(self) -> Mapping[int, datetime]:
        """When each commit was stored, adjusted so that a later one is later."""
        return self.log.adjust_times()

    def read(self, path: str, version: int) -> ActionFile:
        """Read the actions of a file of the log. Raises `LakeError` for one that cannot be read at all."""

        def load() -> tuple[ActionFile, int]:
            if path.endswith(".parquet"):
                columns = self.open_columns(path)
                return read_rows(columns, version), columns.size_bytes
            data = self.store.read(path)
            return parse_lines(data, path, version), len(data)

        return self._files.get(path, load)[0]

    def open_columns(self, path: str) -> LogColumns:
        """Open a file of the log in Parquet. Raises `LakeError`."""
        return self._opened.get(path, lambda: LogColumns(self.store.read(path), path))

    def read_others(self, path: str, version: int) -> ActionFile:
        """Read the actions of a file of the log that are not about files; of JSON all of them. Raises as `read` does."""
        if not path.endswith(".parquet"):
            return self.read(path, version)
        return self._tops.get(path, lambda: read_rows(self.open_columns(path), version, files=False))

    def list_parts(self, checkpoint: Checkpoint) -> list[tuple[str, int | None]]:
        """List the files that hold a checkpoint's actions, with their sizes as recorded: its own, and its sidecars.

        Raises `LakeError` for a checkpoint that names sidecars and cannot be read.
        """
        parts: list[tuple[str, int | None]] = [(info.path, info.size) for info in checkpoint.files]
        for action in self.read_tops(checkpoint):
            if action.kind == "sidecar":
                name = action.fields.get("path")
                if not isinstance(name, str) or not name:
                    raise Corrupt("a sidecar has no path", path=action.path, seen=name)
                place = self.locate(name) if "/" in name else f"{self.folder}/_sidecars/{name}"
                size = action.fields.get("sizeInBytes")
                parts.append((place, size if type(size) is int else None))
        return parts

    def read_tops(self, checkpoint: Checkpoint) -> list[Action]:
        """Read what a checkpoint that may name sidecars says itself; nothing of one in parts, which has none."""
        if checkpoint.kind == "multi-part":
            return []
        return self.read_others(checkpoint.files[0].path, checkpoint.version).actions

    def locate(self, recorded: str) -> str:
        """Locate a file by its decoded path: below the table, or where an absolute path leads."""
        scheme, place = split_location(recorded)
        if scheme or place.startswith("/"):
            return self.access.locator.locate(recorded)
        return f"{self.root}/{recorded.removeprefix('./')}"

    @cached_property
    def metadata(self) -> Action | None:
        """Today's metadata; None, with a finding, where the log has none that can be read."""
        found = self.read_metadata()
        if found is None:
            message = "the log has no metaData that can be read: columns and partitions are not known"
            self.findings.add("error", "no-metadata", self.folder, message)
        return found

    @cached_property
    def configuration(self) -> Mapping[str, Any]:
        """Today's table properties."""
        return read_configuration(self.metadata)

    @cached_property
    def columns(self) -> StructColumns:
        """Today's columns; none, with a finding, where the schema cannot be read."""
        nothing = StructColumns(Schema(None, ()), (), {})
        found = self.metadata
        if found is None:
            return nothing
        return self.access.attempt(lambda: read_schema(found), found.path, nothing)

    @cached_property
    def partitioning(self) -> PartitionSpec:
        """Today's partition columns."""
        return make_partitioning(self.metadata, self.columns.schema)

    @cached_property
    def file_columns(self) -> FileColumns:
        """Which columns the table's files have as Arrow."""
        parts = {field.source_name: field.result_type or _TEXT for field in self.partitioning.fields}
        stats = tuple((leaf.name, leaf.field.type) for leaf in self.columns.leaves if leaf.name not in parts)
        return FileColumns(stats, (), tuple(parts.items()), _FURTHER)

    def source(self, *needs: Any) -> Source:
        """Say what plain objects of this table find their bytes by."""

        def explain(thing: Any, *more: Any) -> Any:
            return explain_late("lakelens.formats.delta.explain", thing, self, *more)

        return Source(explain, *needs)


def read_configuration(metadata: Action | None) -> Mapping[str, Any]:
    """Read the table properties in a metadata action; none where it has none."""
    found = None if metadata is None else metadata.fields.get("configuration")
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, Mapping) else {}


def read_schema(metadata: Action) -> StructColumns:
    """Read the columns in a metadata action. Raises `Corrupt`."""
    mode = read_configuration(metadata).get("delta.columnMapping.mode", "none").lower()
    mapped = None if mode == "none" else (MAPPED_ID, MAPPED_NAME)
    columns = parse_schema(metadata.fields.get("schemaString"), metadata.path, metadata.version, mapped)
    widened = set(_list_widened(columns.schema.raw, ""))
    leaves = [replace(leaf, was_single=True) if leaf.name in widened else leaf for leaf in columns.leaves]
    return replace(columns, leaves=tuple(leaves)) if widened else columns


def _list_widened(described: Any, above: str) -> Iterator[str]:
    """List the columns that were of type float in older files."""
    for field in described.get("fields", ()) if isinstance(described, Mapping) else ():
        name, metadata = f"{above}{field['name']}", field.get("metadata")
        changes = metadata.get("delta.typeChanges") if isinstance(metadata, Mapping) else None
        for change in map(find_object, changes if isinstance(changes, list) else ()):
            if change.get("fromType") == "float" and "fieldPath" not in change:
                yield name
        yield from _list_widened(field.get("type"), f"{name}.")


def make_partitioning(metadata: Action | None, schema: Schema) -> PartitionSpec:
    """Make the partitioning that a metadata action names; a column that the schema does not have is text."""
    listed = None if metadata is None else metadata.fields.get("partitionColumns")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list | tuple) else []
    types = {field.name: field for field in schema.fields}
    fields = []
    for name in dict.fromkeys(names):
        field = types.get(name)
        number, kind = (None, _TEXT) if field is None else (field.id, field.type)
        fields.append(PartitionField(name, number, name, "identity", result_type=kind))
    return PartitionSpec(None, tuple(fields), raw=listed)
