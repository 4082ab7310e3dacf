"""Logs of every kind, made by hand: gaps, heads that were cleaned, checkpoints in parts, hints, damage, odd paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.analysis.timeline.marks import trace_history
from lakelens.codecs.z85 import decode_z85, encode_z85
from lakelens.errors import LakeError
from lakelens.formats.delta.discovery import read_names
from lakelens.formats.delta.values import read_bound
from lakelens.io.store import ObjectInfo
from lakelens.model.schema import DataType
from lakelens.model.table import Table
from lakelens.views.timeline.picture import render_picture
from lakelens.views.timeline.wording import describe_history

PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "p", "type": "string", "nullable": True, "metadata": {}},
    ],
}
METADATA = {
    "metaData": {
        "id": "a",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(SCHEMA),
        "partitionColumns": ["p"],
        "configuration": {},
    }
}


def add(path: str, **further: Any) -> dict[str, Any]:
    """An add action."""
    fields = {
        "path": path,
        "partitionValues": {"p": "x"},
        "size": 1,
        "modificationTime": 0,
        "dataChange": True,
    }
    return {"add": fields | further}


def remove(path: str, **further: Any) -> dict[str, Any]:
    """A remove action."""
    return {"remove": {"path": path, "deletionTimestamp": 5, "dataChange": True} | further}


def write_commit(root: Path, version: int, *actions: Mapping[str, Any], ends: str = "\n") -> Path:
    """Write a commit."""
    path = root / f"_delta_log/{version:020}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(json.dumps(action) + ends for action in actions).encode())
    return path


def write_checkpoint(root: Path, version: int, actions: list[dict[str, Any]], name: str = "") -> Path:
    """Write a checkpoint in Parquet."""
    maps = pa.map_(pa.string(), pa.string())
    file = pa.struct(
        [
            ("path", pa.string()),
            ("partitionValues", maps),
            ("size", pa.int64()),
            ("modificationTime", pa.int64()),
            ("dataChange", pa.bool_()),
            ("stats", pa.string()),
        ]
    )
    schema = pa.schema(
        {
            "protocol": pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]),
            "metaData": pa.struct(
                [
                    ("id", pa.string()),
                    ("schemaString", pa.string()),
                    ("partitionColumns", pa.list_(pa.string())),
                    ("configuration", maps),
                ]
            ),
            "add": file,
            "remove": pa.struct([("path", pa.string()), ("deletionTimestamp", pa.int64())]),
        }.items()
    )
    path = root / f"_delta_log/{name or f'{version:020}.checkpoint.parquet'}"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{key: action.get(key) for key in schema.names} for action in actions]
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path


def list_codes(table: Table) -> set[str]:
    """The codes of what is odd."""
    return {finding.code for finding in table.findings}


def list_paths(table: Table) -> list[str]:
    """The live files as recorded."""
    return [file.recorded_path for file in table.files]


def test_a_gap_ends_the_versions(tmp_path: Path) -> None:
    """Commits above a gap are said to be there."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    write_commit(tmp_path, 1, add("b"))
    write_commit(tmp_path, 3, add("c"))
    table = ll.open(tmp_path)
    assert [snapshot.id for snapshot in table.snapshots] == [0, 1]
    assert list_paths(table) == ["a", "b"]
    [gap] = [finding for finding in table.findings if finding.code == "log-gap"]
    assert gap.severity == "error"
    assert "commits 3 follow a gap" in gap.message


def test_a_checkpoint_bridges_a_gap(tmp_path: Path) -> None:
    """What is before it, and what is after it, is a version each."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    write_commit(tmp_path, 2, add("never seen"))
    write_checkpoint(tmp_path, 3, [PROTOCOL, METADATA, add("b")])
    write_commit(tmp_path, 4, add("c"))
    table = ll.open(tmp_path)
    assert [snapshot.id for snapshot in table.snapshots] == [0, 3, 4]
    assert list_paths(table) == ["b", "c"]
    assert [file.recorded_path for file in table.snapshot(3).files] == ["b"]
    assert table.snapshot(3).parent_id is None


def test_a_log_without_a_beginning_is_an_error(tmp_path: Path) -> None:
    """It is never an empty table."""
    write_commit(tmp_path, 4, add("c"))
    with pytest.raises(LakeError, match="no version of the table can be restored"):
        ll.open(tmp_path)


def test_a_head_that_was_cleaned(tmp_path: Path) -> None:
    """Commits before the first checkpoint are no versions."""
    write_commit(tmp_path, 2, add("x"))
    write_checkpoint(tmp_path, 3, [PROTOCOL, METADATA, add("b")])
    table = ll.open(tmp_path)
    assert [snapshot.id for snapshot in table.snapshots] == [3]
    assert "log-head" in list_codes(table)


def test_a_checkpoint_with_a_missing_part_is_left_out(tmp_path: Path) -> None:
    """The commits are read instead."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    write_commit(tmp_path, 1, add("b"))
    name = f"{1:020}.checkpoint.{1:010}.{2:010}.parquet"
    write_checkpoint(tmp_path, 1, [PROTOCOL, METADATA, add("lost")], name)
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a", "b"]
    assert "checkpoint-incomplete" in list_codes(table)


def test_parts_of_a_checkpoint(tmp_path: Path) -> None:
    """All of them are one."""
    for number, actions in ((1, [PROTOCOL, METADATA, add("a")]), (2, [add("b")])):
        write_checkpoint(tmp_path, 7, actions, f"{7:020}.checkpoint.{number:010}.{2:010}.parquet")
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a", "b"]
    assert [manifest.kind for manifest in table.current.manifests] == ["checkpoint", "checkpoint"]  # type: ignore[union-attr]


def test_a_damaged_checkpoint_gives_way_to_the_commits(tmp_path: Path) -> None:
    """It is an error finding, and nothing is lost."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    write_commit(tmp_path, 1, add("b"))
    path = write_checkpoint(tmp_path, 1, [PROTOCOL, METADATA, add("a"), add("b")])
    path.write_bytes(path.read_bytes()[:-20])
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a", "b"]
    assert [finding.severity for finding in table.findings if finding.path == str(path)] == ["error"]


@pytest.mark.parametrize(
    ("hint", "severity"),
    [('{"version": 9}', "warning"), ("{", "warning"), ("{}", "warning"), ('{"version": 1}', "note")],
)
def test_hints_that_lie_cost_nothing(tmp_path: Path, hint: str, severity: str) -> None:
    """A hint is a hint."""
    write_checkpoint(tmp_path, 1, [PROTOCOL, METADATA, add("a")])
    write_checkpoint(tmp_path, 2, [PROTOCOL, METADATA, add("a"), add("b")])
    (tmp_path / "_delta_log/_last_checkpoint").write_text(hint)
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a", "b"]
    assert [finding.severity for finding in table.findings if finding.code == "stale-hint"] == [severity]


def test_compacted_commits_stand_for_those_that_are_gone(tmp_path: Path) -> None:
    """Where commits are there they are read."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    compacted = tmp_path / f"_delta_log/{1:020}.{3:020}.compacted.json"
    compacted.write_text("".join(json.dumps(one) + "\n" for one in (add("b"), remove("a"))))
    write_commit(tmp_path, 4, add("c"))
    table = ll.open(tmp_path)
    assert [snapshot.id for snapshot in table.snapshots] == [0, 3, 4]
    assert list_paths(table) == ["b", "c"]


def test_lines_of_all_kinds(tmp_path: Path) -> None:
    """Ends of lines of Windows, empty lines, several actions, unknown ones, unknown fields."""
    path = write_commit(
        tmp_path, 0, PROTOCOL | METADATA, add("a", unheard=[1]), {"newAction": {"x": 1}}, ends="\r\n\r\n"
    )
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    write_commit(tmp_path, 1)
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a"]
    assert list_codes(table) == {"empty-commit"}


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        '{"add": 5}',
        '{"add": {"path": 5}}',
        '{"remove": {}}',
        "\xff",
        '{"add":{"path":"b","tags":3}}',
    ],
)
def test_a_broken_line_is_said_and_the_others_are_read(tmp_path: Path, line: str) -> None:
    """With the file and the byte."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    path = write_commit(tmp_path, 1, add("b"))
    path.write_bytes(line.encode("latin-1") + b"\n" + path.read_bytes())
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a", "b"]
    [error] = [finding for finding in table.findings if finding.severity == "error"]
    assert error.path == str(path)
    assert error.snapshots == (1,)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"metaData": {}},
        {"metaData": {"schemaString": "5"}},
        {"metaData": {"schemaString": '{"fields":[3]}'}},
    ],
)
def test_files_are_listed_without_a_schema(tmp_path: Path, metadata: Any) -> None:
    """That it is missing is an error finding."""
    write_commit(tmp_path, 0, PROTOCOL, *([metadata] if metadata else []), add("a", stats='{"numRecords":3}'))
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a"]
    assert table.files.to_arrow()["record_count"].to_pylist() == [3]
    assert [finding for finding in table.findings if finding.severity == "error"]


def test_an_unknown_reader_feature_is_said(tmp_path: Path) -> None:
    """And the log is shown."""
    protocol = {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors", "xyz"],
        }
    }
    write_commit(tmp_path, 0, protocol, METADATA, add("a"))
    table = ll.open(tmp_path)
    assert list_paths(table) == ["a"]
    assert ["xyz" in finding.message for finding in table.findings] == [True]


def test_paths_are_decoded_once(tmp_path: Path) -> None:
    """Writers differ in what they encode; a remove may encode otherwise than its add."""
    write_commit(
        tmp_path, 0, PROTOCOL, METADATA, add("x=A%252FA/a.parquet"), add("p=a b/c+d.parquet"), add("q%3D1/e")
    )
    write_commit(tmp_path, 1, remove("p=a%20b/c+d.parquet"), remove("q=1/e"))
    table = ll.open(tmp_path)
    [file] = table.files
    assert file.path == f"{tmp_path}/x=A%2FA/a.parquet"
    assert len(table.snapshot(0).files) == 3


def test_absolute_paths(tmp_path: Path) -> None:
    """As of a shallow clone: files that another table has."""
    write_commit(tmp_path / "t", 0, PROTOCOL, METADATA, add("file:///elsewhere/other/a%20b.parquet"))
    [file] = ll.open(tmp_path / "t").files
    assert file.path == "/elsewhere/other/a b.parquet"


def test_partition_values(tmp_path: Path) -> None:
    """Empty text is null; what is no value of its type is said, and stays text."""
    schema = {
        "type": "struct",
        "fields": [{"name": "p", "type": "integer", "nullable": True, "metadata": {}}],
    }
    metadata = {"metaData": METADATA["metaData"] | {"schemaString": json.dumps(schema)}}
    values = ["7", "", None, "seven"]
    adds = [add(str(n), partitionValues={"p": value}) for n, value in enumerate(values)]
    write_commit(tmp_path, 0, PROTOCOL, metadata, *adds)
    table = ll.open(tmp_path)
    assert [file.partition["p"] for file in table.files] == [7, None, None, "seven"]
    assert list_codes(table) == {"partition-value"}


def test_a_file_added_twice_with_two_vectors(tmp_path: Path) -> None:
    """Is not allowed, and both are shown."""
    vectors = [
        {
            "storageType": "u",
            "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
            "offset": n,
            "sizeInBytes": 4,
            "cardinality": 1,
        }
        for n in (1, 20)
    ]
    adds = [add("a", deletionVector=vector) for vector in vectors]
    write_commit(tmp_path, 0, PROTOCOL, METADATA, *adds)
    table = ll.open(tmp_path)
    assert len(table.files) == 2
    assert {"repeated-add", "live-twice"} <= list_codes(table)
    match = table.files[0].deletes[0]
    assert match.file.path == f"{tmp_path}/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    with pytest.raises(LakeError):
        len(match.positions)


def test_inline_vectors(tmp_path: Path) -> None:
    """The protocol's own example: rows 3, 4, 7, 11, 18, 29."""
    inline = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
    vector = {"storageType": "i", "pathOrInlineDv": inline, "sizeInBytes": 40, "cardinality": 6}
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a", deletionVector=vector, stats='{"numRecords":30}'))
    table = ll.open(tmp_path)
    [file] = table.files
    assert list(file.deleted_positions) == [3, 4, 7, 11, 18, 29]
    assert file.live_record_count == 24
    assert table.snapshot(0).index_files[0].ranges[0]["cardinality"] == 6


@pytest.mark.parametrize(
    "vector",
    [
        {"storageType": "x", "pathOrInlineDv": "a", "sizeInBytes": 1},
        {"storageType": "u", "pathOrInlineDv": "short", "sizeInBytes": 1},
        {"storageType": "i", "pathOrInlineDv": "#####", "sizeInBytes": 4},
        {"storageType": "i", "sizeInBytes": 4},
        {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "sizeInBytes": -4},
        {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "sizeInBytes": 2**70},
    ],
)
def test_damaged_vectors_are_findings_or_errors(tmp_path: Path, vector: Any) -> None:
    """Never another exception, and never no deletes without a word."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a", deletionVector=vector, stats='{"numRecords":30}'))
    table = ll.open(tmp_path)
    try:
        len(table.files[0].deleted_positions)
    except LakeError:
        return
    assert [finding for finding in table.findings if finding.severity == "error"]


def test_z85() -> None:
    """Every character, and what is none."""
    assert decode_z85("HelloWorld").hex() == "864fd26fb559f75b"
    for text in ("Hello!W", "Hell ", "#####"):
        with pytest.raises(LakeError):
            decode_z85(text)


def test_statistics_bound_what_was_cut(tmp_path: Path) -> None:
    """Text of 32 characters, timestamps of milliseconds, bounds that are wide, null counts that say nothing."""
    schema = {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in (("s", "string"), ("t", "timestamp"), ("d", "decimal(10,2)"), ("f", "double"))
        ],
    }
    metadata = {
        "metaData": METADATA["metaData"] | {"schemaString": json.dumps(schema), "partitionColumns": []}
    }
    stats = (
        '{"numRecords":5,"tightBounds":false,"minValues":{"s":"a","t":"2024-01-01T00:00:00.123+01:00","d":1.10,"f":"NaN"},'
        '"maxValues":{"s":"' + "z" * 32 + '","t":"2024-01-01T00:00:00.123Z","d":99999999.99,"f":"Infinity"},'
        '"nullCount":{"s":2,"t":0,"d":5}}'
    )
    write_commit(tmp_path, 0, PROTOCOL, metadata, add("a", stats=stats))
    table = ll.open(tmp_path)
    bounds = table.files[0].bounds
    assert bounds["s"].upper > "z" * 40
    assert bounds["t"].lower == datetime(2023, 12, 31, 23, 0, 0, 123000, tzinfo=UTC)
    assert bounds["t"].upper == datetime(2024, 1, 1, 0, 0, 0, 123999, tzinfo=UTC)
    assert str(bounds["d"].lower), str(bounds["d"].upper) == ("1.10", "99999999.99")
    assert (bounds["f"].lower, bounds["f"].upper) == (None, float("inf"))
    assert [bounds[name].nulls for name in "std"] == [None, 0, 5]


@pytest.mark.parametrize(
    "stats", ["{", "5", '{"numRecords":"x"}', '{"minValues":5}', '{"minValues":{"id":"x"}}']
)
def test_damaged_statistics(tmp_path: Path, stats: str) -> None:
    """Bounds are empty then, or without that side."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a", stats=stats))
    table = ll.open(tmp_path)
    assert all(column.lower is None for column in table.files[0].bounds.values())
    assert table.files[0].record_count is None
    assert table.files.to_arrow().num_rows == 1


def test_times(tmp_path: Path) -> None:
    """A time in the commit counts; else its file's, each later than the one before; of a copy the writer's."""
    listed = [
        ObjectInfo(f"/t/_delta_log/{n:020}.json", 1, datetime(2024, 1, 1, 0, 0, second, tzinfo=UTC))
        for n, second in ((0, 5), (1, 3), (2, 9))
    ]
    adjusted = read_names(listed).adjust_times()
    assert [moment.microsecond for _, moment in sorted(adjusted.items())] == [0, 1000, 0]
    write_commit(tmp_path, 0, PROTOCOL, METADATA, {"commitInfo": {"timestamp": 1_000_000}})
    write_commit(tmp_path, 1, {"commitInfo": {"timestamp": 2_000_000, "inCommitTimestamp": 3_000_000}})
    table = ll.open(tmp_path)
    times = [snapshot.committed_at for snapshot in table.snapshots]
    assert [moment.timestamp() for moment in times if moment] == [1000, 3000]
    assert table.snapshot("1970-01-01T00:20:00").id == 0
    assert "modification-times" in list_codes(table)


def test_a_time_leads_to_the_version_that_engines_find(tmp_path: Path) -> None:
    """A version whose time is not after the one before it counts as a millisecond later."""
    for version, time in enumerate((1_000, 9_000, 4_000)):
        first = (PROTOCOL, METADATA) if not version else ()
        write_commit(tmp_path, version, *first, {"commitInfo": {"timestamp": time}})
    table = ll.open(tmp_path)
    moments = [datetime.fromtimestamp(seconds, UTC) for seconds in (1, 5, 9, 9.001, 99)]
    assert [table.snapshot(moment).id for moment in moments] == [0, 0, 1, 2, 2]


def test_a_checkpoint_that_cannot_be_read_is_not_empty(tmp_path: Path) -> None:
    """A version without its checkpoint is not whole, and has no figures."""
    write_checkpoint(tmp_path, 3, [PROTOCOL, METADATA, add("a")]).write_bytes(b"PAR1 and nothing else")
    table = ll.open(tmp_path)
    assert "files: 0" not in str(table)
    assert "no-metadata" in list_codes(table)


def test_older_versions_are_opened_by_number(tmp_path: Path) -> None:
    """What came after is not there then."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a"))
    write_commit(tmp_path, 1, remove("a"), add("b"))
    assert list_paths(ll.open(tmp_path, version=0)) == ["a"]
    with pytest.raises(LakeError):
        ll.open(tmp_path, version=7)


def test_a_directory_with_an_empty_log_is_no_delta_table(tmp_path: Path) -> None:
    """Nothing says that it is one."""
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log/readme").write_text("x")
    with pytest.raises(LakeError):
        ll.open(tmp_path)


def test_entries_of_the_log_say_what_they_do(tmp_path: Path) -> None:
    """Those of commits add and delete, those of a checkpoint are there or gone already."""
    write_checkpoint(tmp_path, 1, [PROTOCOL, METADATA, add("a"), remove("z")])
    write_commit(tmp_path, 2, remove("a"), add("b"), {"cdc": {"path": "c", "partitionValues": {}, "size": 1}})
    table = ll.open(tmp_path)
    entries = [entry for manifest in table.current.manifests for entry in manifest.entries]  # type: ignore[union-attr]
    assert [(entry.status, entry.file.recorded_path) for entry in entries] == [
        ("EXISTING", "a"),
        ("DELETED", "z"),
        ("DELETE", "a"),
        ("ADD", "b"),
        ("ADD", "c"),
    ]
    assert [entry.file.content for entry in entries][-1] == "changelog"
    assert {file.recorded_path for file in table.current.tombstones} == {"a", "z"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "folder", ["rs/vacuumed", "spark/dml", "spark/vectors", "rs/checkpointed", "spark/v2-checkpoints"]
)
def test_a_vacuumed_table_is_sound(folder: str) -> None:
    """What only older versions have may be gone."""
    check = ll.open(Path(__file__).resolve().parents[2] / "lakes/delta" / folder / "table").check(data=True)
    assert not [finding for finding in check.findings if finding.severity != "note"]


def test_a_decimal_that_went_through_a_double_is_widened() -> None:
    """As delta-rs writes it; others write all digits."""
    kind = DataType("decimal(19,2)", "decimal", precision=19, scale=2)
    assert read_bound(Decimal("-12345678901234566.0"), kind, is_upper=False)[0] < Decimal(
        "-12345678901234567.89"
    )
    exact = Decimal("12345678901234567.89")
    assert read_bound(exact, kind, is_upper=True) == (exact, False)


def test_the_bytes_of_an_inline_vector_have_names(tmp_path: Path) -> None:
    """Magic, bitmap and what fills it up: the example of the protocol."""
    inline = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
    vector = {"storageType": "i", "pathOrInlineDv": inline, "sizeInBytes": 40, "cardinality": 6}
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a", deletionVector=vector, stats='{"numRecords":30}'))
    [index] = ll.open(tmp_path).snapshot(0).index_files
    [[part]] = (inner.children for inner in index.vector_view("a").children)
    assert [child.label for child in part.children] == ["magic", "bitmaps", "size", "32-bit bitmap"]
    assert list(part.value) == [3, 4, 7, 11, 18, 29]
    portable = bytes.fromhex("d1d339640100000000000000000000003a30000001000000000001001000000002000300")
    text = encode_z85(portable)
    vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(portable), "cardinality": 2}
    write_commit(tmp_path, 1, add("b", deletionVector=vector, stats='{"numRecords":30}'))
    shown = ll.open(tmp_path).snapshot(1).index_files[-1].vector_view("b")
    [[part]] = (inner.children for inner in shown.children)
    assert [child.label for child in part.children] == ["magic", "64-bit bitmap"]
    assert list(part.value) == [2, 3] and part.end == len(portable)


def test_a_file_that_is_added_again_counts_once(tmp_path: Path) -> None:
    """Statistics that are written later change no row; a new vector is a change of a file that stays."""
    write_commit(tmp_path, 0, PROTOCOL, METADATA, add("a", stats='{"numRecords":3}'))
    write_commit(tmp_path, 1, add("a", stats='{"numRecords":3,"nullCount":{"id":0}}', dataChange=False))
    inline = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
    vector = {"storageType": "i", "pathOrInlineDv": inline, "sizeInBytes": 40, "cardinality": 6}
    write_commit(tmp_path, 2, remove("a"), add("a", stats='{"numRecords":30}', deletionVector=vector))
    first, second, third = ll.open(tmp_path).snapshots
    assert (first.figures.added_files, first.figures.rows, first.stated_live_rows.count) == (1, 3, 3)
    assert (second.figures.added_files, second.figures.added_rows) == (0, 0)
    assert "0 files added, 0 removed, 1 kept" in str(third.changes)


def test_a_table_without_branches_has_one_line(tmp_path: Path) -> None:
    """No sentence of its history speaks of branches, and an operation is named in whole."""
    for version, operation in enumerate(("CREATE TABLE", "CREATE TABLE AS SELECT")):
        info = {"commitInfo": {"timestamp": 1_700_000_000_000 + version * 60_000, "operation": operation}}
        write_commit(tmp_path, version, *((PROTOCOL, METADATA) if not version else (add("a"),)), info)
    table = ll.open(tmp_path)
    timeline = trace_history(table)
    drawn = render_picture(timeline)
    assert [lane.name for lane in timeline.lanes] == [""]
    assert not {"branch", "branch:"} & {*describe_history(timeline).split()}
    assert "CREATE TABLE<" in drawn and "characters)" not in drawn
    assert table.snapshot(0).stated_live_rows.count == 0


def test_the_map_names_what_the_log_is_made_of() -> None:
    """Checkpoint, sidecars, commits by their operations, files and vectors."""
    drawn = {tier.noun: tier for tier in ll.sample("delta").map().tiers}
    assert list(drawn) == ["checkpoints", "commits", "data files", "vector files"]
    assert [(box.state, box.lines) for box in drawn["commits"].boxes] == [("new", ("DELETE",))]
    assert {box.state for box in drawn["data files"].boxes} == {"changed"}
    assert "sidecars" in {tier.noun for tier in ll.sample("delta-checkpoints").map().tiers}
