"""One `FileBatch` of the entries of some manifests: every column of the contract that is wanted, by Arrow's kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import FURTHER, TableContext
from lakelens.formats.iceberg.manifests.manifest import STATUS
from lakelens.formats.iceberg.scan.entries import Declined, EntryColumns, Inherited, ManifestRows
from lakelens.formats.iceberg.scan.partitions import PartitionColumns
from lakelens.formats.iceberg.scan.paths import locate_all
from lakelens.formats.iceberg.scan.records import encode_identity
from lakelens.formats.iceberg.scan.stats import STATS, build_stats, find_targets
from lakelens.model.arrow import arrow_type
from lakelens.model.scan.files_to_arrow import list_columns
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

_CONTENTS = ("data", "position_deletes", "equality_deletes", "deletion_vector")
_DELETED = 2


def build_batch(
    context: TableContext,
    entries: EntryColumns,
    inherited: Inherited,
    parts: Sequence[ManifestRows],
    request: ScanRequest,
) -> FileBatch:
    """The live files of some entries of one partition spec; every entry where entries are asked for. Raises `Declined`."""
    return _Batch(context, entries, inherited, parts, request).build()


class _Batch:
    def __init__(
        self,
        context: TableContext,
        entries: EntryColumns,
        inherited: Inherited,
        parts: Sequence[ManifestRows],
        request: ScanRequest,
    ) -> None:
        import pyarrow as pa

        self.context, self.entries, self.inherited = context, entries, inherited
        self.parts, self.request = parts, request
        live = inherited.status != _DELETED
        self.keep: pa.Array | None = None if request.entries or live.all() else pa.array(live)
        self.rows = entries.rows if self.keep is None else int(live.sum())
        self._recorded: pa.Array | None = None
        self._format: pa.Array | None = None
        self._content: pa.Array | None = None
        self._partitions: PartitionColumns | None = None
        self._paths: pa.Array | None = None

    def build(self) -> FileBatch:
        request = self.request
        wanted = list(request.columns or ())
        if request.columns is None:
            wanted = list_columns(self.context.describe_columns(), stats=request.stats)
        plain = {name: self.build_column(name) for name in wanted if name not in STATS and name != "status"}
        if request.entries and request.wants("status"):
            plain["status"] = self.word_status()
        asked = [name for name in wanted if name in STATS]
        stats = {}
        if asked:
            stats = build_stats(self.entries, self.keep, self.context.columns, asked, self.report)
        identity = order = None
        if request.identity:
            identity = encode_identity(self.recorded, self.take_file("content_offset", "int64"))
            order = self.number()
        return FileBatch(self.rows, plain, stats, identity, order)

    def build_column(self, name: str) -> pa.Array:
        import pyarrow as pa

        builder: Callable[[], pa.Array] | None = getattr(self, f"build_{name}", None)
        if builder is not None:
            return builder()
        if name in ("bucket", "level"):
            return pa.nulls(self.rows, pa.int32())
        if name == "schema_id":
            return pa.nulls(self.rows, pa.int64())
        kind = arrow_type(dict(FURTHER)[name])
        if pa.types.is_list(kind):
            return self.take_list(name, kind)
        return self.keep_rows(self.entries.file(name, kind))

    def keep_rows(self, array: pa.Array) -> pa.Array:
        """The rows that are wanted, in memory of their own: any piece of a decoded group keeps all of it in memory."""
        import pyarrow as pa

        if self.keep is not None:
            return array.filter(self.keep)
        if len(array) < self.entries.rows or array.offset:
            return pa.concat_arrays([array, array[:0]])
        return array.copy_to(pa.default_cpu_memory_manager())

    def take_file(self, name: str, kind: str) -> pa.Array:
        import pyarrow as pa

        return self.keep_rows(self.entries.file(name, getattr(pa, kind)()))

    def take_list(self, name: str, kind: pa.DataType) -> pa.Array:
        import pyarrow as pa

        stored = self.entries.get(name)
        if stored is None or pa.types.is_null(stored.type):
            return pa.nulls(self.rows, kind)
        if not pa.types.is_list(stored.type) or stored.type.value_type != kind.value_type:
            raise Declined(f"{name} is {stored.type}")
        return self.keep_rows(stored).cast(kind)

    # --- columns -------------------------------------------------------------------------------------------------------

    @property
    def recorded(self) -> pa.Array:
        if self._recorded is None:
            self._recorded = self.take_file("file_path", "string")
        return self._recorded

    @property
    def paths(self) -> pa.Array:
        if self._paths is None:
            self._paths = locate_all(self.context.access.locator, self.recorded)
        return self._paths

    def build_path(self) -> pa.Array:
        return self.paths

    def build_recorded_path(self) -> pa.Array:
        return self.recorded

    def build_file_format(self) -> pa.Array:
        """Lower case; guessed from the name where none is told."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._format is None:
            stored = self.take_file("file_format", "string")
            if stored.null_count or pc.any(pc.equal(stored, "")).as_py():
                told = zip(stored.to_pylist(), self.recorded.to_pylist(), strict=True)
                texts = [(text or path.rpartition(".")[2]).lower() for text, path in told]
                self._format = pa.array(texts, pa.string())
            else:
                encoded = stored.dictionary_encode()
                lower = pa.array([text.lower() for text in encoded.dictionary.to_pylist()], pa.string())
                self._format = lower.take(encoded.indices)
        return self._format

    def build_content(self) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._content is None:
            code = self.take_file("content", "int32").fill_null(0)
            code = pc.if_else(pc.is_in(code, pa.array([1, 2], pa.int32())), code, pa.scalar(0, pa.int32()))
            if pc.any(pc.equal(code, 1)).as_py():
                offset = self.take_file("content_offset", "int64")
                vector = pc.or_(pc.equal(self.build_file_format(), "puffin"), pc.is_valid(offset))
                code = pc.if_else(pc.and_(pc.equal(code, 1), vector), pa.scalar(3, pa.int32()), code)
            self._content = pa.array(_CONTENTS, pa.string()).take(code)
        return self._content

    @property
    def partitions(self) -> PartitionColumns:
        import pyarrow as pa

        if self._partitions is None:
            stored = self.entries.get("partition")
            if stored is not None and not pa.types.is_struct(stored.type):
                raise Declined(f"partition is {stored.type}")
            self._partitions = PartitionColumns(
                self.context.specs,
                self.parts[0].manifest.partition_spec_id,
                self.entries.reader,
                None if stored is None else self.keep_rows(stored),
                self.rows,
            )
        return self._partitions

    def build_partition(self) -> pa.Array:
        return self.partitions.word()

    def build_partition_values(self) -> pa.Array:
        return self.partitions.build(self.context.specs.model_columns())

    def build_record_count(self) -> pa.Array:
        return self.take_file("record_count", "int64")

    def build_size_bytes(self) -> pa.Array:
        return self.take_file("file_size_in_bytes", "int64")

    def build_spec_id(self) -> pa.Array:
        import pyarrow as pa

        number = self.parts[0].manifest.partition_spec_id
        return pa.repeat(pa.scalar(number if abs(number) < 2**31 else None, pa.int32()), self.rows)

    def build_sequence_number(self) -> pa.Array:
        return self.keep_rows(self.inherited.sequence_number)

    def build_file_sequence_number(self) -> pa.Array:
        return self.keep_rows(self.inherited.file_sequence_number)

    def build_first_row_id(self) -> pa.Array:
        return self.keep_rows(self.inherited.first_row_id)

    def build_snapshot_id(self) -> pa.Array:
        """Those that are deleted are left out, or asked for with the snapshot of their entry."""
        return self.keep_rows(self.inherited.snapshot_id)

    def build_manifest(self) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        indices = np.repeat(np.arange(len(self.parts)), [part.rows for part in self.parts])
        places = pa.array([part.manifest.path for part in self.parts], pa.string())
        return places.take(self.keep_rows(pa.array(indices)))

    def build_referenced_data_path(self) -> pa.Array:
        import pyarrow.compute as pc

        is_position = pc.equal(self.build_content(), "position_deletes")
        recorded = self.take_file("referenced_data_file", "string")
        targets = find_targets(self.entries, self.keep, is_position, recorded)
        return locate_all(self.context.access.locator, targets)

    def word_status(self) -> pa.Array:
        import pyarrow as pa

        words = pa.array([STATUS[code] for code in sorted(STATUS)], pa.string())
        return words.take(pa.array(self.inherited.status))

    def number(self) -> pa.Array:
        """The place of each entry among all."""
        import numpy as np
        import pyarrow as pa

        orders = [
            (part.position << ORDER_BITS) + part.start + np.arange(part.rows, dtype=np.int64)
            for part in self.parts
        ]
        return self.keep_rows(pa.array(np.concatenate(orders)))

    def report(self, row: int, error: LakeError) -> None:
        """Keep a bound that cannot be read as a finding of its file."""
        self.context.findings.add_error(error, self.paths[row].as_py())
