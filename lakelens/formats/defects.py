"""Known defects that any format's files may have, and what all rules look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.codecs.parquet.statistics import has_wrong_binary_bounds
from lakelens.codecs.parquet.thrift_schema import decode_statistic
from lakelens.errors import LakeError
from lakelens.model.check.defect import Product, Writer, read_once, rule
from lakelens.model.check.references import Referring
from lakelens.model.scan.plan import ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.parquet.footer import ParquetFooter
    from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
    from lakelens.model.check.survey import Survey
    from lakelens.model.datafile import DataFile
    from lakelens.model.finding import Finding
    from lakelens.model.table import Table


# What rules of known defects look at, read once a table: entries by column, files, footers, and the objects that are
# there.
#
# Of files at most 2,000 are looked at one by one, and 200 footers, evenly spread over the current snapshot; entries are
# all read, by column.

MOST_FILES = 2_000
#: Entries of a manifest that are decoded alone; of a small one all are.
MOST_EACH, MOST_WHOLE = 20, 200
MOST_FOOTERS = 200
MOST_FOOTER_BYTES = 64 * 2**20
_COLUMNS = (
    *("status", "content", "path", "manifest", "record_count", "size_bytes", "split_offsets", "snapshot_id"),
    *("referenced_data_path", "content_offset"),
)
_LIVE = ("ADDED", "EXISTING", "ADD")


def read_entries(table: Table) -> pa.Table:
    """The live entries of every manifest that a snapshot names, each manifest once; columns that a format lacks are null."""
    entries: pa.Table = read_once(table, "entries", lambda: _read_entries(table))
    return entries


def _read_entries(table: Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    from lakelens.model.scan.files_to_arrow import type_column
    from lakelens.model.scan.scan_to_arrow import iterate_batches

    scan = table.scan_entries(all_snapshots=True)
    if scan is None:
        return pa.table({name: pa.array([], pa.string()) for name in _COLUMNS})
    known = {"status", *dict(scan.columns.further)}
    names = [name for name in _COLUMNS if name in known or name in _COMMON]
    request = ScanRequest(stats=False, columns=tuple(names), entries=True)
    survey: Survey | None = read_once(table, "survey", lambda: None)
    held = None if survey is None else survey.read_again([task.path for task in scan.tasks], names)
    if held is not None:
        is_live = pc.is_in(held["status"], value_set=pa.array(_LIVE))
        return (held if pc.all(is_live).as_py() else held.filter(is_live)).combine_chunks()
    schema = pa.schema([(name, type_column(name, scan.columns)) for name in names])
    batches = []
    for batch in iterate_batches(scan, request):
        arrays = [batch.plain.get(name) for name in names]
        columns = [
            pa.nulls(batch.rows, field.type) if array is None else array.cast(field.type)
            for array, field in zip(arrays, schema, strict=True)
        ]
        made = pa.RecordBatch.from_arrays(columns, schema=schema)
        batches.append(made.filter(pc.is_in(made["status"], value_set=pa.array(_LIVE))))
    return pa.Table.from_batches(batches, schema).combine_chunks()


_COMMON = ("content", "path", "manifest", "record_count", "size_bytes", "snapshot_id")


def find_snapshots(table: Table, manifests: Sequence[str]) -> tuple[int, ...]:
    """Find the ids of the snapshots that name any of some manifests."""
    naming: dict[str, list[int]] = read_once(table, "naming", lambda: _list_naming(table))
    return tuple(dict.fromkeys(number for path in manifests for number in naming.get(path, ())))


def _list_naming(table: Table) -> dict[str, list[int]]:
    naming: dict[str, list[int]] = {}
    for snapshot in table.snapshots:
        for listed in snapshot.manifest_lists:
            for manifest in listed.walk()[0]:
                if snapshot.id is not None:
                    naming.setdefault(manifest.path, []).append(snapshot.id)
    return naming


def sample_files(table: Table, content: str = "data") -> list[DataFile]:
    """Files of one content of the current snapshot, evenly spread; all of them up to 2,000."""
    files: list[DataFile] = read_once(table, f"files {content}", lambda: _sample(table, content, MOST_FILES))
    return files


def sample_recorded(table: Table) -> list[DataFile]:
    """Data files with all that their entries record: the first of each manifest of the current snapshot, or all of a few."""
    files: list[DataFile] = read_once(table, "recorded", lambda: list(_read_first(table)))
    return files


def _read_first(table: Table) -> Iterator[DataFile]:
    manifests = [one for one in table.current.manifests if one.content == "data"] if table.current else []
    read = 0
    for manifest in manifests[:: max(1, len(manifests) * MOST_EACH // MOST_FILES)]:
        counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
        is_small = None not in counts and sum(count or 0 for count in counts) <= MOST_WHOLE
        iterate: Any = getattr(manifest, "iterate_entries", lambda: iter(()))
        try:
            for entry in islice(iterate(), MOST_WHOLE if is_small else MOST_EACH):
                if entry.is_live:
                    read += 1
                    yield entry.file
        except LakeError:
            continue
        if read >= MOST_FILES:
            return


def _sample(table: Table, content: str, most: int) -> list[DataFile]:
    try:
        files = table.files.choose(lambda found: found == content, "content")
        number = len(files)
        step = max(1, -(-number // most))
        return [files[place] for place in range(0, number, step)]
    except LakeError:
        return []


def sample_footers(table: Table) -> list[tuple[DataFile, ParquetFooter]]:
    """The footers of Parquet files among 200 data files of the current snapshot; those that cannot be read are left out."""
    footers: list[tuple[DataFile, ParquetFooter]]
    footers = read_once(table, "footers", lambda: list(_read_footers(table)))
    return footers


def _read_footers(table: Table) -> Iterator[tuple[DataFile, ParquetFooter]]:
    files = sample_files(table)
    spread = files[:: max(1, -(-len(files) // MOST_FOOTERS))]  # before a record of each is read
    read = 0
    chosen: Iterable[DataFile] = [
        file for file in spread if str(file.file_format).lower() == "parquet" and file.size_bytes
    ]
    if table.storage is not None:
        chosen = table.storage.follow(chosen, lambda file: (file.path, file.size_bytes))
    for file in chosen:
        if read > MOST_FOOTER_BYTES:
            return
        try:
            facts = file.footer.facts
        except LakeError:
            continue
        if getattr(facts, "format", None) == "parquet":
            read += facts.serialized_size
            yield file, facts


def list_chunks(
    table: Table,
) -> Iterator[tuple[DataFile, ParquetFooter, SchemaLeaf, list[StructReader]]]:
    """For each leaf of each footer the statistics of its chunks as they are stored, row group by row group."""
    from lakelens.codecs.parquet.statistics import iter_chunks

    for file, footer in sample_footers(table):
        for index, leaf in enumerate(footer.leaves):
            try:
                chunks = [chunk for chunk, _ in iter_chunks(footer, index)]
                statistics = [chunk.struct("statistics", chunk.get("statistics", {})) for chunk in chunks]
            except LakeError:
                continue
            yield file, footer, leaf, statistics


def list_sizes(table: Table) -> dict[str, int]:
    """List the bytes of every object below the table, by path; what cannot be listed is left out."""

    def read() -> dict[str, int]:
        refused: list[LakeError] = []
        return {one.path: one.size for one in Referring.of(table).list_objects(refused.append)}

    sizes: dict[str, int] = read_once(table, "sizes", read)
    return sizes


def shorten(table: Table, path: str) -> str:
    """Shorten a path below the table without the table's own."""
    return path.removeprefix(table.location.rstrip("/") + "/")


# Who wrote a table, as its files say it: `created_by` of Parquet footers, and what libraries stand for.
#
# parquet-mr version 1.13.1 (build …)   parquet-cpp-arrow version 17.0.0   parquet-rs version 53.0.0   ClickHouse v25.6

_CREATED = re.compile(
    r"^\s*([A-Za-z][A-Za-z.-]*(?:[ _][A-Za-z.-]+)*?)\s*(?:version)?\s*v?(\d[\w.-]*)?(?:\s|\(|$)"
)
#: Products whose tables are written by these libraries when no other writer is named.
LIBRARIES = {
    "parquet-rs": "iceberg-rust",
    "parquet-cpp-arrow": "pyiceberg",
    "parquet-go": "iceberg-go",
    "arrow-go": "iceberg-go",
    "clickhouse": "clickhouse",
    "duckdb": "duckdb-iceberg",
}


def parse_created_by(text: str) -> Writer | None:
    """Parse the product and version that a Parquet footer names; None for none.

    >>> parse_created_by("parquet-mr version 1.13.1 (build db418)"), parse_created_by("DuckDB version v1.3.0 (build 71c5)")
    (Writer(product='parquet-mr', version='1.13.1', source=''), Writer(product='duckdb', version='1.3.0', source=''))
    >>> parse_created_by("ClickHouse v25.6.1").product, parse_created_by("")
    ('clickhouse', None)
    """
    matched = _CREATED.match(text)
    if matched is None:
        return None
    name = re.sub(r"\s*version$", "", matched[1].strip(), flags=re.IGNORECASE)
    return Writer(name.lower(), matched[2] or "")


def list_footer_writers(table: Table) -> Iterator[Writer]:
    """List the writers that the sampled footers name, each once."""
    texts = dict.fromkeys(footer.created_by for _, footer in sample_footers(table) if footer.created_by)
    for text in texts:
        found = parse_created_by(text or "")
        if found is not None:
            yield Writer(found.product, found.version, "created_by of data files")


def add_products(writers: Iterable[Writer], named: str) -> tuple[Writer, ...]:
    """Add some writers, each once, and the products that their libraries stand for where no writer is called `named`."""
    found = tuple(dict.fromkeys(writers))
    if any(writer.product == named for writer in found):
        return found
    products = (
        Writer(
            LIBRARIES[writer.product], "" if LIBRARIES[writer.product] != writer.product else writer.version
        )
        for writer in found
        if writer.product in LIBRARIES
    )
    return tuple(dict.fromkeys((*found, *products)))


# What writers of Parquet files get wrong in their statistics, whatever table format the files are of.

_BINARY = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")


@rule(
    "binary-statistics",
    "min and max of binary columns are those of the last row group",
    writers=(Product("parquet-mr", before="1.8.0"),),
    threads=("apache/parquet-java#197", "trinodb/trino#1798"),
    shows="the same bounds in every row group of a binary column",
    severity="warning",
    reads_files=True,
)
def binary_statistics(table: Table) -> Iterator[Finding]:
    """PARQUET-251: parquet-mr before 1.8.0 reused a buffer, so that every row group has the bounds of the last one.

    Shows in footers: a binary column of several row groups, in all of which the stored bounds are the same bytes.
    """
    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type not in _BINARY or not has_wrong_binary_bounds(footer.created_by):
            continue
        bounds = [(statistic.get("min"), statistic.get("max")) for statistic in statistics]
        if len(bounds) > 1 and bounds[0][0] is not None and len(set(bounds)) == 1:
            message = (
                f"column {leaf.path}: {len(bounds)} row groups have the same bounds; "
                f"written by {footer.created_by or 'an unnamed writer'}"
            )
            yield binary_statistics.report(shorten(table, file.path), message)


@rule(
    "signed-statistics",
    "min and max of strings and decimals follow the order of signed bytes",
    writers=(Product("parquet-mr"),),
    threads=("apache/parquet-java#367", "apache/parquet-format#46"),
    shows="only the old members min and max, with bytes beyond ASCII",
    severity="note",
    reads_files=True,
)
def signed_statistics(table: Table) -> Iterator[Finding]:
    """PARQUET-686: min and max of strings were compared as signed bytes: text beyond ASCII sorts before all else.

    Shows in footers: a string or decimal column that has only the old members `min` and `max`, with a byte of 0x80 or
    more in one of them.
    """
    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type not in _BINARY:
            continue
        for statistic in statistics:
            low, high = statistic.get("min"), statistic.get("max")
            if (
                statistic.get("min_value") is not None
                or not isinstance(low, bytes)
                or not isinstance(high, bytes)
            ):
                continue
            if low != high and max((*low, *high), default=0) >= 0x80:
                message = (
                    f"column {leaf.path}: bounds in the order of signed bytes, {low[:16]!r} to {high[:16]!r}; "
                    f"written by {footer.created_by or 'an unnamed writer'}"
                )
                yield signed_statistics.report(shorten(table, file.path), message)
                break


@rule(
    "int96-statistics",
    "min and max of INT96 timestamps were compared as bytes",
    threads=("apache/doris#35041",),
    shows="an INT96 column with a min and another max",
    severity="note",
    reads_files=True,
)
def int96_statistics(table: Table) -> Iterator[Finding]:
    """PARQUET-1065: old writers compared INT96 timestamps as bytes, so that their min and max are no bounds.

    Shows in footers: an INT96 column with bounds that differ. Where both are the same value no order matters.
    """
    from lakelens.codecs.parquet.statistics import find_order

    for file, footer, leaf, statistics in list_chunks(table):
        if leaf.physical_type != "INT96":
            continue
        if find_order(footer, footer.leaves.index(leaf)) == "INT96_TIMESTAMP_ORDER":
            continue
        for statistic in statistics:
            pairs = (
                (statistic.get("min"), statistic.get("max")),
                (statistic.get("min_value"), statistic.get("max_value")),
            )
            if any(low is not None and high is not None and low != high for low, high in pairs):
                message = f"column {leaf.path}: bounds of INT96 timestamps, which had no order when they were written"
                yield int96_statistics.report(shorten(table, file.path), message)
                break


@rule(
    "reversed-bounds",
    "min and max of decimals were compared as unsigned bytes",
    writers=(Product("clickhouse"), Product("polars")),
    threads=("ClickHouse/ClickHouse#83754", "pola-rs/polars#29347"),
    shows="the min of a row group is above its max",
    severity="error",
    reads_files=True,
)
def reversed_bounds(table: Table) -> Iterator[Finding]:
    """Writers that compare decimals as unsigned bytes state a min above the max: readers then drop every row.

    Shows in footers: a decimal column whose stored min is above its max.
    """
    for file, footer, leaf, statistics in list_chunks(table):
        if not (leaf.logical_type or "").startswith("Decimal"):
            continue
        for number, one in enumerate(statistics):
            stored = one.get("min_value"), one.get("max_value")
            if not all(isinstance(data, bytes) for data in stored):
                continue
            low, high = (decode_statistic(data, leaf.physical_type, leaf.logical_type) for data in stored)
            if low is not None and high is not None and low > high:
                message = (
                    f"column {leaf.path}, row group {number}: min {low} is above max {high}; "
                    f"written by {footer.created_by or 'an unnamed writer'}"
                )
                yield reversed_bounds.report(shorten(table, file.path), message)
                break


#: The rules of every table format whose data files may be Parquet.
STATISTICS = (binary_statistics, signed_statistics, int96_statistics, reversed_bounds)
