"""A Delta checkpoint of many files with statistics of many columns: lakelens beside deltalake, in one process, as ratios.

    python -m tests.benchmarks.delta_log [--files 300000] [--columns 100] [DIRECTORY]

Needs deltalake (see requirements.in). Each reader opens the table again, because deltalake parses statistics when it opens
one. Seconds depend on the machine and on what else it does; the ratios of one run are what is to be compared.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakelens as ll

_KINDS = ("long", "integer", "double", "string", "date", "timestamp", "decimal(12,2)", "short", "float")
_PIECE = 20_000
_TEXTS = pa.map_(pa.string(), pa.string())
_FILE = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", _TEXTS),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("tags", _TEXTS),
    ]
)
_METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("name", pa.string()),
        ("description", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", _TEXTS)])),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("createdTime", pa.int64()),
        ("configuration", _TEXTS),
    ]
)
_SCHEMA = pa.schema(
    [
        ("protocol", pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])),
        ("metaData", _METADATA),
        ("add", _FILE),
        (
            "remove",
            pa.struct([("path", pa.string()), ("deletionTimestamp", pa.int64()), ("dataChange", pa.bool_())]),
        ),
        ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64())])),
    ]
)


def write_table(root: Path, files: int, columns: int) -> None:
    """Write a log of one checkpoint, whose files have statistics as text, of every column."""
    names = [f"c{number}" for number in range(columns)]
    fields: list[dict[str, Any]] = [
        {"name": name, "type": _KINDS[number % len(_KINDS)], "nullable": True, "metadata": {}}
        for number, name in enumerate(names)
    ]
    fields.append({"name": "p", "type": "date", "nullable": True, "metadata": {}})
    metadata = {
        "id": "made",
        "format": {"provider": "parquet", "options": []},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": ["p"],
        "configuration": [("delta.dataSkippingNumIndexedCols", "-1")],
    }
    log = root / "_delta_log"
    log.mkdir(parents=True)
    first = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata}]
    with pq.ParquetWriter(log / f"{10:020}.checkpoint.parquet", _SCHEMA, compression="snappy") as writer:
        writer.write_table(pa.Table.from_pylist(first, _SCHEMA))
        for start in range(0, files, _PIECE):
            adds = [_describe_file(number, names) for number in range(start, min(files, start + _PIECE))]
            columns_of = [
                pa.array(adds, _FILE) if field.name == "add" else pa.nulls(len(adds), field.type)
                for field in _SCHEMA
            ]
            writer.write_table(pa.Table.from_arrays(columns_of, schema=_SCHEMA))
    (log / "_last_checkpoint").write_text(json.dumps({"version": 10, "size": files + 2}))


def _describe_file(number: int, names: list[str]) -> dict[str, Any]:
    day = f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}"
    values = {name: _make_value(place, number) for place, name in enumerate(names)}
    nulls = dict.fromkeys(names, number % 5)
    stats = {"numRecords": 1000 + number % 7, "minValues": values, "maxValues": values, "nullCount": nulls}
    return {
        "path": f"p={day}/part-{number:05}-3f1cd1c1-{number * 7919 % 99991:06}-c000.snappy.parquet",
        "partitionValues": [("p", day)],
        "size": 1_000_000 + number,
        "modificationTime": 1_700_000_000_000 + number,
        "dataChange": False,
        "stats": json.dumps(stats, separators=(",", ":")),
    }


def _make_value(place: int, number: int) -> Any:
    month, day = number % 12 + 1, place % 28 + 1
    match _KINDS[place % len(_KINDS)]:
        case "double" | "float":
            return (number + place) / 8
        case "string":
            return f"text {number % 977} {place}"
        case "date":
            return f"2024-{month:02}-{day:02}"
        case "timestamp":
            return f"2024-{month:02}-{day:02}T10:11:12.{number % 1000:03}Z"
        case "decimal(12,2)":
            return round(number * 1.25 + place, 2)
        case "long":
            return number * 1000 + place
    return (number + place) % 30_000


def list_readings(root: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """List what is measured, deltalake's first: each opens the table and gives how many files it has."""
    from deltalake import DeltaTable

    yield (
        "deltalake get_add_actions(flatten=True)",
        lambda: (
            pa.table(
                DeltaTable(str(root)).get_add_actions(flatten=True)  # type: ignore[arg-type]
            ).num_rows
        ),
    )
    yield "lakelens to_arrow()", lambda: ll.open(root).files.to_arrow().num_rows
    yield "lakelens to_arrow(stats=False)", lambda: ll.open(root).files.to_arrow(stats=False).num_rows
    yield "lakelens len", lambda: len(ll.open(root).files)
    yield "lakelens card", lambda: len(str(ll.open(root)))


def main() -> None:
    """Write the table where it is not there yet, and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--files", type=int, default=300_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("directory", nargs="?", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = (asked.directory or Path(made)) / f"{asked.files}x{asked.columns}"
        if not root.exists():
            write_table(root, asked.files, asked.columns)
        base: tuple[float, float] | None = None
        for name, read in list_readings(root):
            started, worked = time.perf_counter(), time.process_time()
            count = read()
            seconds, work = time.perf_counter() - started, time.process_time() - worked
            base = base or (seconds, work)
            print(
                f"{name:42} {seconds:7.2f} s ({seconds / base[0]:5.2f}) of processors {work:7.2f} s ({work / base[1]:5.2f})"
                f" {count:,}"
            )


if __name__ == "__main__":
    main()
