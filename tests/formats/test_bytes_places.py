"""Where bytes lie and what their views say of it: rows, vectors, footers, places of the metadata document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing
from lakelens.model.bytes_view import BytesView
from tests.support import LAKES
from tests.support.explained_objects import assert_stored, list_objects
from tests.support.iceberg_builder import Builder
from tests.support.span_checks import assert_tiles, find_error


def open_any(path: Path) -> Any:
    return ll.open(path)


def open_lake(case: str) -> Any:
    return ll.open(LAKES / case / "table")


def test_what_has_no_bytes_says_so() -> None:
    hive = open_lake("spark/hive/parquet")
    for thing in (hive, hive.current, hive.schema):
        with pytest.raises(LakeError, match="no bytes belong to"):
            thing.bytes_view()
    with pytest.raises(LakeError, match="data file"):
        hive.bytes_view()
    paimon = open_lake("spark/paimon/branches")
    with pytest.raises(LakeError, match="a branch is a folder"):
        paimon.refs["main"].bytes_view()
    file = paimon.files[0]
    with pytest.raises(LakeError, match="no file index"):
        file.file_index_view()
    added = open_lake("spark/paimon/schema-evolution-added")
    columns = [column for one in added.files for column in one.bounds.values() if column.lower is None]
    refused = [column for column in columns if column.nulls == column.values]
    assert refused
    for column in refused:
        try:
            assert isinstance(column.bytes_view(), BytesView)
        except LakeError as error:
            assert "added after the file was written" in str(error)


def test_the_bounds_of_a_wide_row_are_shown_from_their_slot_on() -> None:
    column = open_lake("spark/paimon/pk-types").files[0].bounds["ts"]
    explanation = column.bytes_view()
    assert explanation.looked_at is not None
    stats = open_lake("spark/paimon/pk-types").files[0].value_stats
    leaf = explanation.find(explanation.looked_at)
    assert leaf.number == stats.names.index("ts")


def test_a_row_is_introduced_by_where_it_lies() -> None:
    """The lines above the bytes of the mock-up."""
    table = open_lake("spark/paimon/pk-partitioned")
    manifest = table.current.manifests[-1]
    entry = manifest.entries[0]
    view = entry.file.value_stats.min_values.bytes_view()
    names = len(table.schema)
    assert view.what == "BinaryRow"
    assert view.summary.startswith(f"{names} fields, {len(view.data)} bytes, kind +I")
    assert view.place == f"_FILE._VALUE_STATS._MIN_VALUES of {entry.file.file_name}"
    where = f"entry 0 of {manifest.file_name}, bucket {entry.file.bucket} of {entry.file.partition}"
    assert view.details == where


def test_rows_of_uncompressed_manifests_have_a_place_in_the_file() -> None:
    table = open_lake("paimon-java/2.0.0-manifest-avro-null")
    file = table.files[0]
    rows = (file.value_stats.min_values, file.value_stats.max_values, file.min_key, file.partition)
    for row in rows:
        view = row.bytes_view()
        assert view.base is not None
        assert_stored(view)
        assert bytes(view.data) == row.stored


def test_vectors_are_found_by_the_name_of_their_data_file() -> None:
    table = open_lake("spark/paimon/append-deletion-vectors")
    index = next(one for one in table.current.index_files if one.ranges)
    with pytest.raises(Missing, match="no deletion vector of other"):
        index.vector_view("other")
    hashed = open_lake("spark/paimon/pk-dynamic-bucket").current.index_files[0]
    with pytest.raises(LakeError, match="no deletion vector"):
        hashed.vector_view("other")


@pytest.mark.parametrize(
    "case",
    [
        "spark/paimon/append-deletion-vectors",
        "spark/paimon/pk-deletion-vectors",
        "paimon-java/2.0.0-pk-deletion-vectors-bitmap64",
        "spark/iceberg/v3-merge-on-read",
    ],
)
def test_the_vector_that_reaches_a_file_is_shown(case: str) -> None:
    matches = [match for file in open_lake(case).files for match in getattr(file, "deletes", ())]
    assert matches
    for match in matches:
        explanation = match.bytes_view()
        assert explanation.what == "Deletion vector"
        assert list(explanation.value) == list(match.positions)
        assert explanation.start == match.offset
        assert_stored(explanation)


def read_orc_length(data: bytes) -> int:
    """The footer's length, field 1 of the postscript: a varint behind its tag."""
    postscript = data[-1 - data[-1] : -1]
    assert postscript[0] == 0x08
    length, shift = 0, 0
    for byte in postscript[1:]:
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return length


FOOTERS = (
    ("spark/paimon/types-parquet", lambda data: len(data) - 8 - int.from_bytes(data[-8:-4], "little"), -8),
    ("spark/paimon/types-avro", lambda data: 4, None),
    ("spark/hive/orc", lambda data: len(data) - 1 - data[-1] - read_orc_length(data), None),
    (
        "spark/iceberg/v3-merge-on-read",
        lambda data: len(data) - 16 - int.from_bytes(data[-12:-8], "little"),
        0,
    ),
)


@pytest.mark.parametrize(("case", "find_start", "end"), FOOTERS, ids=[case for case, _, _ in FOOTERS])
def test_a_footer_is_shown_in_its_file(
    case: str, find_start: Callable[[bytes], int], end: int | None
) -> None:
    footer = list(open_lake(case).files)[-1].footer
    explanation = footer.bytes_view()
    data = Path(footer.path).read_bytes()
    assert explanation.start == find_start(data)
    if end is not None:
        assert explanation.end == len(data) + end
    assert footer.facts.format in explanation.what.lower()


def build_bounds(lower: bytes | None, upper: bytes | None) -> dict[str, Any]:
    """The maps of bounds of column 2 of a built table."""
    stored = {"lower_bounds": lower, "upper_bounds": upper}
    return {name: [{"key": 2, "value": data}] for name, data in stored.items() if data is not None}


def test_entries_of_uncompressed_iceberg_manifests_lie_in_the_file(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    files = [builder.data_file(**build_bounds(b"Anna", b"Zoe")) for _ in range(3)]
    builder.snapshot([builder.manifest(files, codec="null")])
    builder.write_metadata()
    manifest = open_any(tmp_path).current.manifests[0]
    for position, entry in enumerate(manifest.entries):
        explanation = entry.bytes_view()
        assert explanation.base == 0
        assert_stored(explanation)
        assert explanation.value == entry.raw
        assert f"entry {position} of" in explanation.details
        labels = {leaf.label for leaf in explanation.leaves()}
        assert {"union branch", "record_count"} <= labels
        bounds = entry.file.bounds["name"].bytes_view()
        assert bounds.value == {"lower_bounds": "Anna", "upper_bounds": "Zoe"}
        assert bytes(bounds.data) == b"AnnaZoe"
    assert [entry.bytes_view().start for entry in manifest.entries] == sorted(
        {entry.bytes_view().start for entry in manifest.entries}
    )


def test_one_bound_is_shown_alone(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.snapshot([builder.manifest([builder.data_file(**build_bounds(b"Anna", None))])])
    builder.write_metadata()
    column = open_any(tmp_path).files[0].bounds["name"]
    assert column.bytes_view().value == {"lower_bounds": "Anna"}
    builder.snapshot([builder.manifest([builder.data_file(value_counts=[{"key": 2, "value": 7}])])])
    builder.write_metadata()
    with pytest.raises(LakeError, match="no bounds of column name are stored"):
        open_any(tmp_path).files[0].bounds["name"].bytes_view()


@pytest.mark.parametrize("name", ["v1.metadata.json", "v1.gz.metadata.json", "v1.metadata.json.zst"])
def test_places_of_a_document_are_those_of_its_text(name: str, tmp_path: Path) -> None:
    builder = Builder(tmp_path, 1)
    lines = [builder.manifest([builder.data_file()])]
    builder.snapshot([], manifest_list=None, manifests=[line["manifest_path"] for line in lines])
    builder.write_metadata(name)
    table = open_any(tmp_path / "metadata" / name)
    things = [
        (table.current, table.current.raw),
        (table.schema, table.schema.raw),
        (table.partitioning, builder.specs[0]),
        (table.refs["main"], table.current.id),
        (table.current.manifest_lists[0], [line["manifest_path"] for line in lines]),
    ]
    for thing, value in things:
        explanation = thing.bytes_view()
        assert explanation.value == value
        assert explanation.place.startswith("$.")
        assert (explanation.base is None) == (name != "v1.metadata.json")
        assert_stored(explanation)


def test_encrypted_manifests_are_told_as_such(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    root = builder.one_snapshot()
    table = open_any(root)
    manifest = table.current.manifests[0]
    Path(manifest.path).write_bytes(b"AGS1" + bytes(100))
    explanation = manifest.bytes_view()
    assert_tiles(explanation, 0, 104)
    assert "encrypted" in explanation.note


def test_objects_of_a_branch_show_their_bytes() -> None:
    table = open_lake("spark/paimon/branches")
    names = [ref.name for ref in table.refs.branches if ref.name != "main"]
    assert names
    for name in names:
        for one in list_objects(table.branch(name)):
            explanation = one.explain()
            assert_tiles(explanation, explanation.start, explanation.end)
            assert find_error(explanation) is None, one
            assert_stored(explanation)
