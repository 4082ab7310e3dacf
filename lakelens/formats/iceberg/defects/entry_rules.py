"""What writers of Iceberg get wrong in the entry of a file: metrics, delete files and vectors, partitions by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType
from lakelens.errors import LakeError
from lakelens.formats.defects import (
    find_snapshots,
    list_chunks,
    list_sizes,
    read_entries,
    sample_recorded,
    shorten,
)
from lakelens.model.check.defect import Product, rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.datafile import DataFile
    from lakelens.model.finding import Finding

_MOST = 200
#: Entries that are looked at one by one at a time.
_PIECE = 16_384


@rule(
    "split-offsets-past-end",
    "split offsets of another file, past the end of this one",
    writers=(Product("iceberg", "1.4.0", "1.4.1"),),
    threads=("apache/iceberg#8860", "apache/iceberg#8834", "apache/iceberg#8925"),
    shows="the last split offset is not less than the length of the file",
    severity="warning",
)
def split_offsets(table: IcebergTable) -> Iterator[Finding]:
    """Iceberg 1.4.0 read the split offsets of a manifest's first entry for all of them, and rewrote manifests with those.

    Shows in entries: the last split offset is at or past the end of the file. Readers since 1.4.1 ignore such offsets.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    entries = read_entries(table)
    if not entries.num_rows or pa.types.is_string(entries["split_offsets"].type):
        return
    is_known = pc.fill_null(pc.greater(pc.list_value_length(entries["split_offsets"]), 0), False)
    offsets, sizes = (
        entries[name].filter(is_known).combine_chunks() for name in ("split_offsets", "size_bytes")
    )
    ends = pc.subtract(pc.cumulative_sum(pc.cast(pc.list_value_length(offsets), pa.int64())), 1)
    last = pc.list_flatten(offsets).take(ends)
    wrong = pc.fill_null(pc.greater_equal(last, sizes), False)
    rows = entries.take(pc.indices_nonzero(is_known).filter(wrong))
    for path, size, offset, manifest in zip(
        *(rows[name].to_pylist() for name in ("path", "size_bytes")),
        last.filter(wrong).to_pylist(),
        rows["manifest"].to_pylist(),
        strict=True,
    ):
        message = f"the last split offset is {offset:,}, the file has {size:,} bytes"
        yield split_offsets.report(shorten(table, path), message, find_snapshots(table, [manifest]))


@rule(
    "file-size-too-large",
    "the recorded length counts rows that were still buffered",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#1980", "trinodb/trino#6369"),
    shows="a complete file is shorter than recorded",
    severity="error",
)
def file_sizes(table: IcebergTable) -> Iterator[Finding]:
    """Old Parquet writers of Iceberg took a file's length with rows that were still buffered: more bytes are recorded
    than written.

    Shows in entries and the listing: the recorded length is larger than the file, which is complete all the same.
    """
    entries, sizes = read_entries(table), list_sizes(table)
    pieces = entries.select(["path", "size_bytes"]).to_batches(max_chunksize=_PIECE)
    pairs = chain.from_iterable(
        zip(*(column.to_pylist() for column in piece), strict=True) for piece in pieces
    )
    shorter = {path for path, size in pairs if path in sizes and size is not None and sizes[path] < size}
    if not shorter or table.current is None:
        return
    for number, file in enumerate(table.files.choose(lambda path: path in shorter, "path")):
        if number == _MOST:
            return
        try:
            rows = file.footer.facts.num_rows
        except (LakeError, AttributeError):
            continue  # it is cut off: that is damage, not this defect
        if rows == file.record_count:
            message = (
                f"recorded with {file.size_bytes:,} bytes, the file is complete with {sizes[file.path]:,}"
            )
            snapshots = [table.current.id]
            yield file_sizes.report(shorten(table, file.path), message, snapshots)


@rule(
    "nan-bounds",
    "NaN as a bound of a column",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#2464", "apache/iceberg#1761"),
    shows="a lower or upper bound of a float or double column is NaN",
    severity="warning",
)
def nan_bounds(table: IcebergTable) -> Iterator[Finding]:
    """Iceberg took bounds of floats from the files as they were: in ORC a first value of NaN made both bounds NaN.

    Shows in entries: a lower or upper bound that is NaN. A reader that believes it skips files with matching rows.
    """
    if not any(leaf.type.logical in ("float32", "float64") for _, leaf in table.schema.leaves()):
        return
    for file in sample_recorded(table):
        names = [
            one.name
            for one in file.bounds.values()
            if any(isinstance(bound, float) and bound != bound for bound in (one.lower, one.upper))
        ]
        if names:
            message = f"NaN is a bound of {', '.join(names)}"
            yield nan_bounds.report(
                shorten(table, file.path), message, [table.current.id] if table.current else []
            )


@rule(
    "bounds-cut-in-character",
    "bounds of strings cut inside of a character",
    writers=(Product("duckdb-iceberg"), Product("duckdb")),
    threads=("duckdb/duckdb-iceberg#1136", "duckdb/duckdb-iceberg#1334"),
    shows="a bound of a string column is no UTF-8",
    severity="warning",
)
def cut_bounds(table: IcebergTable) -> Iterator[Finding]:
    """DuckDB cut the bounds of strings at a byte, in the middle of a character: strict readers refuse them.

    Shows in entries: a bound of a string column that is no UTF-8.
    """
    if not any(leaf.type.logical == "string" for _, leaf in table.schema.leaves()):
        return
    for file in sample_recorded(table):
        for one in file.bounds.values():
            stored = (one.lower_raw, one.upper_raw) if one.type.logical == "string" else ()
            for bound in stored:
                if bound is not None and not _is_text(bound):
                    message = f"column {one.name}: a bound that is no UTF-8: {bound[:24]!r}"
                    snapshots = [table.current.id] if table.current else []
                    yield cut_bounds.report(shorten(table, file.path), message, snapshots)
                    break


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@rule(
    "null-count-of-unknown",
    "null counts that took an unknown one for -1",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#17557", "apache/iceberg#17558"),
    shows="fewer nulls are recorded than the row groups that count them have",
    severity="error",
    reads_files=True,
)
def null_counts(table: IcebergTable) -> Iterator[Finding]:
    """Iceberg added up null counts of row groups with -1 for those that record none: a file with nulls is said to have none.

    Shows in a footer and its entry: a row group has no null count, and the entry's is the sum of the others less one for
    each such group. A reader then skips the file for IS NULL.
    """
    for file, _, leaf, statistics in list_chunks(table):
        counts = [statistic.optional("null_count") for statistic in statistics]
        unknown = counts.count(None)
        if not unknown or unknown == len(counts) or leaf.field_id is None:
            continue
        recorded = next(
            (bound.nulls for bound in file.bounds.values() if bound.field_id == leaf.field_id), None
        )
        known = sum(count or 0 for count in counts)
        if recorded is not None and recorded == known - unknown:
            message = (
                f"column {leaf.path}: {recorded} nulls are recorded; {known} are in the row groups that count them, "
                f"{unknown} of {len(counts)} row groups do not"
            )
            yield null_counts.report(
                shorten(table, file.path), message, [table.current.id] if table.current else []
            )


# What writers of Iceberg get wrong in delete files and vectors.


@rule(
    "dangling-deletes",
    "delete files that reach no data file",
    writers=(Product("iceberg"), Product("flink"), Product("spark")),
    threads=("apache/iceberg#6126", "apache/iceberg#5058", "apache/iceberg#4127", "apache/iceberg#12838"),
    shows="a delete file has no live data file that it applies to",
    severity="note",
)
def dangling_deletes(table: IcebergTable) -> Iterator[Finding]:
    """Delete files that reach no data file any more stay in the table after their data files were rewritten.

    Shows in the current snapshot: a delete file or deletion vector without a live data file that it applies to. Rows are
    right, reading is slower. `rewrite_position_delete_files` removes them, and `rewrite_data_files` with
    `remove-dangling-deletes`.
    """
    if table.current is None or all(manifest.content == "data" for manifest in table.current.manifests):
        return
    try:
        dangling = table.current.dangling_deletes
    except LakeError:
        return
    for one in dangling:
        yield dangling_deletes.report(shorten(table, one.file.path), one.reason, [table.current.id])


@rule(
    "two-deletion-vectors",
    "two deletion vectors of one data file",
    writers=(Product("iceberg-go"),),
    threads=("apache/iceberg-go#1372", "apache/iceberg-go#1868"),
    shows="a snapshot has two live deletion vectors for the same data file",
    severity="error",
)
def two_vectors(table: IcebergTable) -> Iterator[Finding]:
    """iceberg-go wrote a second deletion vector for a data file and kept the first: engines refuse to read the table.

    Shows in a snapshot: two live deletion vectors that reach the same data file.
    """
    import pyarrow.compute as pc

    entries = read_entries(table)
    vectors = entries.filter(pc.equal(entries["content"], "deletion_vector"))
    if vectors.num_rows < 2:
        return
    reached: dict[str, list[str]] = {}
    for manifest, path in zip(
        vectors["manifest"].to_pylist(), vectors["referenced_data_path"].to_pylist(), strict=True
    ):
        reached.setdefault(manifest, []).append(path)
    found: dict[str, tuple[int, list[int]]] = {}
    for snapshot in table._known:
        counts: dict[str, int] = {}
        for manifest in dict.fromkeys(one.path for one in snapshot.manifests):
            for path in reached.get(manifest, ()):
                counts[path] = counts.get(path, 0) + 1
        for path, number in counts.items():
            if number > 1:
                found.setdefault(path, (number, []))[1].append(snapshot.id)
    for path, (number, snapshots) in found.items():
        message = f"{number} live deletion vectors reach it: one is allowed"
        yield two_vectors.report(shorten(table, path), message, snapshots)


# What writers of Iceberg get wrong in partitions by time: values of year, month, day and hour, compared with the bounds of
# the column that they are made from. Follows "Partition Transforms" of the specification: units since 1970, rounded down.

_TIME = IcebergType("timestamp")
_MICROS = {"timestamp": 1, "timestamptz": 1, "timestamp_ns": 1000, "timestamptz_ns": 1000}
_HOUR = 3_600_000_000
_DAY = 24 * _HOUR
_LIMIT = 2**31
_QUARTER = _HOUR // 4
_OFFSETS = [quarters * _QUARTER for quarters in range(-12 * 4, 14 * 4 + 1)]


@dataclass(frozen=True, slots=True)
class _TimePartition:
    """One partition value of one file: its field, transform and stored value, and the column's bounds in microseconds."""

    file: DataFile
    name: str
    transform: str
    stored: int
    lower: int
    upper: int

    def count(self, micros: int) -> int:
        """Count the value that the transform gives a time: units since 1970, rounded down.

        >>> _TimePartition(None, "at_hour", "hour", 0, 0, 0).count(-1)
        -1
        """
        counted: int = Transform.parse(self.transform).apply(micros, _TIME)
        return counted


def _list_time_partitions(table: IcebergTable) -> Iterator[_TimePartition]:
    """List the values of time transforms of the sampled data files whose bounds are known."""
    fields = {
        number: [
            column
            for column in (table._context.specs.columns(number) or ())
            if column.transform.name in ("year", "month", "day", "hour") and column.source is not None
        ]
        for number in (spec.id for spec in table.specs)
    }
    if not any(fields.values()):
        return
    sources = {(spec.id, field.field_id): field.source_id for spec in table.specs for field in spec.fields}
    for file in sample_recorded(table):
        columns = fields.get(file.spec_id if file.spec_id is not None else -1)
        if not columns:
            continue
        bounds = {bound.field_id: bound for bound in file.bounds.values()}
        for column in columns:
            stored = file.partition.get(column.shown)
            if isinstance(stored, date):
                stored = (stored - date(1970, 1, 1)).days
            if not isinstance(stored, int) or isinstance(stored, bool):
                continue
            bound = bounds.get(sources.get((file.spec_id, column.field_id)))
            kind = column.source.name if column.source is not None else ""
            if bound is None or bound.lower_raw is None or bound.upper_raw is None:
                continue
            scale = _DAY if kind == "date" else _MICROS.get(kind)
            if scale is None:
                continue
            low, high = (
                int.from_bytes(data, "little", signed=True) for data in (bound.lower_raw, bound.upper_raw)
            )
            low, high = (low // scale, high // scale) if kind.endswith("_ns") else (low * scale, high * scale)
            yield _TimePartition(file, column.shown, column.transform.name, stored, low, high)


@rule(
    "epoch-partitions",
    "times before 1970 in the partition after theirs",
    writers=(Product("iceberg", before="0.11.0"), Product("iceberg-go")),
    threads=("apache/iceberg#1680", "apache/iceberg#1981", "apache/iceberg-go#924"),
    shows="a year, month, day or hour before 1970 is one too high",
    severity="warning",
)
def epoch_partitions(table: IcebergTable) -> Iterator[Finding]:
    """Times before 1970 in the partition after theirs: Iceberg up to 0.10.0 and iceberg-go rounded towards 1970, not down.

    Shows in entries: the value of a year, month, day or hour is one more than the bounds of its column give, and they are
    before 1970.
    """
    for partition in _list_time_partitions(table):
        due = partition.count(partition.lower)
        if partition.lower < 0 and partition.stored == due + 1 and partition.stored <= 0:
            message = f"{partition.name} is {partition.stored}, the smallest value of the file is in {due}"
            yield epoch_partitions.report(
                shorten(table, partition.file.path), message, [table.current.id] if table.current else []
            )


@rule(
    "hour-overflow",
    "hours that do not fit 32 bits",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#9713",),
    shows="the value of an hour is the true one modulo 2^32",
    severity="error",
)
def hour_overflow(table: IcebergTable) -> Iterator[Finding]:
    """The hour of a time more than 2^31 hours from 1970 does not fit an int: Iceberg stores what is left of it.

    Shows in entries: an hour that is the true one modulo 2^32. A reader then takes the far future for the far past, and
    skips it.
    """
    for partition in _list_time_partitions(table):
        due = partition.count(partition.lower)
        if partition.transform == "hour" and not -_LIMIT <= due < _LIMIT:
            wrapped = (due + _LIMIT) % (2 * _LIMIT) - _LIMIT
            if partition.stored == wrapped:
                message = f"{partition.name} is {partition.stored}: hour {due} does not fit 32 bits"
                snapshots = [table.current.id] if table.current else []
                yield hour_overflow.report(shorten(table, partition.file.path), message, snapshots)


@rule(
    "local-time-partitions",
    "partition values of local time",
    writers=(Product("clickhouse"),),
    threads=("ClickHouse/ClickHouse#118583",),
    shows="a partition value is that of the file's times in another time zone, or 0 before 1970",
    severity="error",
)
def local_time_partitions(table: IcebergTable) -> Iterator[Finding]:
    """ClickHouse took years, months, days and hours in the time zone of the column or server, and 0 for what is before 1970.

    Shows in entries: the partition value is that of the file's times moved by an offset of a time zone, or 0 for a time
    before 1970. Readers that take the specification's value skip the file.
    """
    for partition in _list_time_partitions(table):
        lowest, highest = partition.count(partition.lower), partition.count(partition.upper)
        if lowest <= partition.stored <= highest:
            continue
        message = _explain(partition, lowest)
        if message is not None:
            yield local_time_partitions.report(
                shorten(table, partition.file.path), message, [table.current.id] if table.current else []
            )


def _explain(partition: _TimePartition, lowest: int) -> str | None:
    if partition.lower < 0:
        is_clamped = partition.stored == 0 and lowest < -1
        return f"{partition.name} is 0, the file's times are before 1970, in {lowest}" if is_clamped else None
    for offset in sorted(_OFFSETS, key=abs):
        if (
            partition.count(partition.lower + offset)
            == partition.stored
            == partition.count(partition.upper + offset)
        ):
            hours = offset / _HOUR
            return f"{partition.name} is {partition.stored}, which is {lowest} moved by {hours:+g} hours"
    return None
