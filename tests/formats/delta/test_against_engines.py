"""Tables that engines wrote, compared with what these engines say of every version: delta-rs, and delta-spark on Spark."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import lakelens as ll
from lakelens.formats.delta.action_file import DeltaFile
from lakelens.formats.delta.version import DeltaSnapshot

LAKES = Path(__file__).resolve().parents[2] / "lakes/delta"
RS = sorted(path.parent for path in (LAKES / "rs").glob("*/engine.json"))
SPARK = sorted(path.parent for path in (LAKES / "spark").glob("*/engine.json"))


def read_answers(folder: Path) -> Any:
    """What the engine says."""
    return json.loads((folder / "engine.json").read_text("utf-8"))


def open_table(folder: Path) -> ll.Table:
    """The table, which has nothing wrong with it."""
    table = ll.open(folder / "table")
    assert table.format == "delta"
    return table


def list_versions(folder: Path) -> list[tuple[DeltaSnapshot, Any]]:
    """Each version that can be restored, with what the engine says of it."""
    table, answers = open_table(folder), read_answers(folder)
    said = {int(version): held for version, held in answers["versions"].items() if "error" not in held}
    ours = {snapshot.id: snapshot for snapshot in table.snapshots}
    assert set(said) <= set(ours)
    return [(ours[version], held) for version, held in sorted(said.items())]  # type: ignore[misc]


def to_json(value: Any) -> Any:
    """A value as `tests/lakes/README.md` writes it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.hex() if isinstance(value, bytes) else value


def sort_files(snapshot: DeltaSnapshot) -> list[DeltaFile]:
    """The live files by path."""
    return sorted(snapshot.files, key=lambda file: file.recorded_path)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("folder", RS, ids=lambda path: path.name)
def test_files_as_delta_rs_lists_them(folder: Path) -> None:
    """Paths, sizes, times, rows and partition values of every version."""
    for snapshot, said in list_versions(folder):
        files = sort_files(snapshot)
        assert [unquote(file.recorded_path) for file in files] == [
            unquote(one["path"]) for one in said["files"]
        ]
        for file, one in zip(files, said["files"], strict=True):
            assert file.size_bytes == one["size_bytes"]
            assert file.record_count == one["num_records"]
            assert file.raw["modificationTime"] == one["modification_time"]
            values = {name: to_json(value) for name, value in file.partition.items()}
            expected = one.get("partition") or one.get("partition_values") or {}
            assert {name: _same_zone(held) for name, held in values.items()} == {
                name: _same_zone(held) for name, held in expected.items()
            }


def _same_zone(value: Any) -> Any:
    """delta-rs gives a partition's instant without its zone."""
    return value.removesuffix("+00:00") if isinstance(value, str) else value


@pytest.mark.parametrize("folder", RS, ids=lambda path: path.name)
def test_statistics_as_delta_rs_has_them(folder: Path) -> None:
    """Null counts are the same, and bounds no narrower: cut ones are wider."""
    for snapshot, said in list_versions(folder):
        for file, one in zip(sort_files(snapshot), said["files"], strict=True):
            for name, bounds in file.bounds.items():
                low, high, nulls = (_find(one.get(side), name) for side in ("min", "max", "null_count"))
                if nulls is not None:
                    assert bounds.nulls == nulls, name
                if low is not None and bounds.lower is not None:
                    assert _plain(bounds.lower) <= _plain(_parse_as(low, bounds.lower)), name
                if high is not None and bounds.upper is not None:
                    assert _plain(bounds.upper) >= _plain(_parse_as(high, bounds.upper)), name


def _find(held: Any, name: str) -> Any:
    for part in name.split("."):
        held = held.get(part) if isinstance(held, dict) else None
    return held


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _parse_as(text: Any, value: Any) -> Any:
    if isinstance(value, datetime):
        return datetime.fromisoformat(text)
    if isinstance(value, date):
        return date.fromisoformat(text)
    if isinstance(value, Decimal):
        return Decimal(text)
    return float(text) if isinstance(value, float) else text


@pytest.mark.parametrize("folder", RS, ids=lambda path: path.name)
def test_protocol_metadata_and_schema_as_delta_rs_has_them(folder: Path) -> None:
    """Of every version."""
    for snapshot, said in list_versions(folder):
        protocol, metadata = said["protocol"], said["metadata"]
        assert snapshot.protocol["minReaderVersion"] == protocol["min_reader_version"]
        assert snapshot.protocol["minWriterVersion"] == protocol["min_writer_version"]
        for side in ("reader", "writer"):
            ours = snapshot.protocol.get(f"{side}Features") or []
            assert sorted(ours) == sorted(protocol[f"{side}_features"] or [])
        assert snapshot.state.metadata is not None
        assert snapshot.state.metadata.fields["id"] == metadata["id"]
        assert dict(snapshot.configuration) == metadata["configuration"]
        assert [field.name for field in snapshot.partitioning or ()] == metadata["partition_columns"]
        assert [field.name for field in snapshot.schema.fields] == [
            f["name"] for f in said["schema"]["fields"]
        ]
        for field, one in zip(snapshot.schema.fields, said["schema"]["fields"], strict=True):
            assert field.nullable == one["nullable"]
            if isinstance(one["type"], str):
                assert field.type == one["type"]


@pytest.mark.parametrize("folder", RS, ids=lambda path: path.name)
def test_history_as_delta_rs_has_it(folder: Path) -> None:
    """Operations by version, the newest first."""
    answers = read_answers(folder)
    ours = {snapshot.id: snapshot for snapshot in open_table(folder).snapshots}
    for line in answers["history"]:
        snapshot = ours.get(line["version"])
        if snapshot is None or not snapshot.commit_info:  # type: ignore[attr-defined]
            continue
        assert snapshot.operation == line["operation"]
        assert snapshot.commit_info["timestamp"] == line["timestamp"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("folder", SPARK, ids=lambda path: path.name)
def test_files_as_spark_lists_them(folder: Path) -> None:
    """Every field of every live file of every version, deletion vectors among them."""
    for snapshot, said in list_versions(folder):
        files = sort_files(snapshot)
        assert len(files) == len(said["files"])
        listed = sorted(said["files"], key=lambda one: (one["path"], str(one.get("deletionVector"))))
        files.sort(key=lambda file: (file.recorded_path, str(file.raw.get("deletionVector"))))
        for file, one in zip(files, listed, strict=True):
            ours = {name: held for name, held in file.raw.items() if not name.endswith("_parsed")}
            theirs = {name: held for name, held in one.items() if held not in ({}, None) or name in ours}
            for name in ("path", "size", "partitionValues", "modificationTime", "deletionVector"):
                assert _drop_none(ours.get(name)) == _drop_none(theirs.get(name)), name
            if "stats" in ours and "stats" in theirs:
                assert json.loads(ours["stats"]) == json.loads(theirs["stats"])


def _drop_none(held: Any) -> Any:
    if not isinstance(held, dict):
        return held
    return {name: value for name, value in held.items() if value is not None} or None


@pytest.mark.parametrize("folder", SPARK, ids=lambda path: path.name)
def test_live_rows_as_spark_reads_them(folder: Path) -> None:
    """The positions that Spark reads of each file are those which no vector deletes."""
    location = read_answers(folder)["location"]
    for snapshot, said in list_versions(folder):
        ours = {}
        for file in snapshot.files:
            rows = file.footer.num_rows if file.record_count is None else file.record_count
            deleted = set(file.deleted_positions)
            name = file.logical_path.removeprefix("file:")  # type: ignore[attr-defined]
            ours[name.removeprefix(location).lstrip("/")] = [row for row in range(rows) if row not in deleted]
        theirs = {
            unquote(place).removeprefix("file:").removeprefix("//").removeprefix(location).lstrip("/"): rows
            for place, rows in said["live"].items()
        }
        assert {name: rows for name, rows in ours.items() if rows} == theirs
        counted = all(file.record_count is not None for file in snapshot.files)
        assert snapshot.live_record_count == (said["row_count"] if counted else None)


@pytest.mark.parametrize("folder", SPARK, ids=lambda path: path.name)
def test_protocol_and_schema_as_spark_has_them(folder: Path) -> None:
    """Of every version; Spark's own order of features is left out."""
    for snapshot, said in list_versions(folder):
        theirs = said["protocol"]["protocol"]
        for name in ("minReaderVersion", "minWriterVersion"):
            assert snapshot.protocol[name] == theirs[name]
        for name in ("readerFeatures", "writerFeatures"):
            assert sorted(snapshot.protocol.get(name) or []) == sorted(theirs.get(name) or [])
        metadata = said["metadata"]["metaData"]
        assert snapshot.state.metadata is not None
        assert snapshot.state.metadata.fields["id"] == metadata["id"]
        assert snapshot.schema.raw == json.loads(metadata["schemaString"])
        assert dict(snapshot.configuration) == metadata["configuration"]


@pytest.mark.parametrize("folder", SPARK, ids=lambda path: path.name)
def test_history_as_spark_has_it(folder: Path) -> None:
    """Operations, metrics and times; Spark's times are those at which commits were stored, or stand in them."""
    answers = read_answers(folder)
    ours = {snapshot.id: snapshot for snapshot in open_table(folder).snapshots}
    for line in answers["history"]:
        snapshot: Any = ours[line["version"]]
        assert snapshot.operation == line["operation"]
        assert dict(snapshot.operation_metrics) == (line["operationMetrics"] or {})
        assert snapshot.isolation_level == line["isolationLevel"]
        theirs = datetime.fromisoformat(line["timestamp"]).replace(tzinfo=UTC)
        assert abs((snapshot.committed_at - theirs).total_seconds()) < 60


def _list_bounded() -> list[Path]:
    return [
        folder
        for folder in SPARK
        if any("rows" in held for held in read_answers(folder)["versions"].values())
    ]


@pytest.mark.parametrize("folder", _list_bounded(), ids=lambda path: path.name)
def test_bounds_hold_every_row(folder: Path) -> None:
    """What Spark reads is inside of the bounds of some file, column by column."""
    for snapshot, said in list_versions(folder):
        for row in said.get("rows", ()):
            for name, value in row.items():
                if value is None or isinstance(value, dict | list | bool) or value in ("NaN", "Infinity"):
                    continue
                sides = [file.bounds.get(name) for file in snapshot.files]
                if any(side is None or side.lower is None or side.upper is None for side in sides):
                    continue
                held = [(_plain(side.lower), _plain(side.upper)) for side in sides if side is not None]
                seen = _plain(_parse_as(value, sides[0].lower))  # type: ignore[union-attr]
                assert any(low <= seen <= high for low, high in held), (name, value, held)
