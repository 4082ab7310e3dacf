"""Diffs of documents, schemas, partitions and snapshots."""

from __future__ import annotations

from typing import Any

import pytest

from lakelens.analysis.diff.diff import Diff, count_by_partition
from lakelens.analysis.diff.documents import diff_json, diff_schemas
from lakelens.model.schema import DataType, Field, Schema
from lakelens.model.stats import Partition
from tests.support.fakes import FakeFile, FakeSnapshot, FakeTable


def tell(before: Any, after: Any) -> list[str]:
    return [str(change) for change in diff_json(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["$.a: 1 → 2"]),
        ({"a": None}, {}, ["$.a: null → absent"]),
        ({}, {"a": None}, ["$.a: absent → null"]),
        ({"a": 1}, {"a": True}, ["$.a: 1 → true"]),
        ({"a": 1}, {"a": 1.0}, ["$.a: 1 → 1.0"]),
        ({"a": {"b": 1}}, {"a": [1]}, ['$.a: {"b": 1} → [1]']),
        ({"a.b": 1}, {"a.b": 2}, ['$["a.b"]: 1 → 2']),
        ([1, 2], [1, 3, 4], ["$[1]: 2 → 3", "$[2]: absent → 4"]),
        (
            [{"snapshot-id": 2**60, "x": 1}],
            [{"snapshot-id": 1, "x": 0}, {"snapshot-id": 2**60, "x": 2}],
            [
                '$[snapshot-id=1]: absent → {"snapshot-id": 1, "x": 0}',
                f"$[snapshot-id={2**60}].x: 1 → 2",
            ],
        ),
        ([{"id": 1}, {"id": 1}], [{"id": 1}], ['$[1]: {"id": 1} → absent']),
        ([{"id": 1}], [{"id": 1}, 5], ["$[1]: absent → 5"]),
    ],
)
def test_documents(before: Any, after: Any, changes: list[str]) -> None:
    assert tell(before, after) == changes


def column(number: int, name: str, kind: str = "int", *children: Field, nullable: bool = True) -> Field:
    logical = "struct" if children else "int32"
    return Field(number, name, DataType(kind, logical, children=children), nullable)


def test_schemas_by_field_id() -> None:
    before = Schema(
        0, (column(1, "id"), column(2, "note"), column(3, "old"), column(4, "s", "struct", column(5, "x")))
    )
    after = Schema(
        1,
        (
            column(4, "s", "struct", column(5, "y", "long"), column(7, "z")),
            column(1, "id", nullable=False),
            column(2, "comment"),
            column(6, "old"),
        ),
    )
    changes = {(c.kind, c.field_id, c.name, c.before, c.after) for c in diff_schemas(before, after)}
    assert changes == {
        ("renamed", 5, "s.y", "s.x", "s.y"),
        ("retyped", 5, "s.y", "int", "long"),
        ("added", 7, "s.z", None, "int"),
        ("retyped", 1, "id", "int", "int not null"),
        ("renamed", 2, "comment", "note", "comment"),
        ("added", 6, "old", None, "int"),
        ("dropped", 3, "old", "int", None),
    }


def make_file(path: str, partition: str, rows: int, content: str = "data") -> FakeFile:
    made = FakeFile(lambda: path, content)
    made.partition = Partition({"p": partition}, {"p": partition})
    made.record_count, made.size_bytes = rows, rows * 10
    return made


def test_partitions_that_changed() -> None:
    added = [make_file("a", "2", 5), make_file("b", "1", 1), make_file("c", "1", 4, "position_deletes")]
    removed = [make_file("d", "2", 5)]
    one, two = count_by_partition(added, removed)
    assert (one.partition, one.added_files, one.added_rows, one.added_bytes) == ("p=1", 2, 1, 50)
    assert (two.added_files, two.removed_files, two.added_rows, two.removed_rows) == (1, 1, 5, 5)


def test_snapshots_are_compared_when_looked_at() -> None:
    table = FakeTable(lambda: "t")
    kept, gone, new = make_file("kept", "1", 1), make_file("gone", "1", 2), make_file("new", "2", 3)
    before = FakeSnapshot(lambda: "old", 1, table.schema, [kept, gone])
    after = FakeSnapshot(lambda: "new", 2, table.schema, [kept, new])
    diff = Diff(before, after)
    assert before.manifest.opened == after.manifest.opened == 0
    assert [f.path for f in diff.added] == ["new"]
    assert [f.path for f in diff.removed] == ["gone"]
    assert [f.path for f in diff.kept] == ["kept"]
    assert diff.summary["added_rows"] == 3
    assert [c.partition for c in diff.by_partition] == ["p=1", "p=2"]
    assert diff.manifests.rewrites == {"new": ("old",)}


def test_from_nothing_everything_was_added() -> None:
    table = FakeTable(lambda: "t")
    diff = table.diff(None, table.snapshots[0])
    assert len(diff.added) == len(diff.after.files)
    assert not len(diff.removed)
    assert {change.kind for change in diff.schema} == {"added"}
