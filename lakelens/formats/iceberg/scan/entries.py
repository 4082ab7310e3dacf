"""The entries of manifests by column, with inheritance applied: the same values as `IcebergManifest` gives entry by entry.

Fields are found as `manifests.records` finds them, by field id and else by name. Values of another Arrow type than the
specification's are `NotColumnar`: the record path shows what they are.

Follows "Manifests", "Sequence Number Inheritance" and "Row Lineage" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.records import (
    ENTRY_FIELDS,
    FILE_FIELDS,
    EntryReader,
    find_field,
    make_rename,
)
from lakelens.model.scan.columnar import NotColumnar, Part, number_parts

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.manifests.containers import Header
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.model.scan.plan import ScanTask

_LONGS = ("record_count", "file_size_in_bytes", "first_row_id", "content_offset", "content_size_in_bytes")
_INTS = ("content", "sort_order_id")
_TEXTS = ("file_path", "file_format", "referenced_data_file")
_MOST_ROWS = 2**62


class OpenManifest:
    """A manifest while its parts are read: `next_row_id` counts on from part to part, None where no rows are counted.

    `stored` are the bytes of a Parquet manifest until it is decoded.
    """

    def __init__(self, task: ScanTask, manifest: IcebergManifest) -> None:
        self.task, self.manifest = task, manifest
        self.spec_id = manifest.partition_spec_id
        self.header: Header | None = None
        self.stored = b""
        self.next_row_id = manifest.first_row_id if manifest.content == "data" else None


class EntryColumns:
    """Some entries of manifests that have one schema and one partition spec. Raises `NotColumnar`."""

    def __init__(self, table: pa.Table, header: Header, path: str) -> None:
        import pyarrow as pa

        self.rows = table.num_rows
        schema = header.record
        try:
            self.reader = EntryReader(schema, path)
        except LakeError as error:
            raise NotColumnar(str(error)) from error
        field = find_field(schema, 2, "data_file")
        files = (
            _join(table[field["name"]]) if field is not None and field["name"] in table.column_names else None
        )
        if files is None or files.null_count or not pa.types.is_struct(files.type):
            raise NotColumnar("no data_file")
        self._entry = _name_fields(table.column_names, schema, ENTRY_FIELDS)
        names = [files.type.field(i).name for i in range(files.type.num_fields)]
        self._file = _name_fields(names, self.reader.file_record, FILE_FIELDS)
        self._table, self._files = table, files

    def entry(self, name: str, kind: pa.DataType) -> pa.Array:
        """A field of the entries."""
        stored = self._entry.get(name)
        return self._check(None if stored is None else _join(self._table[stored]), kind, name)

    def file(self, name: str, kind: pa.DataType) -> pa.Array:
        """A field of their files."""
        stored = self._file.get(name)
        return self._check(None if stored is None else self._files.field(stored), kind, name)

    def get(self, name: str) -> pa.Array | None:
        """Give a field of their files as it is stored; None where the manifests do not have it."""
        stored = self._file.get(name)
        return None if stored is None else self._files.field(stored)

    def _check(self, found: pa.Array | None, kind: pa.DataType, name: str) -> pa.Array:
        import pyarrow as pa

        if found is None or pa.types.is_null(found.type):
            return pa.nulls(self.rows, kind)
        if found.type == kind:
            return found
        if pa.types.is_int32(found.type) and pa.types.is_int64(kind):
            return found.cast(kind)
        raise NotColumnar(f"{name} is {found.type}")


def _join(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _name_fields(
    stored: Sequence[str], record: Mapping[str, Any], fields: Mapping[int, str]
) -> dict[str, str]:
    """Give the name of each field in the table, by the name that the record path gives it."""
    names = [field["name"] for field in record.get("fields", ())]
    if len(set(names)) != len(names) or len(set(stored)) != len(stored):
        raise NotColumnar("a name stands twice")
    renamed = make_rename(record, fields)({name: name for name in names})
    return {name: was for name, was in renamed.items() if was in stored}


@dataclass(frozen=True, slots=True)
class Inherited:
    """What entries have of their own or of their manifest; `next_row_ids` are those of the manifests after them."""

    status: NDArray[np.int32]
    snapshot_id: pa.Array
    sequence_number: pa.Array
    file_sequence_number: pa.Array
    first_row_id: pa.Array
    next_row_ids: Sequence[int | None]


def inherit(entries: EntryColumns, parts: Sequence[Part]) -> Inherited:
    """Fill in what the manifests say. Raises `NotColumnar` where the record path refuses an entry."""
    import pyarrow as pa
    import pyarrow.compute as pc

    status = entries.entry("status", pa.int32())
    known: NDArray[np.int32] = status.fill_null(-1).to_numpy()
    if ((known < 0) | (known > 2)).any() or entries.file("file_path", pa.string()).null_count:
        raise NotColumnar("an entry that the record path refuses")
    manifests = [part.manifest.manifest for part in parts]
    added = _spread([manifest.added_snapshot_id for manifest in manifests], parts)
    sequence = _spread([manifest.sequence_number for manifest in manifests], parts)
    takes = pc.or_(pa.array(known == 1), pc.equal(sequence, 0))
    fallback = pc.if_else(takes, sequence, pa.scalar(None, pa.int64()))
    return Inherited(
        known,
        pc.coalesce(entries.entry("snapshot_id", pa.int64()), added),
        pc.coalesce(entries.entry("sequence_number", pa.int64()), fallback),
        pc.coalesce(entries.entry("file_sequence_number", pa.int64()), fallback),
        *_number_rows(entries, parts, known),
    )


def _spread(values: Sequence[int | None], parts: Sequence[Part]) -> pa.Array:
    """One value for each manifest, repeated for its entries."""
    import pyarrow as pa

    for value in values:
        if value is not None and (not isinstance(value, int) or not -(2**63) <= value < 2**63):
            raise NotColumnar("a manifest list with a wrong number")
    return pa.array(values, pa.int64()).take(pa.array(number_parts(parts)))


def _number_rows(
    entries: EntryColumns, parts: Sequence[Part], status: NDArray[np.int32]
) -> tuple[pa.Array, list[int | None]]:
    """First row ids: stored, or counted on from the manifest's over live data files that store none."""
    import numpy as np
    import pyarrow as pa

    following = [part.manifest.next_row_id for part in parts]
    if all(first is None for first in following):
        return pa.nulls(entries.rows, pa.int64()), following
    stored = entries.file("first_row_id", pa.int64())
    missing = stored.is_null().to_numpy(zero_copy_only=False)
    ids = stored.fill_null(0).to_numpy().copy()
    counts = entries.file("record_count", pa.int64()).fill_null(0).to_numpy()
    if float(np.abs(counts.astype(np.float64)).sum()) >= _MOST_ROWS:
        raise NotColumnar("more rows than can be counted")
    counted = missing & (status != 2)
    null = missing & (status == 2)
    begin = 0
    for number, part in enumerate(parts):
        rows = slice(begin, begin + part.rows)
        begin += part.rows
        first = following[number]
        if first is None:
            null[rows] = True
            continue
        if not isinstance(first, int) or abs(first) >= _MOST_ROWS:
            raise NotColumnar("a first row id that is out of range")
        steps = np.where(counted[rows], counts[rows], 0)
        ends = first + np.cumsum(steps)
        ids[rows] = np.where(counted[rows], ends - steps, ids[rows])
        following[number] = int(ends[-1]) if part.rows else first
    return pa.array(ids, mask=null), following


def check_types(entries: EntryColumns) -> None:
    """Raises `NotColumnar` unless every plain field, wanted or not, has its specified type."""
    import pyarrow as pa

    for names, kind in ((_LONGS, pa.int64()), (_INTS, pa.int32()), (_TEXTS, pa.string())):
        for name in names:
            entries.file(name, kind)
