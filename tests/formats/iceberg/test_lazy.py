"""A metadata document with many snapshots: what grows with the table becomes objects when it is asked for, not before."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.access import WeakLruCache
from lakelens.formats.iceberg.metadata.document import decode_document
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.model.collections import Items
from lakelens.model.datafile import DataFile
from lakelens.opening import open_table
from lakelens.views.render.html import render_card
from tests.support.growth import grow_iceberg
from tests.support.iceberg_builder import SCHEMA, Builder

FIRST = 7_000_000_000_000_000_000
START = 1_700_000_000_000


def make_document(count: int, **changes: Any) -> dict[str, Any]:
    """A document of `count` snapshots in a line, a minute apart, with logs and statistics to each."""
    ids = [FIRST + n for n in range(count)]
    document = {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "file:/was/here/t",
        "last-updated-ms": START + count * 60_000,
        "schemas": [SCHEMA],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "current-snapshot-id": ids[-1],
        "refs": {
            "main": {"snapshot-id": ids[-1], "type": "branch", "unknown": 1},
            "old": {"snapshot-id": ids[0], "type": "tag"},
        },
        "snapshots": [
            {
                "snapshot-id": number,
                **({"parent-snapshot-id": number - 1} if n else {}),
                "sequence-number": n + 1,
                "timestamp-ms": START + n * 60_000,
                "manifest-list": f"file:/was/here/t/metadata/snap-{number}-1-x.avro",
                "summary": {"operation": "append", "total-records": str(n), "note": "né"},
                "schema-id": 0,
                "unknown": {"kept": n},
            }
            for n, number in enumerate(ids)
        ],
        "snapshot-log": [
            {"snapshot-id": id_, "timestamp-ms": START + n * 60_000} for n, id_ in enumerate(ids)
        ],
        "metadata-log": [
            {
                "metadata-file": f"file:/was/here/t/metadata/v{n}.metadata.json",
                "timestamp-ms": START + n * 60_000,
            }
            for n in range(1, count)
        ],
        "statistics": [
            {"snapshot-id": id_, "statistics-path": f"file:/was/here/t/metadata/{id_}.stats", "unknown": n}
            for n, id_ in enumerate(ids)
        ],
        "partition-statistics": [
            {
                "snapshot-id": id_,
                "statistics-path": f"file:/was/here/t/metadata/partition-stats-{id_}.parquet",
            }
            for id_ in ids
        ],
        "unknown": ["kept"],
    }
    return document | changes


def open_document(
    root: Path, document: dict[str, Any] | bytes, name: str = "v1.metadata.json"
) -> IcebergTable:
    (root / "metadata").mkdir(parents=True, exist_ok=True)
    data = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
    (root / "metadata" / name).write_bytes(data)
    table = open_table(root)
    assert isinstance(table, IcebergTable)
    return table


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the snapshots that became objects, in order."""
    ids: list[int] = []
    make = IcebergSnapshot.__init__

    def count(self: IcebergSnapshot, *given: Any) -> None:
        make(self, *given)
        ids.append(self.id)

    monkeypatch.setattr(IcebergSnapshot, "__init__", count)
    return ids


def test_opening_makes_no_snapshot_and_a_card_few(tmp_path: Path, made: list[int]) -> None:
    table = open_document(tmp_path, make_document(500))
    assert made == []
    assert len(table.snapshots) == 500 and made == []
    assert "500" in render_card(table)
    assert 0 < len(set(made)) <= 8
    assert "raw" not in vars(table._context.document)  # the whole document was not decoded either
    made.clear()
    assert len(table.snapshots[20:480]) == 460 and made == []
    assert [s.id for s in table.snapshots[20:480][2:4]] == [FIRST + 22, FIRST + 23] == made
    made.clear()
    by_id, by_time = table.snapshot(FIRST + 300), table.snapshot(datetime(2023, 11, 14, 23, tzinfo=UTC))
    assert [by_id.id, by_time.id] == made
    moment = int(datetime(2023, 11, 14, 23, tzinfo=UTC).timestamp() * 1000)
    assert by_time.id == FIRST + (moment - START) // 60_000
    assert by_id.raw == make_document(500)["snapshots"][300]


def test_everything_is_what_the_document_says(tmp_path: Path) -> None:
    document = make_document(40)
    table = open_document(tmp_path, document)
    assert table.metadata == document
    assert [s.raw for s in table.snapshots] == document["snapshots"]
    assert [s.record_count for s in reversed(table.snapshots)] == list(range(39, -1, -1))
    assert table.current is table.snapshots[-1] is table.find_by_id(FIRST + 39) is table.snapshot("main")
    assert table.snapshot("old") is table.snapshots[0] is table.snapshots[1].parent  # type: ignore[attr-defined]
    assert table.snapshots[0].refs == ("old",) and table.refs["main"].raw["unknown"] == 1
    assert [(e.snapshot_id, e.parent_id) for e in table.snapshot_log[1:3]] == [
        (FIRST + 1, FIRST),
        (FIRST + 2, FIRST + 1),
    ]
    assert all(entry.is_current_ancestor for entry in table.snapshot_log) and len(table.snapshot_log) == 40
    assert len(table.metadata_log) == 39
    assert [s.raw for s in table.snapshots[7].statistics] == [
        document["statistics"][7],
        document["partition-statistics"][7],
    ]
    with pytest.raises(IndexError):
        _ = table.snapshots[40]
    assert table.find_by_id(1) is None
    with pytest.raises(LakeError, match="no snapshot 1"):
        table.snapshot(1)
    view = table.snapshots[17].bytes_view()
    assert json.loads(view.data[view.start : view.end]) == document["snapshots"][17]


def test_commit_order_is_that_of_sequence_numbers(tmp_path: Path) -> None:
    document = make_document(9)
    document["snapshots"].reverse()
    table = open_document(tmp_path, document)
    assert [s.id for s in table.snapshots] == [FIRST + n for n in range(9)]
    assert table.snapshots[2].raw == document["snapshots"][6]
    view = table.snapshots[2].bytes_view()
    assert json.loads(view.data[view.start : view.end]) == document["snapshots"][6]


PLACES = [
    ("snapshots", 7, "snapshot-id"),
    ("snapshots", 7, "timestamp-ms"),
    ("snapshot-log", 3, "snapshot-id"),
    ("metadata-log", 3, "metadata-file"),
    ("statistics", 2, "statistics-path"),
    ("partition-statistics", 0, "snapshot-id"),
]


@pytest.mark.parametrize(("key", "index", "name"), PLACES)
def test_damage_anywhere_is_told_when_the_table_is_opened(
    key: str, index: int, name: str, tmp_path: Path
) -> None:
    for wrong, told in ([{}], f"$.{key}[{index}].{name}"), (None, f"$.{key}[{index}].{name}"):
        document = make_document(9)
        document[key][index][name] = wrong
        with pytest.raises(Corrupt) as caught:
            open_document(tmp_path, document)
        assert told in str(caught.value)
    document = make_document(9)
    del document[key][index][name]
    with pytest.raises(Corrupt) as caught:
        open_document(tmp_path, document)
    assert "missing" in str(caught.value) and f"$.{key}[{index}].{name}" in str(caught.value)
    for broken in ("text", [1, 2], 7):
        with pytest.raises(Corrupt) as caught:
            open_document(tmp_path, make_document(9, **{key: broken}))
        assert f"$.{key}" in str(caught.value)
    empty: tuple[Any, ...] = (None, [])
    for nothing in empty:
        assert open_document(tmp_path, make_document(9, **{key: nothing})) is not None


def test_numbers_that_a_tool_spoiled_are_read_and_noted(tmp_path: Path) -> None:
    document = make_document(9)
    document["snapshots"][4]["snapshot-id"] = str(FIRST + 4)
    document["snapshots"][5]["timestamp-ms"] = float(START)
    document["snapshot-log"][4]["snapshot-id"] = str(FIRST + 4)
    document["statistics"][4]["snapshot-id"] = str(FIRST + 4)
    document["last-updated-ms"] = "1700000000000"
    table = open_document(tmp_path, document)
    assert table.snapshot(FIRST + 4).raw == document["snapshots"][4]
    assert table.snapshots[5].committed_at == datetime.fromtimestamp(START / 1000, UTC)
    assert table.snapshot_log[4].snapshot_id == FIRST + 4
    assert [s.raw for s in table.snapshots[4].statistics][:1] == [document["statistics"][4]]
    (note,) = [f for f in table.findings if f.code == "rounded-number"]
    assert (
        "$.last-updated-ms, $.snapshots[4].snapshot-id, $.snapshots[5].timestamp-ms and 2 more"
        in note.message
    )


def test_broken_text_inside_of_one_snapshot_is_told_with_its_byte(tmp_path: Path) -> None:
    data = json.dumps(make_document(9), ensure_ascii=False).encode()
    at = data.index(b'"kept": 5')
    for broken, told in (
        (data[:at] + b'"k\xffpt": 5' + data[at + 9 :], f"at byte {at + 2:,}"),
        (data[:at] + b'"k\\q": 55' + data[at + 9 :], "at byte"),
        (data[:at] + b'"kept"! 5' + data[at + 9 :], f"at byte {at + 6:,}"),
        (data[:at] + b'"\\udc00": ' + data[at + 9 :], "not JSON"),
        (data[: at + 4], "not JSON"),
    ):
        with pytest.raises(Corrupt) as caught:
            open_document(tmp_path, broken)
        assert told.replace(",", "") in str(caught.value).replace(",", ""), str(caught.value)


@pytest.mark.parametrize("form", ["plain", "gzip", "mark"])
def test_the_text_is_that_of_the_document_however_it_is_stored(form: str, tmp_path: Path) -> None:
    document = make_document(5)
    text = json.dumps(document, ensure_ascii=False).encode()
    data = {"plain": text, "gzip": gzip.compress(text), "mark": b"\xef\xbb\xbf" + text}[form]
    table = open_document(tmp_path, data, "v1.gz.metadata.json" if form == "gzip" else "v1.metadata.json")
    assert table.metadata == document and table.snapshots[3].raw == document["snapshots"][3]


def test_opening_takes_little_more_memory_than_the_document() -> None:
    data = json.dumps(make_document(4000)).encode()
    assert len(data) > 2_500_000
    tracemalloc.start()
    try:
        document = decode_document(data, "v1.metadata.json")
        _, peak = tracemalloc.get_traced_memory()
        eager = json.loads(data)
        _, peak_eager = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(document.snapshots) == len(eager["snapshots"]) == 4000
    assert peak < len(data)  # over its text, which is not copied
    assert peak < peak_eager / 2


def test_a_keeper_makes_an_item_once_and_lets_go_of_old_ones() -> None:
    class Item:
        def __init__(self, position: int) -> None:
            self.position = position

    met: list[int] = []

    def make(position: int) -> Item:
        met.append(position)
        return Item(position)

    items = Items(range(100), WeakLruCache(make, most=3))
    held = items[0]
    assert [one.position for one in items] == list(range(100)) and met == list(range(100))
    assert items[0] is held and met == list(range(100))  # somebody held it
    assert (
        [one.position for one in items[97:]] == met[100:] == [97, 98, 99]
    )  # each was let go for the one before it
    assert items[98] is items[-2] and len(met) == 103


def test_a_tree_names_snapshots_in_order_and_decodes_each_list_once(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    lines: list[dict[str, Any]] = []
    for number in range(8):
        lines.append(builder.manifest([builder.data_file(f"data/{number}.parquet")]))
        builder.snapshot(lines)
    builder.write_metadata()
    table = open_table(tmp_path)
    ids = [f"snapshot {snapshot.id}" for snapshot in table.snapshots]
    listed = {file.relative_path: file for file in table.list_files()}
    assert [listed[f"data/{n}.parquet"].referenced_by for n in range(8)] == [tuple(ids[n:]) for n in range(8)]
    tree = {file.relative_path: file for file in table.tree()}
    assert tree["data/0.parquet"].referenced_by == (*ids[:5], "… 4 more")  # three snapshots, and the manifest
    assert tree["data/6.parquet"].referenced_by[:2] == tuple(ids[6:]) and len(ids[6:]) == 2
    assert tree["data/6.parquet"].referenced_by[2].endswith("-m0.avro (ADDED)")
    before = table.reads.bytes
    assert {file.relative_path: file for file in table.tree()} == tree
    assert table.reads.bytes == before  # nothing is read again, only listed


def test_data_files_are_not_decoded_to_find_dangling_deletes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A data file has no target: its columns say that it is one, and its record stays where it is."""
    decoded: list[str] = []
    read = DataFile.read_record

    def note(file: DataFile) -> bool:
        is_read = read(file)
        if is_read:
            decoded.append(file.content)
        return is_read

    monkeypatch.setattr(DataFile, "read_record", note)
    table = ll.open(grow_iceberg(tmp_path / "t", files=4_000, manifests=2, lake="v2-merge-on-read"))
    assert table.health().to_text(1)
    assert table.files.rows is not None, "the files are rows of columns"
    assert decoded and "data" not in decoded
