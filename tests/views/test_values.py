"""Every public value of a table, a snapshot, a manifest, a file and a diff has a view, and every hint in it works."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from pyroaring import BitMap64, FrozenBitMap64

import lakelens as ll
from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.display import Displayable
from lakelens.errors import LakeError, Missing
from lakelens.model.collections import Preview
from lakelens.model.datafile import IndexFile
from lakelens.model.life.positions import Positions
from lakelens.model.schema import PartitionSpec, Schema
from lakelens.model.storage import Relocation
from lakelens.options import display
from lakelens.views.card.model import Card, Grid, Note
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.support import LAKES

PLAIN = (str, int, float, bool, bytes, datetime, type(None))
#: what is machinery of a format, or an attribute of the specification in its raw form, not a value for a reader
KNOWN = {
    "table": {
        "driver",
        "procedures",
        "separate_branches",
        "storage",
        "traits",
        "vocabulary",
    }
    | {
        "context",
        "consumers",
        "tags",
    },
    "schema": {"columns", "key_columns", "options"},
    "snapshot": {
        "answers",
        "context",
        "delete_index",
        "delete_reader",
        "deletion_vectors",
        "figures",
        "known_figures",
        "late",
        "counted",
        "newly_deleted",
        "vocabulary",
    }
    | {"document", "log_offsets", "properties"},
    "manifest": {"partitions", "stored_header", "vocabulary", "context", "late", "answers"},
    "file": {
        "lower_bounds",
        "upper_bounds",
        "split_offsets",
        "vocabulary",
        "context",
        "copy_identity",
        "late",
        "identity",
        "facts",
        "row_groups",
        "columns",
    },
    "diff": {"kept_by_content", "kept_counts", "raised"},
}


def list_nouns(table: Any) -> Iterator[tuple[str, Any]]:
    snapshot = table.current
    yield from (
        ("table", table),
        ("schema", table.schema),
        ("snapshot", snapshot),
        ("file", snapshot.files[0]),
    )
    yield from (("manifest", manifest) for manifest in snapshot.manifests[:1])
    yield "diff", snapshot.changes


def list_values(thing: Any) -> Iterator[tuple[str, Any]]:
    names = (name for name in dir(type(thing)) if not name.startswith("_"))
    for name in (name for name in names if name != "reopening"):  # for pickle, not for a reader
        try:
            held = getattr(thing, name)
        except (LakeError, AttributeError):
            continue
        if isinstance(held, Displayable) or not callable(held):
            yield name, held


@pytest.mark.parametrize("sample", ["iceberg", "iceberg-branches", "paimon", "hive"])
def test_every_value_has_a_view(sample: str) -> None:
    with display.using(strict_views=True):
        for noun, thing in list_nouns(ll.sample(sample)):
            for name, held in list_values(thing):
                if isinstance(held, PLAIN) or name in KNOWN[noun]:
                    continue
                if isinstance(held, tuple | frozenset) and all(isinstance(one, PLAIN) for one in held):
                    continue
                assert isinstance(held, Displayable), (noun, name, type(held))
                assert "ll-root" in render_card(held), (noun, name)
                assert len(repr(held)) < 2_000 and " at 0x" not in repr(held), (noun, name)
                if not hasattr(held, "status"):
                    assert render_text(held, 2), (noun, name)


def test_the_parts_of_a_diff_are_tables_and_cards() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-partition-evolution/table")
    diff = table.diff(table.snapshots[0], table.current)
    assert render_text(diff.manifests).startswith("Manifests: ")
    assert "NEW" in render_text(diff.manifests) and isinstance(
        diff.manifests.new[:1], type(diff.manifests.new)
    )
    assert len(diff.by_partition.to_arrow()) == len(diff.by_partition) > 1
    assert diff.partitioning.to_arrow().column_names[:2] == ["kind", "name"]
    assert present(diff.partitioning).sentence == "3 fields changed" and "ts_hour" in render_text(
        diff.partitioning
    )
    assert diff.summary == dict(diff.summary) and "added_files" in render_text(diff.summary)
    first = diff.partitioning[0]
    assert str(first).startswith(first.name) and first.words in render_text(first)
    merged = ll.open(LAKES / "spark/iceberg/v3-merge-on-read/table")
    deletes = next(one.changes.deletes for one in merged.snapshots if len(one.changes.deletes.added))
    assert "added" in present(deletes).sentence and "vector" in render_card(deletes)


def test_a_field_a_partition_and_a_key_have_cards() -> None:
    table = ll.open(LAKES / "spark/iceberg/v1-types/table")
    nested = next(field for field in table.schema.fields if field.type.is_nested)
    card = render_text(nested)
    assert all(f"{nested.name}.{child.name}" in card for child in nested.type.children)
    assert repr(table.schema.fields[0]).startswith("<Field 1 ")
    paimon = ll.open(LAKES / "spark/paimon/pk-partitioned/table")
    file = paimon.files[0]
    assert present(file.partition).sentence == str(file.partition)
    assert "in a path" in render_text(file.partition)
    key = file.min_key
    assert key is not None and f"{key.values[0]}" in render_text(key) and str(key) == repr(key)
    assert "kind +I" in present(key).sentence


def test_the_columns_of_a_schema_are_a_tuple_with_a_card() -> None:
    schema = ll.sample("iceberg-evolution").schema
    plain = tuple(schema.fields)
    assert schema.fields == plain == schema.fields and hash(schema.fields) == hash(plain)
    assert (
        schema.fields[:2] == plain[:2]
        and schema.fields["id"] is schema["id"]
        and "nothing" not in schema.fields
    )
    assert pickle.loads(pickle.dumps(schema)).fields == plain == replace(schema, id=9).fields
    card = render_text(schema.fields)
    assert card.startswith(f"Columns: {len(plain)} columns")
    assert all(field.name in card and str(field.type) in card for field in plain)
    assert schema.fields.to_arrow()["id"].to_pylist() == [field.id for field in plain]
    assert "idd" not in schema.fields
    with pytest.raises(LakeError, match="did you mean id"):
        schema.fields["idd"]


@pytest.mark.parametrize("name", ["v1-types", "v2-schema-evolution"])
def test_counts_by_field_id_name_their_columns(name: str) -> None:
    """A dict as it is stored, in which each column has the name and the figure that `bounds` has."""
    table = ll.open(LAKES / f"spark/iceberg/{name}/table")
    figures = {
        "column_sizes": "size",
        "value_counts": "values",
        "null_value_counts": "nulls",
        "nan_value_counts": "nans",
    }
    for file in table.files:
        for attribute, figure in figures.items():
            counts, stored = getattr(file, attribute), file.raw[attribute]
            if stored is None:
                assert counts is None
                continue
            assert counts == stored and counts is getattr(file, attribute)
            assert pickle.loads(pickle.dumps(counts)).to_arrow() == counts.to_arrow()
            rows = counts.to_arrow().to_pylist()
            known = {
                one.name: (one.field_id, str(one.type), getattr(one, figure)) for one in file.bounds.values()
            }
            assert {row["name"]: (row["field_id"], row["type"], row["value"]) for row in rows} == {
                name: facts for name, facts in known.items() if facts[2] is not None
            }
            assert all(f"{row['name']} {row['value']}" in repr(counts) for row in rows[:8])
            if rows:
                assert all(row["name"] in render_text(counts) for row in rows[:20])


def test_deleted_positions_are_a_bitmap_with_a_card() -> None:
    file = next(one for one in ll.sample("iceberg").files if one.content == "data" and one.deletes)
    deleted, rows = file.deleted_positions, [1, 2, 3, 4]
    assert isinstance(deleted, FrozenBitMap64) and deleted == FrozenBitMap64(rows) and list(deleted) == rows
    assert (
        FrozenBitMap64([4, 9]) & deleted == FrozenBitMap64([4]) and 4 in deleted and hash(deleted) is not None
    )
    assert BitMap64([9]) | deleted == BitMap64([*rows, 9]) and len(deleted | FrozenBitMap64([9])) == 5
    assert pickle.loads(pickle.dumps(deleted)) == deleted and deleted.to_arrow()["pos"].to_pylist() == rows
    assert repr(deleted) == "<Positions: 4 rows in 1 range, 1 to 4>" and deleted.containers()["run"] == 1
    assert "counted from 0: 1, 2, 3, 4" in str(deleted) and isinstance(
        file.deletes[0].positions, FrozenBitMap64
    )


@pytest.mark.parametrize("seed", range(20))
def test_ranges_of_positions(seed: int) -> None:
    drawn = random.Random(seed)
    start = drawn.choice([0, 2**16 - 9, 2**32 - 9])
    rows = sorted({start + drawn.randrange(40) for _ in range(seed * 2)})
    expected: list[tuple[int, int]] = []
    for row in rows:
        is_next = bool(expected) and expected[-1][1] == row - 1
        expected[-1:] = [(expected[-1][0], row)] if is_next else [*expected[-1:], (row, row)]
    positions = Positions(rows)
    assert list(positions.ranges()) == expected and positions.count_ranges() == len(expected)
    with display.using(strict_views=True, max_rows=2):
        card = render_text(positions)
    assert f"{len(rows)} row" in card if rows else "no rows" in card


def test_a_preview_has_types_and_marks_what_is_deleted() -> None:
    table = ll.sample("iceberg")
    file = next(one for one in table.files if one.content == "data" and one.deletes)
    preview = file.preview(3)
    assert preview == preview.to_arrow() and preview.column("id").to_pylist() == [0, 2, 4]
    assert preview.deleted_positions == (1, 2)
    lines = str(preview).splitlines()
    assert lines[0] == "Preview: 3 rows, 3 columns; 2 of them deleted"
    assert lines[2].split() == ["int32", "string", "int32"]
    assert [line.split()[1] == "deleted" for line in lines[3:]] == [False, True, True]
    assert [str(field.type) for field in preview.schema] == ["int32", "string", "int32"]
    untouched = next(one for one in table.files if one.content == "data" and not one.deletes).preview()
    assert (
        untouched.deleted_positions == () and "deleted" not in str(untouched) and "pos" not in str(untouched)
    )
    kept = pickle.loads(pickle.dumps(preview))
    assert kept == preview and kept.deleted_positions is None and "file.deleted_positions" in str(kept)


def test_a_preview_reads_no_file_for_deletes_by_value() -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-equality-deletes/table")
    file = next(one for one in table.files if any(match.kind == "equality_deletes" for match in one.deletes))
    preview = file.preview()
    before = table.reads.files
    assert preview.deleted_positions is None and table.reads.files == before
    assert "file.deleted_positions" in str(preview)
    known = [row for row in file.deleted_positions if row < len(preview)]
    assert known and list(file.preview().deleted_positions or ()) == known


def test_a_preview_is_shown_where_its_deletes_are_damaged() -> None:
    def fail() -> None:
        raise Missing("no such file", path="/t/deletes.parquet")

    text = render_text(Preview(pa.table({"id": [7]}), fail))
    assert "which rows are deleted cannot be read: /t/deletes.parquet: no such file" in text
    assert text.splitlines()[3].split() == ["7"]


def test_a_decoded_row_has_a_card_and_its_bytes() -> None:
    data = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    row = ll.decode_binary_row(data, [("id", "INT NOT NULL"), ("name", "STRING")])
    assert (row["id"], row[1], row.to_dict()) == (1, "a", {"id": 1, "name": "a"})
    assert (
        row == decode_binary_row(data, [("id", "INT NOT NULL"), ("name", "STRING")])
        and repr(row) == "{id: 1, name: 'a'}"
    )
    card = render_text(row)
    assert "INT NOT NULL  1      01 00 00 00 00 00 00 00" in card and "61 00 00 00 00 00 00 81" in card
    assert row.to_arrow()["value"].to_pylist() == ["1", "a"]
    assert bytes(row.bytes_view().data) == data and "inline" in str(row.bytes_view())
    assert pickle.loads(pickle.dumps(row)) == row
    key = ll.sample("paimon").files[0].min_key
    assert key.to_arrow()["slot"].to_pylist() == [key.data[-8:]] and "INT NOT NULL" in key.to_text()


def test_bounds_are_a_table() -> None:
    bounds = ll.sample("iceberg").files[0].bounds
    assert bounds.to_arrow()["name"].to_pylist() == list(bounds)
    assert list(bounds.to_pandas()["nulls"]) == [column.nulls for column in bounds.values()]


def test_odd_words_are_gone() -> None:
    assert repr(Schema(None, ())) == "<Schema: no columns>"
    assert repr(PartitionSpec(None)) == "<PartitionSpec: unpartitioned>"
    assert repr(Relocation(None, "/t")) == "<Relocation no recorded location to /t>"
    paimon = ll.sample("paimon")
    reasons = " ".join(paimon.evidence.reasons)
    assert "holds 1 snapshots" not in reasons
    assert "None" not in repr(paimon.current.manifests[0])


def test_one_snapshot_is_one(tmp_path: Any) -> None:
    import shutil

    shutil.copytree(LAKES / "spark/paimon/append/table", tmp_path / "t")
    for path in (tmp_path / "t/snapshot").glob("snapshot-*"):
        if path.name != "snapshot-1":
            path.unlink()
    assert "snapshot/ holds snapshot-1" in ll.open(tmp_path / "t").evidence.reasons


def test_a_missing_manifest_list_offers_no_header(tmp_path: Any) -> None:
    import shutil

    shutil.copytree(LAKES / "spark/iceberg/v2-basic/table", tmp_path / "t")
    table = ll.open(tmp_path / "t")
    found = table.current.manifest_lists[0]
    assert "Header" in render_text(found)
    gone = ll.open(tmp_path / "t").current.manifest_lists[0]
    (tmp_path / "t/metadata" / gone.path.rsplit("/", 1)[-1]).unlink()
    card = present(gone)
    assert [fold.label for fold in card.folds] == ["Manifests"]
    assert "cannot be read" in render_text(gone)


def list_hints(card: Card) -> Iterator[str]:
    for body in (*card.body, *(body for fold in card.folds for body in fold.body())):
        if isinstance(body, Grid) and body.more and body.how:
            yield body.how
        elif isinstance(body, Note) and body.code and body.text.startswith("…"):
            yield body.code


def list_shown(table: Any) -> Iterator[Any]:
    snapshot, file = table.current, table.files[0]
    yield from (
        table,
        table.schema,
        table.refs,
        table.snapshots,
        table.findings,
        snapshot,
        snapshot.changes,
        table.files,
    )
    yield from (snapshot.manifests, *snapshot.manifest_lists[:1], *snapshot.manifests[:1], file, file.bounds)
    yield from (
        snapshot.changes.manifests,
        snapshot.changes.by_partition,
        snapshot.changes.metadata,
        table.properties,
    )
    yield from (
        one for one in (*snapshot.index_files[:1], table.metadata_log, table.schemas) if one is not None
    )


@pytest.mark.parametrize("sample", ["iceberg", "iceberg-branches", "paimon", "hive"])
def test_every_hint_works_and_none_leads_to_itself(sample: str) -> None:
    table = ll.sample(sample)
    tried = 0
    with display.using(max_rows=1, strict_views=True):
        for thing in list_shown(table):
            for how in list_hints(present(thing, 2)):
                for call in re.split(r", (?=\.)", how.split(", diff.")[0]):
                    found = try_hint(call, thing, table)
                    assert found is not thing, (thing, how)
                    tried += 1
    assert tried > 5


def try_hint(call: str, thing: Any, table: Any) -> Any:
    """What typing a hint gives; one without a name before it is asked of the thing, or of a part that it shows."""
    names = {
        "table": table,
        "diff": thing,
        "schema": thing,
        "spec": thing,
        "change": thing,
        "snapshot": thing,
    }
    if not call.startswith("."):
        return eval(call, {}, names)  # noqa: S307 - our own hints
    for part in (
        thing,
        getattr(thing, "manifests", None),
        getattr(thing, "footer", None),
        getattr(thing, "changes", None),
    ):
        try:
            return eval(f"part{call}", {}, {"part": part})  # noqa: S307
        except (AttributeError, KeyError, TypeError):
            continue
    raise AssertionError(f"{call!r} of {type(thing).__name__} leads nowhere")


def test_index_files_of_a_diff_have_a_card() -> None:
    from lakelens.model.comparison import IndexChanges

    found = IndexFile("HASH", "/t/index/index-1", "index-1", 20, 2)
    assert "1 added, 0 removed" in render_text(IndexChanges((found,), ()))
    assert repr(IndexChanges((found,), ())) == "<IndexChanges +1 -0 index files>"
