"""The columns of a set of files from the columns of manifest entries: all but the statistics and the keys.

Each different partition is taken once, and all of them together where their types allow: numbers, texts and booleans have
one written form, which Arrow's cast gives; what a path escapes, and partitions of other types, go through the record path's
own functions one by one. See "Partition" of the Paimon documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.datafile import SOURCES
from lakelens.formats.paimon.manifests.manifest import KINDS
from lakelens.formats.paimon.metadata.layout import escape_path, file_format, name_bucket
from lakelens.formats.paimon.metadata.partitions import Partitions
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.model.arrow import make_struct, map_distinct, text_array, to_array
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import type_column

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.paimon.context import TableContext
    from lakelens.model.fileset import FileColumns
    from lakelens.model.stats import Partition

_ONE_FORM = {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "CHAR", "VARCHAR"}
_PLAIN = "^[0-9A-Za-z_.-]+$"  # texts that a path neither escapes nor has another word for
# the column, the field of the record that it is, and what family its type must be of
_FIELDS = {
    "bucket": ("_BUCKET", "integer"),
    "level": ("_LEVEL", "integer"),
    "record_count": ("_ROW_COUNT", "integer"),
    "size_bytes": ("_FILE_SIZE", "integer"),
    "schema_id": ("_SCHEMA_ID", "integer"),
    "sequence_number": ("_MAX_SEQUENCE_NUMBER", "integer"),
    "total_buckets": ("_TOTAL_BUCKETS", "integer"),
    "min_sequence_number": ("_MIN_SEQUENCE_NUMBER", "integer"),
    "max_sequence_number": ("_MAX_SEQUENCE_NUMBER", "integer"),
    "delete_row_count": ("_DELETE_ROW_COUNT", "integer"),
    "external_path": ("_EXTERNAL_PATH", "text"),
    "first_row_id": ("_FIRST_ROW_ID", "integer"),
    "write_cols": ("_WRITE_COLS", "list"),
    "write_cols_sequences": ("_WRITE_COLS_SEQUENCES", "list"),
    "value_stats_cols": ("_VALUE_STATS_COLS", "list"),
    "embedded_file_index": ("_EMBEDDED_FILE_INDEX", "bytes"),
}
_FIRST_MILLIS, _LAST_MILLIS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999


KEYS = ("min_key", "max_key")


class PlainColumns:
    """Builds columns of some entries. Raises `NotColumnar` where only the record path can."""

    def __init__(self, context: TableContext, columns: FileColumns, rows: EntryRows) -> None:
        self._context = context
        self._columns = columns
        self._rows = rows

    def build(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """Build the columns of these names but those that are built elsewhere."""
        makers: dict[str, Callable[[], pa.Array]] = {
            "content": lambda: self._repeat([part.task.line[0] for part in self._rows.parts]),
            "manifest": lambda: self._manifests,
            "status": lambda: self._take([KINDS[0], KINDS[1]], self._rows.find("_KIND", "integer")),
            "path": self._locate,
            "recorded_path": self._find_recorded,
            "file_format": self._find_formats,
            "partition": lambda: self._partitions.texts.take(self._partitions.codes),
            "partition_values": self._build_values,
            "file_source": self._find_sources,
            "creation_time": self._find_times,
            "extra_files": self._find_extra,
        }
        built = {}
        for name in names:
            if name in _FIELDS:
                built[name] = fit(self._rows.find(*_FIELDS[name]), type_column(name, self._columns))
            elif name in makers:
                built[name] = makers[name]()
        return built

    def list_partitions(self) -> tuple[list[Partition], pa.Array]:
        """List the different partitions, and which of them each row has."""
        import pyarrow as pa

        return self._partitions.list_distinct(), self._partitions.codes.cast(pa.int64())

    @staticmethod
    def _take(texts: Sequence[str | None], numbers: pa.Array) -> pa.Array:

        return text_array(texts).take(numbers)

    def _repeat(self, texts: Sequence[str]) -> pa.Array:
        """Repeat one text for each part, for each row."""
        import pyarrow as pa

        return self._take(texts, pa.array(self._rows.find_parts()))

    @cached_property
    def _manifests(self) -> pa.Array:
        return self._repeat([part.task.path for part in self._rows.parts])

    def _find_recorded(self) -> pa.Array:
        import pyarrow.compute as pc

        names, external = self._rows.find("_FILE_NAME", "text"), self._rows.find("_EXTERNAL_PATH", "text")
        if external.null_count == len(external):
            return names
        return pc.if_else(pc.fill_null(pc.not_equal(external, ""), False), external, names)

    def _find_formats(self) -> pa.Array:
        """Find the formats by the ends of names, from the first dot on: there are few different ones, often one alone."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = self._rows.find("_FILE_NAME", "text")
        _, dot, rest = names[0].as_py().partition(".")
        end = dot + rest
        behind = pc.subtract(pc.binary_length(names), pc.find_substring(names, "."))
        same = pc.and_(pc.equal(behind, len(end.encode())), pc.ends_with(names, end))
        if "/" not in end and pc.all(same).as_py():
            return pa.repeat(file_format(f"x{end}"), len(names))
        ends = pc.replace_substring_regex(names, r"(?s)^(?:.*/)?[^.]*", "")
        return map_distinct(ends, lambda end: file_format(f"x{end}"), pa.string())

    def _find_sources(self) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        numbers = self._rows.find("_FILE_SOURCE", "integer")
        if not pa.types.is_integer(numbers.type):
            return pa.nulls(len(numbers), pa.string())
        known = pc.index_in(numbers, pa.array(list(SOURCES), numbers.type))
        return self._take(list(SOURCES.values()), known)

    def _find_times(self) -> pa.Array:
        """Milliseconds, or timestamps of any unit; in years that Python has, as the record path."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column, kind = self._rows.find("_CREATION_TIME", "time"), pa.timestamp("ms")
        if pa.types.is_timestamp(column.type):
            column = to_unit(column, kind)
        if pa.types.is_null(column.type):
            return pa.nulls(len(column), kind)
        millis = fit(column, pa.int64())
        inside = pc.and_(pc.greater_equal(millis, _FIRST_MILLIS), pc.less_equal(millis, _LAST_MILLIS))
        return pc.if_else(inside, millis, pa.scalar(None, pa.int64())).view(kind)

    def _find_extra(self) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = type_column("extra_files", self._columns)
        lists = fit(self._rows.find("_EXTRA_FILES", "list"), kind)
        return lists if not lists.null_count else pc.coalesce(lists, pa.scalar([], kind))

    def _locate(self) -> pa.Array:
        import pyarrow.compute as pc

        external = self._rows.find("_EXTERNAL_PATH", "text")
        if external.null_count == len(external):
            return self._join_paths(None)
        outside = pc.is_valid(external)
        paths = self._join_paths(outside)
        numbers = pc.indices_nonzero(outside).to_pylist()
        bucket, name = self._rows.find("_BUCKET", "integer"), self._rows.find("_FILE_NAME", "text")
        columns = (self._find_stored(), bucket, name, external, self._manifests)
        places = ([column[number].as_py() for column in columns] for number in numbers)
        found = [self._context.locate_data(p, b or 0, n, e, m) for p, b, n, e, m in places]
        return pc.replace_with_mask(paths, outside, text_array(found))

    def _join_paths(self, outside: Any) -> pa.Array:
        """Folder, bucket and name; the folders only of partitions that have a file inside of the table."""
        import pyarrow as pa
        import pyarrow.compute as pc

        folders = self._partitions.find_folders(outside).take(self._partitions.codes)
        buckets = self._rows.find("_BUCKET", "integer")
        if pa.types.is_null(buckets.type):
            buckets = pa.nulls(len(buckets), pa.int32())
        below = map_distinct(pc.fill_null(buckets, 0), name_bucket, pa.string())
        names = self._rows.find("_FILE_NAME", "text")
        return pc.binary_join_element_wise(folders, below, names, "/")

    def _build_values(self) -> pa.Array:
        kind = type_column("partition_values", self._columns)
        partitions = self._partitions
        children = [partitions.find_values(one.name, one.type).take(partitions.codes) for one in kind]
        return make_struct(children, kind, len(self._rows))

    def _find_stored(self) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        stored = self._rows.find("_PARTITION", "bytes")
        if pa.types.is_null(stored.type):
            stored = pa.nulls(len(stored), pa.binary())
        return pc.fill_null(stored, b"")

    @cached_property
    def _partitions(self) -> PartitionColumns:
        return PartitionColumns(self._find_stored(), self._context.partitions, self._rows)


def fit(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Fit a column as the type of the contract; an integer that it cannot hold is null."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    if column.type == kind:
        return column
    if pa.types.is_list(kind) and pa.types.is_integer(column.type.value_type) != pa.types.is_integer(
        kind.value_type
    ):
        raise NotColumnar(f"{column.type} is not {kind}")
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if not pa.types.is_integer(kind) or not pa.types.is_integer(column.type):
            raise NotColumnar(f"{column.type} is not {kind}") from error
        return to_array(column.to_pylist(), kind)


def to_unit(column: pa.Array, kind: pa.TimestampType) -> pa.Array:
    """Timestamps in another unit, cut as the record path cuts them. Raises `NotColumnar` where 64 bits do not hold one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    steps = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
    ours, theirs = steps[kind.unit], steps[column.type.unit]
    ticks = column.view(pa.int64())
    if theirs > ours:
        ticks = _divide(ticks, theirs // ours)
    elif ours > theirs:
        try:
            ticks = pc.multiply_checked(ticks, ours // theirs)
        except pa.ArrowInvalid as error:
            raise NotColumnar("timestamps beyond 64 bits") from error
    return ticks.view(kind)


def _divide(ticks: pa.Array, step: int) -> pa.Array:
    """Divided toward the past."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    floored = np.floor_divide(pc.fill_null(ticks, 0).to_numpy(zero_copy_only=False), step)
    return pa.array(floored, pa.int64(), mask=np.asarray(ticks.is_null()))


class PartitionColumns:
    """The different ones of the serialized partitions of `rows`, an item for each; `codes` say which one each row has."""

    def __init__(self, stored: pa.Array, partitions: Partitions, rows: EntryRows) -> None:
        coded = stored.dictionary_encode()
        self.codes = coded.indices
        self._stored = coded.dictionary
        self._partitions = partitions
        self._rows = rows

    @cached_property
    def texts(self) -> pa.Array:
        """The text of each partition."""
        if self._by_column is None:
            return to_array([str(one) for one, _ in self._singly], _string())
        return _join("", [f"{name}=" for name in self._by_column], [t for _, t in self._by_column.values()])

    def list_distinct(self) -> list[Partition]:
        """List each partition, as the record path decodes it."""
        return [partition for partition, _ in self._singly]

    def find_folders(self, outside: pa.Array | None) -> pa.Array:
        """Find the directory of each partition, of those alone that have a row that is not `outside`."""
        import pyarrow.compute as pc

        if self._by_column is not None:
            base = self._partitions.base
            heads = [f"{escape_path(name)}=" for name in self._by_column]
            return _join(f"{base}/" if base else "", heads, [text for _, text in self._by_column.values()])
        wanted: Collection[int] = range(len(self._stored))
        if outside is not None:
            wanted = set(self.codes.filter(pc.invert(outside)).to_pylist())
        pairs = zip(self._stored.to_pylist(), self._singly, strict=True)
        found = [
            self._partitions.folder(stored, manifest) if number in wanted else ""
            for number, (stored, (_, manifest)) in enumerate(pairs)
        ]
        return to_array(found, _string())

    def find_values(self, name: str, kind: pa.DataType) -> pa.Array:
        """Find a partition field of each partition."""
        import pyarrow as pa

        if self._by_column is None:
            return to_array([one.get(name) for one, _ in self._singly], kind)
        if name not in self._by_column:
            return pa.nulls(len(self._stored), kind)
        return self._by_column[name][0].cast(kind)

    @cached_property
    def _by_column(self) -> dict[str, tuple[pa.Array, pa.Array]] | None:
        """Values and texts of each field; None where only one by one they say what the record path says."""
        from lakelens.codecs.paimon.row_columns import decode_binary_rows

        columns = self._partitions.columns
        if not columns or any(column.type.name not in _ONE_FORM for column in columns):
            return None
        try:
            decoded = decode_binary_rows(self._stored, columns)
        except LakeError:
            return None
        values = [decoded.field(place) for place in range(len(columns))]
        return {c.name: (v, self._write(v, c)) for v, c in zip(values, columns, strict=True)}

    @cached_property
    def _singly(self) -> list[tuple[Partition, str]]:
        """Each partition with the path of the manifest that first has it."""
        import numpy as np

        _, firsts = np.unique(self.codes.to_numpy(), return_index=True)
        manifests = [self._rows.parts[part].task.path for part in self._rows.find_parts()[firsts]]
        pairs = zip(self._stored.to_pylist(), manifests, strict=True)
        return [(self._partitions.decode(stored, manifest), manifest) for stored, manifest in pairs]

    def _write(self, values: pa.Array, column: PaimonField) -> pa.Array:
        """Write the text of each value."""
        import pyarrow.compute as pc

        texts = values.cast(_string())
        odd = pc.invert(pc.fill_null(pc.match_substring_regex(texts, _PLAIN), False))
        written = [self._partitions.write(value, column) for value in values.filter(odd).to_pylist()]
        return pc.replace_with_mask(texts, odd, to_array(written, _string())) if written else texts


def _string() -> pa.DataType:
    import pyarrow as pa

    return pa.string()


def _join(base: str, heads: Sequence[str], texts: Sequence[pa.Array]) -> pa.Array:
    """Heads and texts in turn, the pairs apart by slashes."""
    import pyarrow.compute as pc

    parts: list[Any] = []
    for number, (head, text) in enumerate(zip(heads, texts, strict=True)):
        parts += [f"{'/' if number else base}{head}", text]
    return pc.binary_join_element_wise(*parts, "")
