"""Manifests as raw Avro: what it costs to decode their records, or only to decompress their blocks, without any meaning."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from tests.benchmarks.runners import Prepared, Sums, Target, Unavailable

_FIELDS = {
    "iceberg": ("data_file", "record_count", "file_size_in_bytes"),
    "paimon": ("_FILE", "_ROW_COUNT", "_FILE_SIZE"),
}


def prepare_fastavro(target: Target) -> Prepared:
    """Every record as a dict, dropped at once: to keep them all would cost more than to decode them."""
    import fastavro

    file, rows, size = _FIELDS[target.format]

    def run() -> Sums:
        files = records = sizes = 0
        for path in target.manifests:
            with path.open("rb") as stream:
                for record in fastavro.reader(stream):
                    files += 1
                    records += record[file][rows]
                    sizes += record[file][size]
        return Sums(files, records, sizes)

    return Prepared(run, lambda sums: sums)


def prepare_polars(target: Target) -> Prepared:
    """A polars frame of each manifest."""
    if target.format == "paimon":
        raise Unavailable("knows no zstd in Avro")
    try:
        import polars
    except ImportError as error:
        raise Unavailable("not installed") from error
    file, rows, size = _FIELDS[target.format]

    def total(frames: list[Any]) -> Sums:
        files = polars.concat([frame[file].struct.unnest().select(rows, size) for frame in frames])
        return Sums(len(files), int(files[rows].sum()), int(files[size].sum()))

    return Prepared(lambda: [polars.read_avro(path) for path in target.manifests], total)


def prepare_datafusion(target: Target) -> Prepared:
    """Arrow batches of each manifest, by DataFusion's own reader of Avro files."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from datafusion import SessionContext

    file, rows, size = _FIELDS[target.format]

    def run() -> list[Any]:
        context = SessionContext()
        return [
            pa.Table.from_batches(context.read_avro(str(path), file_extension=path.suffix).collect())
            for path in target.manifests
        ]

    def total(tables: list[Any]) -> Sums:
        def add(name: str) -> int:
            return sum(pc.sum(pc.struct_field(table[file], name)).as_py() for table in tables)

        return Sums(sum(table.num_rows for table in tables), add(rows), add(size))

    return Prepared(run, total)


def prepare_floor(target: Target) -> Prepared:
    """Every block decompressed, one after the other, and dropped."""
    decompress: Callable[[bytes], bytes]
    if target.format == "iceberg":

        def decompress(data: bytes) -> bytes:
            return zlib.decompress(data, -15)
    else:
        from tests.support import zstd

        decompress = zstd.decompress

    def run() -> int:
        entries = 0
        for path in target.manifests:
            for count, packed in iterate_blocks(path.read_bytes()):
                decompress(packed)
                entries += count
        return entries

    return Prepared(run, Sums)


def iterate_blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Count and packed bytes of each block of an Avro file."""
    place = 4
    while count := (taken := _take_long(data, place))[0]:
        place = taken[1]
        for _ in range(2 * count):
            length, place = _take_long(data, place)
            place += length
    place += 1 + 16
    while place < len(data):
        count, place = _take_long(data, place)
        length, place = _take_long(data, place)
        yield count, data[place : place + length]
        place += length + 16


def _take_long(data: bytes, place: int) -> tuple[int, int]:
    shift = number = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number >> 1 ^ -(number & 1), place
        shift += 7
