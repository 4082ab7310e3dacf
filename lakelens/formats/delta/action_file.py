"""A data file of a Delta table as its action describes it: every field of `add`, `remove` and `cdc` under its name.

See "Add File and Remove File", "Add CDC File" and "Per-file Statistics" of the Delta protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.numbers import read_moment, read_number
from lakelens.codecs.text.objects import read_text
from lakelens.errors import LakeError
from lakelens.formats.contents import read_footer, read_rows
from lakelens.formats.delta.actions import Action, clean_path
from lakelens.formats.delta.context import LogContext
from lakelens.formats.delta.values import BAD, find_leaf, format_partition, parse_statistics, read_bound
from lakelens.formats.delta.vectors import match_vector
from lakelens.formats.row_groups.opening import FileLeaf
from lakelens.formats.row_groups.opening import open_row_groups as open_groups
from lakelens.formats.row_groups.values import FindColumn, TableColumn
from lakelens.formats.struct_json import StructColumn
from lakelens.model.datafile import DataFile, FileAnswers, Footer
from lakelens.model.deletes import DeleteMatch
from lakelens.model.scan.text_values import parse_value
from lakelens.model.scan.wide_bounds import widen_single
from lakelens.model.stats import Bounds, ColumnBounds, Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.scan.row_groups import RowGroups


class DeltaFile(DataFile):
    """A file that an action names, of which every field of the action is an attribute."""

    identified_by = ("logical_path", "vector_id")
    answers = "lakelens.formats.delta.action_file:ANSWERS"

    def __init__(self, action: Action, context: LogContext) -> None:
        fields, key = action.fields, action.key
        self._context = context
        self._action = action
        self._source = context.source()
        self.raw = dict(fields)
        self.recorded_path = fields["path"]
        self._key = key
        self.path = context.locate(key[0])
        self.content = "changelog" if action.kind == "cdc" else "data"
        self.file_format = name_format(self.path)
        self.size_bytes = read_number(fields, "size")
        self.snapshot_id = self.version
        self.manifest = action.path
        if action.vector is not None and action.kind == "add":
            self._find_deletes = find_deletes

    @cached_property
    def logical_path(self) -> str:
        """The path after one percent-decoding, which identifies the file together with its vector."""
        return clean_path(self.recorded_path)

    @cached_property
    def vector_id(self) -> str | None:
        """The id of its deletion vector, as the protocol makes it; None without one."""
        return self._key[1] or None

    @cached_property
    def version(self) -> int | None:
        """The version that added or removed it, as far as the log says it."""
        path = self._action.path
        is_committed = not (path.endswith(".parquet") or ".checkpoint." in path)
        return self._action.version if is_committed else self.default_row_commit_version

    @cached_property
    def modified(self) -> datetime | None:
        """When the file was written, by the action."""
        return read_moment(self._action.fields, "modificationTime")

    @cached_property
    def deletion_timestamp(self) -> datetime | None:
        """When the file was removed; of a `remove` alone."""
        return read_moment(self._action.fields, "deletionTimestamp")

    @cached_property
    def data_change(self) -> bool | None:
        """Whether rows changed; false where they were only rearranged."""
        found = self._action.fields.get("dataChange")
        return found if isinstance(found, bool) else None

    @cached_property
    def base_row_id(self) -> int | None:
        """The row id of its first row, with row tracking."""
        return read_number(self._action.fields, "baseRowId")

    @property
    def first_row_id(self) -> int | None:
        """The same, as formats with row ids call it."""
        return self.base_row_id

    @cached_property
    def default_row_commit_version(self) -> int | None:
        """The version that its rows are of unless they say otherwise, with row tracking."""
        return read_number(self._action.fields, "defaultRowCommitVersion")

    @cached_property
    def clustering_provider(self) -> str | None:
        """Which implementation has clustered it."""
        return read_text(self._action.fields, "clusteringProvider")

    @cached_property
    def tags(self) -> Mapping[str, Any]:
        """What its writer has added about it."""
        return self._action.fields.get("tags") or {}

    @cached_property
    def statistics(self) -> Mapping[str, Any]:
        """What the action says of its rows: numRecords, minValues, maxValues, nullCount; on damage empty, with a finding."""
        fields, context = self._action.fields, self._context
        text = fields.get("stats")
        if isinstance(text, str) and text:
            found: dict[str, Any] = context.access.attempt(
                lambda: parse_statistics(text, self._action.path), self._action.path, {}
            )
            return found
        parsed = fields.get("stats_parsed")
        return parsed if isinstance(parsed, Mapping) else {}

    @property
    def tight_bounds(self) -> bool:
        """Whether bounds and counts are of the rows that are left; else they are of all that the file has."""
        return self.statistics.get("tightBounds") is not False

    @property
    def deleted_rows(self) -> int | None:
        """How many rows its deletion vector deletes, as recorded; None without one."""
        vector = self._action.vector
        return None if vector is None else read_number(vector, "cardinality")


def name_format(path: str) -> str:
    """Name the format of a data file by its path: Parquet unless it says another one."""
    name = path.rpartition("/")[2]
    return "parquet" if name.endswith(".parquet") or "." not in name else name.rpartition(".")[2]


def find_deletes(file: DeltaFile) -> Sequence[DeleteMatch]:
    """Find the deletion vector of a file; a descriptor that says nothing is a finding."""
    if file.vector_id is None:
        return ()
    context, action = file._context, file._action
    return context.access.attempt(lambda: match_vector(action, context), action.path, ())


def _count_rows(file: DeltaFile) -> int | None:
    count = read_number(file.statistics, "numRecords")
    return count if count is not None and count >= 0 else None


def _read_partition(file: DeltaFile) -> Partition:
    context, stored = file._context, file._action.fields.get("partitionValues")

    def note(message: str) -> None:
        message = f"{message} in {file.recorded_path}"
        context.findings.add("warning", "partition-value", file._action.path, message)

    return make_partition(context, stored if isinstance(stored, Mapping) else {}, note)


def make_partition(context: LogContext, held: Mapping[str, Any], note: Callable[[str], None]) -> Partition:
    """Make a partition of its values by today's names and types; one that is none of its type is noted and stays text."""
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for field in context.partitioning.fields:
        name = context.columns.physical.get(field.source_name, field.source_name)
        text = held.get(name, held.get(field.source_name))
        text = text if isinstance(text, str | None) else str(text)
        texts[field.name] = format_partition(text)
        values[field.name] = text or None
        if not text or field.result_type is None:
            continue
        try:
            values[field.name] = parse_value(text, field.result_type)
        except BAD:
            note(f"{field.name} is {text[:60]!r}, which is no {field.result_type},")
    if not context.partitioning.fields and held and context.metadata is None:
        values |= held
        texts |= {name: format_partition(text) for name, text in held.items()}
    return Partition(values, texts)


DeltaFile.late = {"record_count": _count_rows, "partition": _read_partition}


def build_bounds(file: DeltaFile) -> Bounds:
    """Build bounds and counts of each leaf by today's names and types; what is none of its type is a finding."""
    context, statistics = file._context, file.statistics
    sides = [statistics.get(name) for name in ("minValues", "maxValues", "nullCount")]
    if not any(isinstance(side, Mapping) for side in sides):
        return Bounds({})
    found: dict[str, ColumnBounds] = {}
    for leaf in context.columns.leaves:
        low, high, nulls = (find_leaf(side, leaf.physical) for side in sides)
        if low is None and high is None and nulls is None:
            continue
        (lower, _), (upper, is_cut) = (
            _read_side(file, leaf, value, is_upper) for value, is_upper in ((low, False), (high, True))
        )
        count = nulls if type(nulls) is int and nulls >= 0 else None
        if not file.tight_bounds and count not in (0, file.record_count):
            count = None
        found[leaf.name] = ColumnBounds(
            leaf.name,
            leaf.field.type,
            leaf.field.id,
            lower,
            upper,
            count,
            file.record_count,
            truncated=is_cut if lower is not None or upper is not None else None,
            _source=context.source(),
        )
    return Bounds(found)


def _read_side(file: DeltaFile, leaf: StructColumn, value: Any, is_upper: bool) -> tuple[Any, bool]:
    try:
        bound, is_cut = read_bound(value, leaf.field.type, is_upper=is_upper)
        return (bound if bound is None or not leaf.was_single else widen_single(bound, is_upper)), is_cut
    except BAD as error:
        side = "maximum" if is_upper else "minimum"
        message = f"{side} of {leaf.name} of {file.recorded_path} is no {leaf.field.type}: {error}"
        file._context.findings.add("warning", "statistics", file._action.path, message)
        return None, False


def open_row_groups(file: DeltaFile) -> RowGroups | None:
    """Open the row groups of a file, columns found by physical name, or by field id where the table maps by id."""
    context, footer = file._context, file.footer
    return open_groups(
        context.store,
        footer,
        partial(_find_columns, context),
        lambda error: context.findings.add_error(error, file.path),
    )


def _find_columns(context: LogContext, leaves: Sequence[FileLeaf]) -> FindColumn:
    mode = context.configuration.get("delta.columnMapping.mode", "none").lower()
    names, ids = Counter(leaf.names for leaf in leaves), Counter(leaf.field_id for leaf in leaves)
    by_name = {leaf.names: leaf.place for leaf in leaves if names[leaf.names] == 1}
    by_id = {
        leaf.field_id: leaf.place for leaf in leaves if ids[leaf.field_id] == 1 and leaf.field_id is not None
    }
    columns = {leaf.name: leaf for leaf in context.columns.leaves}
    parts = {field.source_name for field in context.partitioning.fields}

    def find(name: str) -> TableColumn | None:
        leaf = columns.get(name)
        if leaf is None or name in parts:
            return None
        place = by_id.get(leaf.field.id) if mode == "id" else by_name.get(leaf.physical)
        if place is None and (names[leaf.physical] > 1 or (mode == "id" and not by_id)):
            return None
        return TableColumn(leaf.field.type, place)

    return find


def _read_footer(file: DeltaFile) -> Footer:
    return read_footer(file._context.store, file.path, file.file_format, file.size_bytes)


def _read_rows(file: DeltaFile, count: int) -> pa.Table:
    return read_rows(file._context.store, file.path, file.file_format, count, file.size_bytes)


ANSWERS = FileAnswers(
    footer=_read_footer,
    keeps_footer=True,
    rows=_read_rows,
    bounds=build_bounds,
    row_groups=open_row_groups,
    note=lambda file, *words: file._context.findings.add(*words),
)


def make_file(action: Action, context: LogContext) -> DeltaFile:
    """Make the file of an action. Raises `LakeError`."""
    try:
        return DeltaFile(action, context)
    except BAD as error:
        raise LakeError(f"an {action.kind} that is no file: {error}", path=action.path) from error
