"""Data files and delete files: every field of a manifest's `data_file` under its specified name.

Follows "Manifests" (`data_file` fields 100 to 145) and "Row Lineage" of the Iceberg table specification. Inherited values
(snapshot id, sequence numbers, first row id) are filled in; `raw` has what the file stores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lakelens.formats.access import StoredKey
from lakelens.formats.iceberg.context import TableContext, TableObject
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.model.datafile import Content, DataFile, column
from lakelens.model.stats import ColumnCounts, Partition

_CONTENTS: dict[int, Content] = {0: "data", 1: "position_deletes", 2: "equality_deletes"}


# stored fields that a set of files has as columns, with the same values
_COLUMNS = (
    *("content_offset", "content_size_in_bytes", "sort_order_id", "referenced_data_file"),
    "split_offsets",
)


def _show_counts(made: Any, name: str, held: Any) -> ColumnCounts | None:
    """Show a stored map of column ids to counts by the columns' names, in their order; made when it is looked at."""
    if not isinstance(held, dict):
        return None
    kept: dict[str, ColumnCounts] = made.__dict__.setdefault("_counts", {})
    if name not in kept:
        known = made._context.columns
        counts = {number: held[number] for number in sorted(held, key=known.rank)}
        found = ((number, known.find(number)) for number in counts)
        kept[name] = ColumnCounts(counts, name, {number: (c.name, str(c.type)) for number, c in found})
    return kept[name]


def _count_by_column(doc: str) -> StoredKey[ColumnCounts | None]:
    return StoredKey(doc, _show_counts)


class IcebergDataFile(TableObject, DataFile):
    """One data file, delete file or deletion vector.

    Fields of the specification are attributes under their names; `content` is a word here and a number in `raw`.
    `file_path` and `referenced_data_file` are as recorded; `path` and `referenced_data_path` say where those are now.
    `position` is the entry's in its manifest, from 0.
    """

    identified_by = ("recorded_path", "content_offset")
    copied_by = ("_place", "content_offset")
    sized_by = ("content_size_in_bytes", "size_bytes")
    late = MappingProxyType(
        {
            "path": lambda file: file._context.access.locator.locate(file.file_path),
            "partition": lambda file: file._load_partition(),
        }
    )
    answers = "lakelens.formats.iceberg.manifests.file_answers:ANSWERS"

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
        content = _CONTENTS.get(fields.get("content") or 0, "data")
        is_vector = self.file_format == "puffin" or fields.get("content_offset") is not None
        self.content = "deletion_vector" if content == "position_deletes" and is_vector else content
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

    @property
    def _place(self) -> str:
        """The path below the table's directory; whole, where it is elsewhere."""
        root = self._context.access.locator.root.rstrip("/") + "/"
        return self.path.removeprefix(root)

    def _find_stored(self, name: str) -> Any:
        if self._row is not None and name in _COLUMNS:
            try:
                return self._row.find(name)
            except KeyError:
                pass  # that column was not read: the record is
        return self._fields.get(name)

    column_sizes = _count_by_column("Bytes on disk by column id (108).")
    value_counts = _count_by_column("Values, nulls and NaNs included, by column id (109).")
    null_value_counts = _count_by_column("Nulls by column id (110).")
    nan_value_counts = _count_by_column("NaNs by column id (137).")
    distinct_counts = _count_by_column("Distinct values by column id (111); obsolete.")
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
