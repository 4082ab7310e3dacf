"""A Delta checkpoint of many files with statistics of many columns: lakelens beside deltalake and Spark, as ratios.

    make benchmark-venv
    .venv/bin/python -m tests.benchmarks.delta_log [--files 300000] [--columns 100] [--commits 10000] [--spark] [DIRECTORY]

deltalake comes from the environment of the peers, which the first command makes. Each reader opens the table again, because
deltalake parses statistics when it opens one. Spark's snapshot is read in the JVM, every column of every file with its
statistics parsed, and brought to pandas; its session has been started before, and its processors are those of both
processes. A second table has a log of commits, and no checkpoint. Seconds depend on the machine and on what else it does;
the ratios of one run are what is to be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakelens as ll
from tests.benchmarks.measure import PEERS

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
    # Spark wants the commit of a version, whatever its checkpoint says
    info = {"commitInfo": {"timestamp": 1_700_000_000_000, "operation": "WRITE"}}
    (log / f"{10:020}.json").write_text(json.dumps(info) + "\n", "utf-8")


def write_commits(root: Path, commits: int) -> None:
    """Write a log of commits that add a file each, without a checkpoint."""
    metadata = {
        "id": "made",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(
            {"type": "struct", "fields": [{"name": "c0", "type": "long", "nullable": True, "metadata": {}}]}
        ),
        "partitionColumns": [],
        "configuration": {},
        "createdTime": 0,
    }
    log = root / "_delta_log"
    log.mkdir(parents=True)
    for number in range(commits):
        actions: list[dict[str, Any]] = [
            {"commitInfo": {"timestamp": 1_700_000_000_000 + number * 1000, "operation": "WRITE"}}
        ]
        if not number:
            actions += [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata}]
        file = _describe_file(number, ["c0"])
        actions.append({"add": file | {"partitionValues": {}, "dataChange": True}})
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        (log / f"{number:020}.json").write_text(lines, "utf-8")


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


def list_commit_readings(root: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """List what is measured of a log without a checkpoint."""
    from deltalake import DeltaTable

    yield "commits: deltalake file_uris()", lambda: len(DeltaTable(str(root)).file_uris())
    yield "commits: lakelens card", lambda: len(ll.open(root)._repr_html_())
    yield "commits: lakelens len", lambda: len(ll.open(root).files)
    yield "commits: lakelens to_arrow()", lambda: ll.open(root).files.to_arrow().num_rows


def start_spark(folder: Path, stack: ExitStack) -> Any:
    """Start a session with Delta Lake, on as many threads as there are processors."""
    from lakelens.spark import session

    config = {
        "spark.master": "local[*]",
        "spark.driver.memory": "6g",
        "spark.driver.maxResultSize": "0",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    spark = session(folder, formats=("delta",), config=config)
    stack.callback(spark.stop)
    return spark


def list_spark_readings(spark: Any, root: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """List what is measured of Spark: its snapshot of the table, whose statistics it parses by their schema."""
    from pyspark.sql import DataFrame

    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog
    none = getattr(getattr(spark._jvm, "scala.None$"), "MODULE$")

    def read() -> Any:
        log.clearCache()
        snapshot = log.forTable(spark._jsparkSession, str(root)).update(False, none, none)
        return DataFrame(snapshot.withStats(), spark)

    def keep_in_java() -> str:
        read().write.format("noop").mode("overwrite").save()
        return "written nowhere"

    def bring() -> int:
        frame = read()
        sides = {field.name: field.dataType for field in frame.schema["stats"].dataType.fields}
        names = ["path", "partitionValues", "size", "modificationTime", "dataChange", "stats.numRecords"]
        names += [
            f"stats.{side}.`{leaf}` AS `{side}.{leaf}`"
            for side in ("minValues", "maxValues", "nullCount")
            for leaf in sides[side].fieldNames()
        ]
        return len(frame.selectExpr(*names).toPandas())

    yield "Spark's snapshot in the JVM", keep_in_java
    yield "Spark's snapshot to pandas", bring


def count_java(spark: Any) -> float:
    """Count the seconds of processors that the JVM of a session has used."""
    handle = spark._jvm.java.lang.ProcessHandle.current()
    return float(handle.info().totalCpuDuration().get().toMillis()) / 1000


def add_peers() -> None:
    """Let what this environment does not have be imported from that of the peers: deltalake, and what it needs."""
    sys.path += map(str, PEERS.parent.parent.glob("lib/python3*/site-packages"))


def main() -> None:
    """Write the table where it is not there yet, and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--files", type=int, default=300_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("directory", nargs="?", type=Path)
    asked = parser.parse_args()
    add_peers()
    with tempfile.TemporaryDirectory() as made, ExitStack() as stack:
        root = (asked.directory or Path(made)) / f"{asked.files}x{asked.columns}"
        if not root.exists():
            write_table(root, asked.files, asked.columns)
        log = (asked.directory or Path(made)) / f"{asked.commits}-commits"
        if not log.exists():
            write_commits(log, asked.commits)
        readings = list(list_readings(root))
        spark = start_spark(Path(made) / "spark", stack) if asked.spark else None
        readings += list_spark_readings(spark, root) if spark is not None else ()
        readings += list_commit_readings(log)

        def count_work() -> float:
            return time.process_time() + (count_java(spark) if spark is not None else 0)

        base: tuple[float, float] | None = None
        for name, read in readings:
            started, worked = time.perf_counter(), count_work()
            count = read()
            seconds, work = time.perf_counter() - started, count_work() - worked
            base = base or (seconds, work)
            many = f"{count:,}" if isinstance(count, int) else count
            print(
                f"{name:42} {seconds:7.2f} s ({seconds / base[0]:5.2f}) of processors {work:7.2f} s ({work / base[1]:5.2f})"
                f" {many}",
                flush=True,
            )


if __name__ == "__main__":
    main()
