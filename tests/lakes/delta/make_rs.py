"""Make the tables of `rs/` with delta-rs, each with its own answers.

    python tests/lakes/delta/make_rs.py [CASE …]

Needs `deltalake`. Every case writes one table below `rs/CASE/table`; `rs/CASE/engine.json` is what `DeltaTable` says of
each version: files, statistics, protocol, metadata, schema, and the history.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from delta_values import to_json
from deltalake import CommitProperties, DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType

HERE = Path(__file__).resolve().parent
CASES: dict[str, Callable[[str], None]] = {}


def case(make: Callable[[str], None]) -> Callable[[str], None]:
    """A case, called with the table's path."""
    CASES[make.__name__.replace("_", "-")] = make
    return make


def number_rows(start: int, count: int, **further: Any) -> pa.Table:
    ids = list(range(start, start + count))
    columns = {"id": pa.array(ids, pa.int64()), "name": pa.array([f"row {n}" for n in ids])}
    return pa.table(columns | {name: pa.array(values) for name, values in further.items()})


@case
def appends(path: str) -> None:
    for start in range(0, 15, 5):
        write_deltalake(path, number_rows(start, 5), mode="append")


@case
def overwrite(path: str) -> None:
    write_deltalake(path, number_rows(0, 4))
    write_deltalake(path, number_rows(10, 3), mode="overwrite")
    write_deltalake(path, number_rows(20, 3), mode="append")


@case
def dml(path: str) -> None:
    write_deltalake(path, number_rows(0, 10))
    write_deltalake(path, number_rows(10, 10), mode="append")
    table = DeltaTable(path)
    table.delete("id < 3")
    table.update(predicate="id = 12", updates={"name": "'changed'"})
    source = number_rows(15, 10)
    merge = table.merge(source, "t.id = s.id", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    table.optimize.compact()


@case
def types(path: str) -> None:
    moment = datetime(2024, 1, 31, 10, 11, 12, 123456, tzinfo=UTC)
    columns = {
        "i8": pa.array([-128, None, 127], pa.int8()),
        "i16": pa.array([-32768, None, 32767], pa.int16()),
        "i32": pa.array([-(2**31), None, 2**31 - 1], pa.int32()),
        "i64": pa.array([-(2**63), None, 2**63 - 1], pa.int64()),
        "f32": pa.array([-1.5, None, 2.25], pa.float32()),
        "f64": pa.array([-1e300, None, 1e300], pa.float64()),
        "nan": pa.array([float("nan"), 1.0, float("inf")], pa.float64()),
        "dec": pa.array([Decimal("-12345678901234567.89"), None, Decimal("3.10")], pa.decimal128(19, 2)),
        "b": pa.array([True, None, False]),
        "s": pa.array(["a", None, "z" * 40]),
        "emoji": pa.array(["🙂" * 40, "é", None]),
        "bin": pa.array([b"\x00\xff", None, b""]),
        "d": pa.array([date(1969, 12, 31), None, date(2024, 2, 29)]),
        "ts": pa.array([moment, None, moment.replace(year=1960)], pa.timestamp("us", "UTC")),
        "ntz": pa.array([moment.replace(tzinfo=None), None, None], pa.timestamp("us")),
        "st": pa.array([{"x": 1, "in": {"y": "q"}}, {"x": None, "in": None}, None]),
        "li": pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        "mp": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        "allnull": pa.array([None, None, None], pa.int32()),
    }
    write_deltalake(path, pa.table(columns))


@case
def partitioned(path: str) -> None:
    names = ["a b", "c=d", "é/ü", "100%", "", None, "x:y", "q?#&+"]
    rows = number_rows(0, 8, part=names, day=[date(2024, 1, n + 1) if n % 3 else None for n in range(8)])
    write_deltalake(path, rows, partition_by=["part", "day"])
    write_deltalake(path, rows.slice(0, 2), mode="append")


@case
def typed_partitions(path: str) -> None:
    moment = datetime(2024, 1, 31, 10, 11, 12, 123456, tzinfo=UTC)
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "i": pa.array([-5, None], pa.int32()),
            "l": pa.array([2**60, None], pa.int64()),
            "f": pa.array([1.5, None], pa.float64()),
            "dec": pa.array([Decimal("12.30"), None], pa.decimal128(9, 2)),
            "b": pa.array([True, None]),
            "d": pa.array([date(2024, 1, 31), None]),
            "ts": pa.array([moment, None], pa.timestamp("us", "UTC")),
            "ntz": pa.array([moment.replace(tzinfo=None), None], pa.timestamp("us")),
        }
    )
    write_deltalake(path, rows, partition_by=["i", "l", "f", "dec", "b", "d", "ts", "ntz"])


@case
def checkpointed(path: str) -> None:
    for start in range(4):
        write_deltalake(path, number_rows(start * 2, 2, p=["x", "y"]), mode="append", partition_by=["p"])
    DeltaTable(path).create_checkpoint()
    DeltaTable(path).delete("id = 0")
    write_deltalake(path, number_rows(20, 1, p=["x"]), mode="append")


@case
def cleaned(path: str) -> None:
    """The head of the log is gone: only a checkpoint and what came after it are left."""
    properties = {"delta.logRetentionDuration": "interval 0 seconds", "delta.enableExpiredLogCleanup": "true"}
    for start in range(3):
        write_deltalake(path, number_rows(start * 2, 2), mode="append", configuration=properties)
    DeltaTable(path).create_checkpoint()
    write_deltalake(path, number_rows(10, 2), mode="append")
    write_deltalake(path, number_rows(12, 2), mode="overwrite")
    DeltaTable(path).create_checkpoint()
    DeltaTable(path).cleanup_metadata()
    write_deltalake(path, number_rows(20, 2), mode="append")


@case
def struct_stats(path: str) -> None:
    """A checkpoint whose statistics are a struct, and no text."""
    properties = {
        "delta.checkpoint.writeStatsAsJson": "false",
        "delta.checkpoint.writeStatsAsStruct": "true",
    }
    write_deltalake(path, number_rows(0, 4, p=[1, 1, 2, None]), partition_by=["p"], configuration=properties)
    write_deltalake(path, number_rows(4, 2, p=[1, 3]), mode="append")
    DeltaTable(path).create_checkpoint()


@case
def evolved(path: str) -> None:
    write_deltalake(path, number_rows(0, 3))
    write_deltalake(path, number_rows(3, 3, more=[1.5, None, 2.5]), mode="append", schema_mode="merge")
    DeltaTable(path).alter.add_columns([Field("later", PrimitiveType("date"))])
    DeltaTable(path).alter.set_table_properties({"delta.appendOnly": "false"})
    rows = pa.table({"other": pa.array([1, 2], pa.int32())})
    write_deltalake(path, rows, mode="overwrite", schema_mode="overwrite")


@case
def restored(path: str) -> None:
    write_deltalake(path, number_rows(0, 3))
    write_deltalake(path, number_rows(3, 3), mode="append")
    DeltaTable(path).delete("id > 3")
    DeltaTable(path).restore(1)


@case
def vacuumed(path: str) -> None:
    write_deltalake(path, number_rows(0, 3))
    write_deltalake(path, number_rows(3, 3), mode="overwrite")
    table = DeltaTable(path)
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)


@case
def constrained(path: str) -> None:
    write_deltalake(path, number_rows(0, 3), name="shop", description="what is sold")
    DeltaTable(path).alter.add_constraint({"positive": "id >= 0"})
    properties = CommitProperties(custom_metadata={"by": "hand"}, app_transactions=None)
    write_deltalake(path, number_rows(3, 1), mode="append", commit_properties=properties)


@case
def change_feed(path: str) -> None:
    write_deltalake(path, number_rows(0, 4), configuration={"delta.enableChangeDataFeed": "true"})
    DeltaTable(path).update(predicate="id = 1", updates={"name": "'new'"})
    DeltaTable(path).delete("id = 2")


@case
def empty(path: str) -> None:
    DeltaTable.create(path, schema=number_rows(0, 1).schema, partition_by=["name"])


def answer(path: str) -> dict[str, Any]:
    newest = DeltaTable(path)
    versions = {}
    for version in range(newest.version() + 1):
        try:
            table = DeltaTable(path, version=version)
        except Exception as error:
            versions[str(version)] = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:100]}
            continue
        actions, metadata = table.get_add_actions(flatten=False), table.metadata()
        protocol = table.protocol()
        versions[str(version)] = {
            "files": sorted(pa.table(actions).to_pylist(), key=lambda line: line["path"]),
            "protocol": {
                name: getattr(protocol, name)
                for name in ("min_reader_version", "min_writer_version", "reader_features", "writer_features")
            },
            "metadata": {
                name: getattr(metadata, name)
                for name in (
                    "id",
                    "name",
                    "description",
                    "partition_columns",
                    "created_time",
                    "configuration",
                )
            },
            "schema": json.loads(table.schema().to_json()),
        }
    return {
        "engine": "delta-rs",
        "version": newest.version(),
        "history": newest.history(),
        "versions": versions,
    }


def main(wanted: list[str]) -> None:
    for name in wanted or CASES:
        folder = HERE / "rs" / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "table").mkdir(parents=True)
        try:
            CASES[name](str(folder / "table"))
            answers = answer(str(folder / "table"))
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
            continue
        text = json.dumps(to_json(answers), indent=1, ensure_ascii=False)
        (folder / "engine.json").write_text(text + "\n", "utf-8")
        print(name, answers["version"])


if __name__ == "__main__":
    main(sys.argv[1:])
