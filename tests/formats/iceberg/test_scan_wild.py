"""Tables as no engine writes them, and damaged ones: both paths show the same rows and find the same faults."""

from __future__ import annotations

import json
import math
import pickle
import shutil
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.formats.iceberg.discovery.locations import make_locator
from lakelens.formats.iceberg.scan import plan as scan_plan
from lakelens.formats.iceberg.scan.batch import locate_all
from lakelens.formats.iceberg.scan.plan import IcebergScan
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from lakelens.io.relocation import Locator
from lakelens.opening import open_table
from tests.formats.iceberg.test_damage import damages
from tests.support import LAKES
from tests.support.iceberg_builder import SCHEMA, Builder, avro_field
from tests.support.scans import assert_same_files, build_recorded, read_columnar, stream_columnar

WHOLE = ("total-", "dangling-")  # findings of a whole snapshot, which a scan does not look for
ID = 1


def open_snapshot(root: Path) -> IcebergSnapshot:
    snapshot = open_table(root).snapshots[-1]
    assert isinstance(snapshot, IcebergSnapshot)
    return snapshot


def word_findings(snapshot: IcebergSnapshot) -> set[tuple[Any, ...]]:
    return {
        (f.severity, f.code, f.path, f.message, f.snapshots)
        for f in snapshot._context.findings
        if not f.code.startswith(WHOLE)
    }


def compare(root: Path, **request: Any) -> pa.Table:
    """The table by column, once both paths have given the same of it and found the same."""
    by_column, recorded = open_snapshot(root), open_snapshot(root)
    scan = by_column.scan_files()
    scan.fast = True
    columnar = read_columnar(scan, **request)
    if columnar is None:  # a file that stands twice: only the record path merges
        paths = [
            file.identity for manifest in recorded.manifests for file in (e.file for e in manifest.walk()[0])
        ]
        assert len(set(paths)) < len(paths)
        columnar = by_column.files.to_arrow(**request)
    assert_same_files(columnar, build_recorded(recorded, **request))
    found, expected = word_findings(by_column), word_findings(recorded)
    assert found <= expected if request else found == expected  # bounds that nobody asked for are not decoded
    return columnar


def pairs(values: dict[int, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in values.items()]


@pytest.fixture
def fallbacks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Task and entry from which on manifests were read record by record."""
    seen: list[tuple[int, int]] = []
    read = IcebergScan.records

    def note(scan: IcebergScan, task: Any, start: int, *others: Any) -> Any:
        seen.append((task.position, start))
        return read(scan, task, start, *others)

    monkeypatch.setattr(IcebergScan, "records", note)
    return seen


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("case", ["v1-types", "v2-merge-on-read", "v3-merge-on-read"])
def test_damaged_manifests_show_what_the_record_path_shows(case: str, tmp_path: Path) -> None:
    source = LAKES / "spark" / "iceberg" / case / "table"
    for seed, manifest in enumerate(open_snapshot(source).manifests):
        for number, broken in enumerate(damages(Path(manifest.path).read_bytes(), seed)):
            copy = shutil.copytree(source, tmp_path / f"{seed}-{number}" / "table")
            (copy / "metadata" / Path(manifest.path).name).write_bytes(broken)
            compare(copy)
            shutil.rmtree(copy)


def test_manifests_keep_their_places_around_one_that_cannot_be_read(
    tmp_path: Path, fallbacks: list[tuple[int, int]]
) -> None:
    builder = Builder(tmp_path / "t")
    lines = [builder.manifest([builder.data_file() for _ in range(3)]) for _ in range(4)]
    builder.snapshot(lines)
    builder.write_metadata()
    names = [Path(line["manifest_path"]).name for line in lines]
    odd = (builder.root / "metadata" / names[1]).read_bytes()
    (builder.root / "metadata" / names[1]).write_bytes(odd[:-20])
    (builder.root / "metadata" / names[2]).write_bytes(b"")
    table = compare(builder.root)
    assert len(table) == 6 and fallbacks == [(1, 0)]


def test_inherited_values_and_counted_row_ids(tmp_path: Path, fallbacks: list[tuple[int, int]]) -> None:
    builder = Builder(tmp_path / "t", version=3)
    files = [builder.data_file(records=n + 1, first_row_id=90 if n == 1 else None) for n in range(4)]
    entries: list[dict[str, Any]] = [
        {"status": 1, "snapshot_id": None},
        {"status": 0, "snapshot_id": 5, "sequence_number": 7, "file_sequence_number": 6},
        {"status": 2, "snapshot_id": 6, "sequence_number": 7},
        {"status": 0, "snapshot_id": 5},
    ]
    first = builder.manifest(files, entries=entries, line={"first_row_id": 100})
    second = builder.manifest([builder.data_file(), builder.data_file()], line={"first_row_id": 500})
    old = builder.manifest([builder.data_file()], version=1)
    builder.snapshot([first, second, first, old])
    builder.write_metadata()
    table = compare(builder.root)
    ids = table["first_row_id"].to_pylist()
    assert ids == [100, 90, 101, 500, 501, None] and not fallbacks


def test_refused_entries_end_their_manifest(tmp_path: Path, fallbacks: list[tuple[int, int]]) -> None:
    builder = Builder(tmp_path / "t")
    statuses: list[dict[str, Any]] = [{"status": status, "snapshot_id": None} for status in (1, 1, 9, 1)]
    odd = builder.manifest([builder.data_file() for _ in statuses], entries=statuses)
    builder.snapshot([builder.manifest([builder.data_file()]), odd, builder.manifest([builder.data_file()])])
    builder.write_metadata()
    assert len(compare(builder.root)) == 4 and fallbacks == [(1, 0)]


def test_bounds_under_no_name_twice_and_of_wrong_lengths(
    tmp_path: Path, fallbacks: list[tuple[int, int]]
) -> None:
    builder = Builder(tmp_path / "t")
    files = [
        builder.data_file(
            lower_bounds=pairs({ID: struct.pack("<q", 3), 77: b"x"}), value_counts=pairs({ID: 4})
        ),
        builder.data_file(lower_bounds=[*pairs({ID: b"short"}), *pairs({ID: struct.pack("<i", 8)})]),
        builder.data_file(lower_bounds=pairs({ID: b"abc"}), upper_bounds=pairs({2: b"\xff\xfe"})),
        builder.data_file(column_sizes=pairs({2147483546: 9, -5: 1}), null_value_counts=[]),
    ]
    builder.snapshot([builder.manifest(files)])
    builder.write_metadata()
    table = compare(builder.root)
    assert [row["id"] for row in table["lower_bounds"].to_pylist()] == [3, 8, None, None]
    assert {"#77", "#-5", "file_path"} <= {field.name for field in table["lower_bounds"].type}
    assert not fallbacks
    compare(builder.root, columns=["upper_bounds"])
    compare(builder.root, columns=["nan_counts", "path"])


def test_formats_and_contents_are_told_as_by_record(tmp_path: Path, fallbacks: list[tuple[int, int]]) -> None:
    builder = Builder(tmp_path / "t", version=3)
    files = [
        builder.data_file("data/a.ORC", file_format=""),
        builder.data_file(content=1, lower_bounds=pairs({2147483546: b"file:/was/here/t/data/a.ORC"}),
                          upper_bounds=pairs({2147483546: b"file:/was/here/t/data/a.ORC"})),
        builder.data_file(content=1, file_format="PUFFIN"),
        builder.data_file(content=1, content_offset=4, referenced_data_file="file:/was/here/t/data/a.ORC"),
        builder.data_file(content=2, equality_ids=[1, 2]),
        builder.data_file(content=7, split_offsets=[4]),
    ]  # fmt: skip
    builder.snapshot([builder.manifest(files, line={"content": 1}, header={"content": "data"})])
    builder.write_metadata()
    table = compare(builder.root)
    assert table["content"].to_pylist()[1:] == [
        *("position_deletes", "deletion_vector", "deletion_vector", "equality_deletes", "data")
    ]
    assert table["referenced_data_path"].to_pylist()[1] == f"{builder.root}/data/a.ORC"
    assert table["file_format"].to_pylist()[0] == "orc" and not fallbacks


def test_partitions_of_several_specs_and_odd_floats(tmp_path: Path, fallbacks: list[tuple[int, int]]) -> None:
    fields = [*SCHEMA["fields"], {"id": 3, "name": "x", "required": False, "type": "double"}]  # type: ignore[misc]
    one = {"name": "x", "transform": "identity", "source-id": 3, "field-id": 1000}
    two = {"name": "n t", "transform": "bucket[4]", "source-id": 2, "field-id": 1001}
    void = {"name": "x", "transform": "void", "source-id": 3, "field-id": 1000}
    specs = [{"spec-id": n, "fields": f} for n, f in enumerate([[one], [void], [one, two], []])]
    builder = Builder(tmp_path / "t", specs=specs)
    x, bucket = avro_field("x", 1000, "double"), avro_field("n_t", 1001, "int")
    values = [0.0, -0.0, math.nan, math.inf, None, 1.5, 0.0]
    lines = [
        builder.manifest([builder.data_file(partition={"x": v}) for v in values], partition=[x]),
        builder.manifest(
            [builder.data_file(partition={"x": None})], partition=[x], line={"partition_spec_id": 1}
        ),
        builder.manifest(
            [builder.data_file(partition={"x": v, "n_t": n}) for n, v in enumerate(values)],
            partition=[x, bucket],
            line={"partition_spec_id": 2},
        ),
        builder.manifest([builder.data_file()], line={"partition_spec_id": 3}),
    ]
    builder.snapshot(lines)
    builder.write_metadata(schemas=[{**SCHEMA, "fields": fields}])
    table = compare(builder.root)
    assert table["partition"].to_pylist()[:3] == ["x=0.0", "x=-0.0", "x=NaN"] and not fallbacks
    assert table["partition"].to_pylist()[8] == "x=0.0/n+t=0"


def test_a_spec_that_nobody_knows_goes_by_the_record_path(
    tmp_path: Path, fallbacks: list[tuple[int, int]]
) -> None:
    builder = Builder(tmp_path / "t")
    unknown = builder.manifest([builder.data_file()], line={"partition_spec_id": 9}, header={})
    builder.snapshot([unknown, builder.manifest([builder.data_file()])])
    builder.write_metadata()
    compare(builder.root)
    assert fallbacks == [(0, 0)]


NAMES = st.sampled_from(["was", "t", "data", "metadata", "a b", "x", "", "now"])
SCHEMES = st.sampled_from(["", "/", "file:/", "file:///", "file://h/", "s3://", "s3a://b/", "//", "file:"])


@given(
    st.lists(st.one_of(st.none(), st.tuples(SCHEMES, st.lists(NAMES, max_size=5))), max_size=6),
    st.sampled_from([[], ["file:/was/t"], ["file:/was/t", "/x/data"], ["s3://b/t"]]),
)
def test_locations_by_directory_are_those_one_by_one(places: list[Any], roots: list[str]) -> None:
    recorded = [None if place is None else place[0] + "/".join(place[1]) for place in places]
    many, single = (Locator("/now/t", roots, folders=("metadata", "data")) for _ in range(2))
    expected = [None if one is None else single.locate(one) for one in recorded]
    assert locate_all(many, pa.array(recorded, pa.string())).to_pylist() == expected
    assert sorted(many.mapping) == sorted(single.mapping)
    assert sorted(many.unmapped) == sorted(single.unmapped)


def test_manifests_too_large_for_one_group_are_cut_and_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallbacks: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(scan_plan, "GROUP_BYTES", 4_000)
    monkeypatch.setattr(scan_plan, "FEW_ROWS", 0)
    builder = Builder(tmp_path / "t", version=3)
    files = [builder.data_file(file_format="PARQUET" * 30, records=2) for _ in range(400)]
    long = builder.manifest(files, line={"first_row_id": 10})
    builder.snapshot([long, builder.manifest(files[:0]), builder.manifest([builder.data_file()])])
    builder.write_metadata()
    scan = open_snapshot(builder.root).scan_files()
    assert isinstance(scan, IcebergScan)
    assert compare(builder.root)["first_row_id"].to_pylist()[:400] == [10 + 2 * n for n in range(400)]
    assert not fallbacks


def test_columns_of_schemas_that_the_document_lost_are_known_before_manifests_are_read(
    tmp_path: Path,
) -> None:
    builder = Builder(tmp_path / "t")
    fields = [*SCHEMA["fields"], {"id": 8, "name": "gone", "required": False, "type": "int"}]  # type: ignore[misc]
    schema = json.dumps({**SCHEMA, "fields": fields})
    file = builder.data_file(lower_bounds=pairs({8: struct.pack("<i", 3)}))
    builder.snapshot([builder.manifest([file], header={"schema": schema, "partition-spec": "[]"})])
    builder.write_metadata(schemas=[{**SCHEMA, "schema-id": 1}], current_schema_id=1)
    scan = open_snapshot(builder.root).scan_files()
    assert [name for name, _ in scan.columns.dropped] == ["gone#8"]
    assert compare(builder.root)["lower_bounds"].to_pylist()[0]["gone#8"] == 3
    scan.fast = True
    streamed = stream_columnar(pickle.loads(pickle.dumps(scan)))
    assert streamed["lower_bounds"].to_pylist()[0]["gone#8"] == 3


@given(
    st.sampled_from(
        ["/was/t", "file:/was/t", "file:///was/t", "s3a://b/t", "/now/t", "//was/t", "/now", "/wh"]
    ),
    st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=4),
    st.sampled_from([["file:/was/t"], ["/was/t", "/was/t/data"], ["s3://b/t"], ["/now"], ["/wh"]]),
    st.sampled_from(["/now/t", "now/t", "b/t"]),
    st.booleans(),
)
def test_locations_below_one_root_are_those_one_by_one(
    root: str, names: list[list[str]], roots: list[str], now: str, stands_still: bool
) -> None:
    recorded = ["/".join([root, *parts]) + ".parquet" for parts in names]
    many, single = (make_locator(now, roots[0], stands_still=stands_still) for _ in range(2))
    for locator in (many, single):
        for further in roots[1:]:
            locator.add_root(further)
    expected = [single.locate(one) for one in recorded]
    assert locate_all(many, pa.array(recorded, pa.string())).to_pylist() == expected
    assert sorted(many.mapping) == sorted(single.mapping)
    assert sorted(many.unmapped) == sorted(single.unmapped)
