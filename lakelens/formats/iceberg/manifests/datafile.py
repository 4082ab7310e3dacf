"""Data files and delete files: every field of a manifest's `data_file` under its specified name.

Follows "Manifests" (`data_file` fields 100 to 145) and "Row Lineage" of the Iceberg table specification. Inherited values
(snapshot id, sequence numbers, first row id) are filled in; `raw` has what the file stores.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.formats.access import StoredKey
from lakelens.formats.iceberg.context import TableContext, TableObject
from lakelens.formats.iceberg.manifests.bounds import build_bounds
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.model.collections import Preview
from lakelens.model.datafile import Content, DataFile, Footer, column
from lakelens.model.stats import Bounds, ColumnCounts, Encoded, Partition

if TYPE_CHECKING:
    from lakelens.formats.iceberg.deletes.matching import DeleteIndex
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.model.deletes import DeleteMatch, DeleteMatches
    from lakelens.model.scan.file_table import FileRow
    from lakelens.model.scan.row_groups import RowGroups

_CONTENTS: dict[int, Content] = {0: "data", 1: "position_deletes", 2: "equality_deletes"}


# stored fields that a set of files has as columns, with the same values
_COLUMNS = (
    *("content_offset", "content_size_in_bytes", "sort_order_id", "referenced_data_file"),
    "split_offsets",
)


class StoredCounts(StoredKey[ColumnCounts | None]):
    """A stored map of column ids to counts, which knows the columns' names: in their order, made when it is looked at."""

    def _show(self, made: Any, held: Any) -> ColumnCounts | None:
        if not isinstance(held, dict):
            return None
        kept: dict[str, ColumnCounts] = made.__dict__.setdefault("_counts", {})
        if self._name not in kept:
            known = made._context.columns
            counts = {number: held[number] for number in sorted(held, key=known.rank)}
            found = ((number, known.find(number)) for number in counts)
            columns = {number: (column.name, str(column.type)) for number, column in found}
            kept[self._name] = ColumnCounts(counts, self._name, columns)
        return kept[self._name]


class IcebergDataFile(TableObject, DataFile):
    """One data file, delete file or deletion vector.

    Fields of the specification are attributes under their names; `content` is a word here and a number in `raw`.
    `file_path` and `referenced_data_file` are as recorded; `path` and `referenced_data_path` say where those are now.
    `position` is the entry's in its manifest, from 0.
    """

    raw: Mapping[str, Any]
    _home: IcebergManifest
    file_path: str = column(of="recorded_path")
    file_size_in_bytes: int | None = column(of="size_bytes")
    file_sequence_number: int | None = column()
    first_row_id: int | None = column()

    def __init__(
        self,
        context: TableContext,
        fields: Mapping[str, Any],
        partition: Callable[[], Partition],
        *,
        spec_id: int | None,
        manifest: str,
        snapshot_id: int | None,
        sequence_number: int | None,
        file_sequence_number: int | None,
        first_row_id: int | None,
        position: int | None = None,
    ) -> None:
        self._context = context
        self._load_partition = partition
        self.raw = self._fields = fields
        self.file_path = fields["file_path"]
        self.recorded_path = self.file_path
        self.file_format = str(fields.get("file_format") or self.file_path.rpartition(".")[2]).lower()
        self.content = self._find_content()
        self.record_count = fields.get("record_count")
        self.file_size_in_bytes = fields.get("file_size_in_bytes")
        self.size_bytes = self.file_size_in_bytes
        self.spec_id = spec_id
        self.manifest = manifest
        self.position = position
        self.snapshot_id = snapshot_id
        self.sequence_number = sequence_number
        self.file_sequence_number = file_sequence_number
        self.first_row_id = first_row_id
        self._index: Callable[[], DeleteIndex] | None = None
        self._matches: DeleteMatches | None = None

    @classmethod
    def of_row(
        cls, context: TableContext, row: FileRow, manifest: IcebergManifest, index: Callable[[], DeleteIndex]
    ) -> IcebergDataFile:
        """The file of a row, as a snapshot sees it, whose deletes `index` knows; `manifest` holds its entry."""
        made = cls.__new__(cls)
        made._context, made._row, made._home = context, row, manifest
        made._index, made._matches = index, None
        return made

    def _read_entry(self, row: FileRow) -> DataFile:
        row_id = row.load("first_row_id") if self._home.counts_rows else None
        return self._home.read_entry(row.entry, row_id).file

    @cached_property
    def path(self) -> str:  # type: ignore[override]
        """Where the file is now."""
        return self._context.access.locator.locate(self.file_path)

    @cached_property
    def partition(self) -> Partition:  # type: ignore[override]
        """The partition tuple, typed by the spec that the file was written with."""
        return self._load_partition()

    @property
    def identity(self) -> Hashable:
        """The recorded path and, for a deletion vector, where it begins in its Puffin file."""
        return (self.file_path, self.content_offset)

    @property
    def copy_identity(self) -> Hashable:
        """The path below the table's directory (whole, where it is elsewhere), and a vector's place in its file."""
        root = self._context.access.locator.root.rstrip("/") + "/"
        return (self.path.removeprefix(root), self.content_offset)

    @property
    def own_size_bytes(self) -> int | None:
        """The bytes of the file; of a deletion vector those of its blob."""
        return self.content_size_in_bytes or self.size_bytes

    def _find_stored(self, name: str) -> Any:
        if self._row is not None and name in _COLUMNS:
            try:
                return self._row.find(name)
            except KeyError:
                pass  # that column was not read: the record is
        return self._fields.get(name)

    column_sizes = StoredCounts("Bytes on disk by column id (108).")
    value_counts = StoredCounts("Values, nulls and NaNs included, by column id (109).")
    null_value_counts = StoredCounts("Nulls by column id (110).")
    nan_value_counts = StoredCounts("NaNs by column id (137).")
    distinct_counts = StoredCounts("Distinct values by column id (111); obsolete.")
    lower_bounds = StoredKey[dict[int, bytes] | None](
        "Lower bounds as stored bytes by column id (125); decoded in `bounds`."
    )
    upper_bounds = StoredKey[dict[int, bytes] | None](
        "Upper bounds as stored bytes by column id (128); decoded in `bounds`."
    )
    key_metadata = StoredKey[bytes | None]("What an encryption needs (131).")
    split_offsets = StoredKey[list[int] | None]("Bytes at which row groups begin (132).")
    equality_ids = StoredKey[list[int] | None]("The columns that an equality delete compares (135).")
    sort_order_id = StoredKey[int | None]("The sort order the rows were written in (140).")
    referenced_data_file = StoredKey[str | None](
        "The one data file that the deletes are for, as recorded (143)."
    )
    content_offset = StoredKey[int | None]("Where a deletion vector begins in its Puffin file (144).")
    content_size_in_bytes = StoredKey[int | None]("Bytes of a deletion vector in its Puffin file (145).")
    block_size_in_bytes = StoredKey[int | None]("Version 1's block size (105); obsolete.")
    file_ordinal = StoredKey[int | None]("Version 1's ordinal (106); obsolete.")
    sort_columns = StoredKey[list[int] | None]("Version 1's sort columns (107); obsolete.")

    @property
    def target(self) -> str | None:
        """The one data file that position deletes are for: recorded, or known from equal bounds of `file_path`."""
        if self.referenced_data_file is not None or self.content != "position_deletes":
            return self.referenced_data_file
        lower = (self.lower_bounds or {}).get(DELETE_FILE_PATH)
        upper = (self.upper_bounds or {}).get(DELETE_FILE_PATH)
        return lower.decode("utf-8", "replace") if lower is not None and lower == upper else None

    @property
    def referenced_data_path(self) -> str | None:
        """Where the file of `target` is now."""
        return None if self.target is None else self._context.access.locator.locate(self.target)

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds and counts per leaf column, under today's names and types."""
        context, path = self._context, self.path
        return build_bounds(
            self._fields,
            context.columns,
            context.properties,
            lambda error: context.findings.add_error(error, path),
            context.source(self),
        )

    @property
    def deletes(self) -> DeleteMatches:
        """The delete files and vectors that reach this data file in its snapshot, each with its rule and its rows.

        Empty for delete files, and for a file that was taken from a manifest instead of a snapshot's `files`.
        """
        if self._matches is None:
            from lakelens.model.deletes import DeleteMatches

            self._matches = DeleteMatches(() if self._index is None else self._index().match(self))
        return self._matches

    def with_deletes(self, index: Callable[[], DeleteIndex]) -> IcebergDataFile:
        """The same file as a snapshot sees it, whose deletes `index` knows."""
        seen = copy(self)
        seen._index, seen._matches = index, None
        return seen

    @cached_property
    def footer(self) -> Footer:
        """What the file says of itself: Parquet, ORC, Avro or Puffin facts. Raises `LakeError` when it cannot be read."""
        from lakelens.formats.iceberg.manifests.contents import read_footer

        return read_footer(self._context, self)

    def list_encoded(self) -> Sequence[Encoded]:
        from lakelens.formats.iceberg.manifests.encoded import iterate_encoded

        return tuple(iterate_encoded(self))

    @cached_property
    def row_groups(self) -> RowGroups | None:
        """The row groups or stripes of a Parquet or ORC file, their columns found by field id; None for others."""
        from lakelens.formats.iceberg.manifests.row_groups import open_row_groups

        return open_row_groups(self._context, self)

    def preview(self, n: int = 10) -> Preview:
        from lakelens.formats.iceberg.manifests.contents import read_preview

        return Preview(read_preview(self._context, self, n), self._find_deleted)

    def _note_beyond(self, match: DeleteMatch, last: int) -> None:
        message = f"it deletes row {last} of {self.path}, which has {self.record_count} rows"
        self._context.findings.add("warning", "delete-past-the-end", match.file.path, message)

    def _find_content(self) -> Content:
        content = _CONTENTS.get(self._fields.get("content") or 0, "data")
        is_vector = self.file_format == "puffin" or self.content_offset is not None
        return "deletion_vector" if content == "position_deletes" and is_vector else content
