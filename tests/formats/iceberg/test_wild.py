"""Iceberg tables as they are seen in the wild: each oddity is a test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import Corrupt, Missing, NotATable, Unsupported
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.opening import open_in_store, open_table
from lakelens.warehouse import find_tables
from tests.support.iceberg_builder import (
    FIRST_ID,
    SCHEMA,
    Builder,
    avro_field,
    list_schema,
)


def opened(path: Path, **options: Any) -> IcebergTable:
    table = open_table(path, **options)
    assert isinstance(table, IcebergTable)
    return table


def codes(table: IcebergTable) -> set[str]:
    return {finding.code for finding in table.findings}


def test_the_builder_writes_a_sound_table(tmp_path: Path) -> None:
    table = opened(Builder(tmp_path / "t").one_snapshot(hint="1"))
    assert len(table.files) == 1 and table.files[0].path == str(tmp_path / "t/data/f1.parquet")
    assert codes(table) == set()


# --- which version -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "v1.metadata.json",
        "v1.gz.metadata.json",
        "v1.metadata.json.gz",
        "v1.zst.metadata.json",
        "v1.metadata.json.zst",
        "00000-4ee0ba4d-0dc4-4b0f-9d20-17a1b7bba6b1.metadata.json",
        "00000-4ee0ba4d-0dc4-4b0f-9d20-17a1b7bba6b1.gz.metadata.json",
        "00000-4ee0ba4d-0dc4-4b0f-9d20-17a1b7bba6b1.zst.metadata.json",
        "v1700000000000000000.metadata.json",
    ],
)
def test_every_naming_of_metadata_files_is_opened(tmp_path: Path, name: str) -> None:
    table = opened(Builder(tmp_path / "t").one_snapshot(name=name))
    assert table.metadata_path.endswith(name) and len(table.files) == 1
    assert opened(tmp_path / "t" / "metadata" / name).metadata_path == table.metadata_path


def make_versions(root: Path, *names: str, **logs: list[str]) -> None:
    for name in names:
        builder = Builder(root)
        log = [
            {"timestamp-ms": 1, "metadata-file": builder.record(f"metadata/{past}")}
            for past in logs.get(name, [])
        ]
        builder.write_metadata(name, properties={"name": name}, metadata_log=log)


def test_a_hint_is_followed_and_versions_after_it(tmp_path: Path) -> None:
    make_versions(tmp_path, "v1.metadata.json", "v2.metadata.json", "v3.gz.metadata.json")
    (tmp_path / "metadata/version-hint.text").write_text("2")
    table = opened(tmp_path)
    assert table.properties["name"] == "v3.gz.metadata.json" and "stale-version-hint" in codes(table)
    assert [Path(path).name for path in table.evidence.candidates] == ["v2.metadata.json", "v1.metadata.json"]
    assert "says 2" in str(table.evidence.version_choice)


@pytest.mark.parametrize(
    "hint", ["garbage", "", "99", "1.5", "\x00\x01", "-1", "v9.metadata.json", "99999999999999999999"]
)
def test_a_hint_of_garbage_is_reported_and_not_trusted(tmp_path: Path, hint: str) -> None:
    make_versions(tmp_path, "v1.metadata.json", "v2.metadata.json")
    (tmp_path / "metadata/version-hint.text").write_text(hint)
    table = opened(tmp_path)
    assert table.properties["name"] == "v2.metadata.json" and "version-hint" in codes(table)


def test_a_hint_that_is_not_text_is_reported(tmp_path: Path) -> None:
    make_versions(tmp_path, "v1.metadata.json")
    (tmp_path / "metadata/version-hint.text").write_bytes(b"\xff\xfe1\x00")
    assert "version-hint" in codes(opened(tmp_path))


@pytest.mark.parametrize("hint", ["v1.metadata.json", "v1", "/wh/t/metadata/v1.metadata.json", "1\n", " 1 "])
def test_a_hint_may_be_a_name_or_have_blanks(tmp_path: Path, hint: str) -> None:
    make_versions(tmp_path, "v1.metadata.json")
    (tmp_path / "metadata/version-hint.text").write_text(hint)
    table = opened(tmp_path)
    assert table.properties["name"] == "v1.metadata.json" and codes(table) == set()


def test_a_misnamed_hint_is_used_and_reported(tmp_path: Path) -> None:
    make_versions(tmp_path, "v1.metadata.json", "v5.metadata.json")
    (tmp_path / "metadata/version-hint.txt").write_text("1")
    table = opened(tmp_path)
    assert table.properties["name"] == "v1.metadata.json" and {"version-hint", "version-gap"} <= codes(table)


def test_without_a_hint_the_highest_number_is_taken_as_a_number(tmp_path: Path) -> None:
    make_versions(tmp_path, "v9.metadata.json", "v10.metadata.json")
    table = opened(tmp_path)
    assert table.properties["name"] == "v10.metadata.json"
    assert "highest" in str(table.evidence.version_choice)


def test_of_files_of_one_number_the_one_that_no_log_names_is_taken(tmp_path: Path) -> None:
    """Two commits raced for 00001; the loser stayed behind."""
    won, lost = "00001-b.metadata.json", "00001-a.metadata.json"
    builder = Builder(tmp_path)
    builder.write_metadata(lost, properties={"name": "lost"}, last_updated_ms=5)
    builder.write_metadata(won, properties={"name": "won"}, last_updated_ms=9)
    table = opened(tmp_path)
    assert table.properties["name"] == "won" and "duplicate-version" in codes(table)
    assert "catalog" in str(table.evidence.version_choice)


def test_an_unreadable_file_of_the_same_number_is_passed_over(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.write_metadata("00001-a.metadata.json", properties={"name": "good"})
    builder.write("metadata/00001-b.metadata.json", b"")
    table = opened(tmp_path)
    assert table.properties["name"] == "good" and "metadata-unreadable" in codes(table)


def test_metadata_of_a_catalog_beside_numbered_metadata_is_said(tmp_path: Path) -> None:
    make_versions(tmp_path, "v3.metadata.json", "00000-a.metadata.json")
    table = opened(tmp_path)
    assert table.properties["name"] == "v3.metadata.json" and codes(table) == {"two-namings"}


def test_what_an_unfinished_commit_left_is_ignored(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.write_metadata("v1.metadata.json", properties={"name": "v1"})
    builder.write_metadata("4ee0ba4d-0dc4-4b0f-9d20-17a1b7bba6b1.metadata.json", properties={"name": "left"})
    table = opened(tmp_path)
    assert table.properties["name"] == "v1"
    assert {f.role for f in table.list_files()} == {"table metadata", "orphan metadata"}


def test_the_catalogs_pointer_wins(tmp_path: Path) -> None:
    from lakelens.io.local import LocalStore

    make_versions(tmp_path, "00001-a.metadata.json", "00002-b.metadata.json")
    pointer = {"metadata_location": "s3://gone/t/metadata/00001-a.metadata.json"}
    table = open_in_store(LocalStore(), str(tmp_path), catalog=pointer)
    assert table.properties["name"] == "00001-a.metadata.json"
    assert "catalog" in str(table.evidence.version_choice)
    dangling = {"metadata_location": "s3://gone/t/metadata/00009-z.metadata.json"}
    table = open_in_store(LocalStore(), str(tmp_path), catalog=dangling)
    assert [finding.code for finding in table.findings] == ["catalog-pointer"]


@pytest.mark.parametrize("version", [1, "1", "v1", "v1.metadata.json", "/x/metadata/v1.metadata.json"])
def test_an_older_version_is_opened_on_demand(tmp_path: Path, version: int | str) -> None:
    make_versions(tmp_path, "v1.metadata.json", "v2.metadata.json")
    assert opened(tmp_path, version=version).properties["name"] == "v1.metadata.json"


def test_a_version_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    make_versions(tmp_path, "v1.metadata.json")
    with pytest.raises(Missing, match=r"v1\.metadata\.json"):
        opened(tmp_path, version=7)


# --- what it is --------------------------------------------------------------------------------------------------------


def test_a_view_is_named_with_its_dialects(tmp_path: Path) -> None:
    view = {
        "view-uuid": "x",
        "format-version": 1,
        "location": "s3://b/sales/orders_view",
        "current-version-id": 1,
        "versions": [
            {"version-id": 1, "representations": [{"type": "sql", "sql": "select 1", "dialect": "trino"}]}
        ],
        "schemas": [SCHEMA],
    }
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata/00000-a.metadata.json").write_text(json.dumps(view))
    with pytest.raises(Unsupported, match=r"Iceberg view.*orders_view.*trino"):
        open_table(tmp_path)
    found = find_tables(tmp_path)
    assert not len(found) and not found.problems and found.views[0].open().dialects == ("trino",)


def test_a_delta_log_beside_iceberg_is_said(tmp_path: Path) -> None:
    Builder(tmp_path).one_snapshot()
    (tmp_path / "_delta_log").mkdir()
    table = opened(tmp_path)
    assert table.format == "iceberg" and "delta-log" in codes(table) and table.evidence.others == ("delta",)


def test_an_unrelated_directory_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata/readme.json").write_text("{}")
    with pytest.raises(NotATable, match=r"metadata\.json"):
        open_table(tmp_path, format="iceberg")


def test_a_table_before_its_first_commit(tmp_path: Path) -> None:
    for version, nothing in ((1, -1), (2, None), (3, None)):
        root = Builder(tmp_path / str(version), version).write_metadata(current_snapshot_id=nothing)
        table = opened(root)
        assert table.current is None and len(table.snapshots) == 0 and len(table.refs) == 0
        assert len(table.files) == 0 and table.files.to_arrow().num_rows == 0


def test_version_1_as_it_was_first_written(tmp_path: Path) -> None:
    """`schema` and `partition-spec` alone, partition fields without ids, no refs, no uuid."""
    builder = Builder(tmp_path, 1)
    partition = [avro_field("name", 1000, "string")]
    file = builder.data_file(partition={"name": "a b"})
    builder.snapshot([builder.manifest([file], partition=partition)], schema_id=None)
    builder.write_metadata(
        schemas=None,
        current_schema_id=None,
        schema={key: value for key, value in SCHEMA.items() if key != "schema-id"},
        partition_specs=None,
        default_spec_id=None,
        partition_spec=[{"source-id": 2, "name": "name", "transform": "identity"}],
        table_uuid=None,
    )
    table = opened(tmp_path)
    assert table.partitioning.fields[0].field_id == 1000
    assert str(table.files[0].partition) == "name=a+b" and table.refs["main"].snapshot_id == FIRST_ID
    assert table.files[0].sequence_number == 0 and table.current is not None
    assert table.current.sequence_number == 0 and table.current.schema.names == ("id", "name")


def test_inline_manifests_of_version_1(tmp_path: Path) -> None:
    builder = Builder(tmp_path, 1)
    lines = [
        builder.manifest([builder.data_file()]),
        builder.manifest([builder.data_file(), builder.data_file()]),
    ]
    builder.snapshot([], manifest_list=None, manifests=[line["manifest_path"] for line in lines])
    builder.write_metadata()
    table = opened(tmp_path)
    assert table.current is not None and len(table.files) == 3
    (listed,) = table.current.manifest_lists
    assert listed.path is None and listed.size_bytes is None and len(listed.manifests) == 2
    assert table.current.manifests[0].partition_spec_id == 0
    assert {file.snapshot_id for file in table.files} == {FIRST_ID} and codes(table) == set()


def test_version_1_manifests_under_version_3_metadata(tmp_path: Path) -> None:
    builder = Builder(tmp_path, 3)
    old = builder.manifest([builder.data_file(records=5)], version=1, line={"first_row_id": 0})
    new = builder.manifest(
        [builder.data_file(records=2), builder.data_file(records=3)], line={"first_row_id": 5}
    )
    builder.snapshot([old, new])
    builder.write_metadata()
    files = list(opened(tmp_path).files)
    assert [(file.sequence_number, file.first_row_id) for file in files] == [(0, 0), (1, 5), (1, 7)]


# --- manifests and lists ---------------------------------------------------------------------------------------------


def test_lists_from_before_1_5_are_read_by_field_id(tmp_path: Path) -> None:
    for ids in (True, False):
        builder = Builder(tmp_path / str(ids))
        builder.snapshot(
            [builder.manifest([builder.data_file()])], schema=list_schema(old_names=True, ids=ids)
        )
        current = opened(builder.write_metadata()).current
        assert current is not None and current.manifests[0].added_files_count == 1


def test_renamed_fields_are_found_by_id(tmp_path: Path) -> None:
    schema = list_schema()
    for index, column in enumerate(schema["fields"]):
        column["name"] = f"c{index}"
    builder = Builder(tmp_path)
    line = builder.manifest([builder.data_file()])
    names = [column["name"] for column in list_schema()["fields"]]
    renamed = {f"c{index}": line.get(name) for index, name in enumerate(names)}
    builder.snapshot([renamed], schema=schema)
    assert len(opened(builder.write_metadata()).files) == 1


@pytest.mark.parametrize("ids", [True, False])
def test_headers_without_anything(tmp_path: Path, ids: bool) -> None:
    """No schema, partition-spec, format-version or content in the header; perhaps no field ids either."""
    spec = {
        "spec-id": 0,
        "fields": [{"source-id": 2, "field-id": 1000, "name": "name", "transform": "identity"}],
    }
    builder = Builder(tmp_path, specs=[spec])
    partition = [avro_field("name", 1000, "string")]
    file = builder.data_file(
        partition={"name": "x"}, lower_bounds=[{"key": 1, "value": (9).to_bytes(8, "little")}]
    )
    builder.snapshot([builder.manifest([file], partition=partition, header={}, ids=ids)])
    table = opened(builder.write_metadata())
    (found,) = table.files
    assert str(found.partition) == "name=x" and found.bounds["id"].lower == 9 and codes(table) == set()


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
def test_every_avro_codec(tmp_path: Path, codec: str) -> None:
    builder = Builder(tmp_path)
    builder.snapshot([builder.manifest([builder.data_file()], codec=codec)])
    assert len(opened(builder.write_metadata()).files) == 1


def test_wrong_figures_are_reported_and_not_trusted(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    line = builder.manifest([builder.data_file(file_size_in_bytes=5)], line={"manifest_length": 3})
    builder.snapshot([line], summary={"operation": "append", "total-records": "77", "total-data-files": "x"})
    table = opened(builder.write_metadata())
    assert len(table.files) == 1 and table.current is not None and table.current.record_count == 77
    with pytest.raises(Corrupt):
        _ = table.files[0].footer
    assert {"manifest-length", "total-records", "file-size"} <= codes(table)


def test_a_manifest_that_is_listed_many_times_is_read_once(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    line = builder.manifest([builder.data_file()])
    builder.snapshot([line, line, line])
    table = opened(builder.write_metadata())
    assert table.current is not None and len(table.current.manifests) == 3 and len(table.files) == 1
    manifest = table.current.manifests[0]
    assert table.current.manifests[2] is manifest and "repeated-manifest" in codes(table)
    assert len([path for path in table.reads.paths if path == manifest.path]) == 1


def test_an_empty_list(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.snapshot([])
    table = opened(builder.write_metadata())
    assert table.current is not None and table.current.manifests == () and len(table.files) == 0
    assert codes(table) == set()


def test_a_manifest_list_that_has_expired(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    line = builder.manifest([builder.data_file()])
    gone = builder.snapshot([line])["manifest-list"]
    builder.snapshot([line])
    root = builder.write_metadata()
    (root / "metadata" / gone.rsplit("/", 1)[-1]).unlink()
    table = opened(root)
    first, second = table.snapshots
    assert len(first.files) == 0 and len(second.files) == 1
    with pytest.raises(Missing, match="snap-"):
        _ = first.manifest_lists[0].manifests
    assert [(f.code, f.snapshots) for f in table.findings] == [("missing", (FIRST_ID,))]


def test_manifests_with_different_partition_structs(tmp_path: Path) -> None:
    fields = [
        {"source-id": 2, "field-id": 1000, "name": "name", "transform": "identity"},
        {"source-id": 1, "field-id": 1001, "name": "id_bucket", "transform": "bucket[8]"},
        {"source-id": 2, "field-id": 1002, "name": "zo", "transform": "zorder[3]"},
    ]
    specs = [{"spec-id": i, "fields": fields[:i]} for i in range(4)]
    builder = Builder(tmp_path, specs=specs)
    columns = [
        avro_field("name", 1000, "string"),
        avro_field("id_bucket", 1001, "int"),
        avro_field("zo", 1002, "int"),
    ]
    values = [{}, {"name": "ä/"}, {"name": None, "id_bucket": 3}, {"name": "b", "id_bucket": 4, "zo": 5}]
    lines = [
        builder.manifest(
            [builder.data_file(partition=value)], partition=columns[:i], line={"partition_spec_id": i}
        )
        for i, value in enumerate(values)
    ]
    builder.snapshot(lines)
    table = opened(builder.write_metadata(default_spec_id=3))
    assert [str(file.partition) for file in table.files] == [
        "",
        "name=%C3%A4%2F",
        "name=null/id_bucket=3",
        "name=b/id_bucket=4/zo=5",
    ]
    assert [name for name, _ in table.files.columns.partition] == ["name", "id_bucket", "zo"]
    assert [file.spec_id for file in table.files] == [0, 1, 2, 3]
    assert table.files.to_arrow().column("partition_values").to_pylist()[1]["id_bucket"] is None


def test_days_and_hours_before_1970(tmp_path: Path) -> None:
    schema = {**SCHEMA, "fields": [{"id": 1, "name": "ts", "required": False, "type": "timestamp"}]}
    fields = [
        {"source-id": 1, "field-id": 1000 + i, "name": f"ts_{name}", "transform": name}
        for i, name in enumerate(["year", "month", "day", "hour"])
    ]
    builder = Builder(tmp_path, specs=[{"spec-id": 0, "fields": fields}])
    columns = [avro_field(field["name"], field["field-id"], "int") for field in fields]
    file = builder.data_file(partition={"ts_year": -1, "ts_month": -1, "ts_day": -1, "ts_hour": -1})
    builder.snapshot([builder.manifest([file], partition=columns)])
    (found,) = opened(builder.write_metadata(schemas=[schema])).files
    assert str(found.partition) == "ts_year=1969/ts_month=1969-12/ts_day=1969-12-31/ts_hour=1969-12-31-23"


def test_a_spec_that_only_the_manifest_tells(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    spec = [{"source-id": 2, "field-id": 1000, "name": "name", "transform": "identity"}]
    header = {"schema": json.dumps(SCHEMA), "partition-spec": json.dumps(spec), "partition-spec-id": "4"}
    partition = [avro_field("name", 1000, "string")]
    line = builder.manifest(
        [builder.data_file(partition={"name": "x"})],
        partition=partition,
        header=header,
        line={"partition_spec_id": 4},
    )
    builder.snapshot([line])
    (found,) = opened(builder.write_metadata()).files
    assert str(found.partition) == "name=x" and found.spec_id == 4


def test_a_column_that_only_the_manifest_remembers(tmp_path: Path) -> None:
    old = {
        **SCHEMA,
        "fields": [*SCHEMA["fields"], {"id": 9, "name": "gone", "required": False, "type": "int"}],
    }
    builder = Builder(tmp_path)
    bounds = [{"key": 9, "value": (5).to_bytes(4, "little")}, {"key": 77, "value": b"\x01"}]
    line = builder.manifest([builder.data_file(lower_bounds=bounds)], header={"schema": json.dumps(old)})
    builder.snapshot([line])
    table = opened(builder.write_metadata())
    (found,) = table.files
    assert found.bounds["gone#9"].lower == 5 and found.bounds["#77"].lower == b"\x01"
    assert table.files.to_arrow().column("lower_bounds").to_pylist()[0]["gone#9"] == 5


# --- the document ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [str, float])
def test_ids_that_a_json_tool_turned_into_text_or_floats(tmp_path: Path, write: Any) -> None:
    builder = Builder(tmp_path)
    snapshot = builder.snapshot([builder.manifest([builder.data_file()])])
    snapshot["snapshot-id"] = write(snapshot["snapshot-id"])
    table = opened(builder.write_metadata())
    assert len(table.files) == 1 and table.current is not None and "rounded-number" in codes(table)
    assert table.current.id == (FIRST_ID if write is str else int(float(FIRST_ID)))


def test_ids_that_were_rounded_without_a_trace(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    snapshot = builder.snapshot([builder.manifest([builder.data_file()])])
    snapshot["snapshot-id"] = 7_000_000_000_000_000_000
    table = opened(builder.write_metadata())
    assert len(table.files) == 1 and "rounded-number" in codes(table)


def test_ids_above_2_to_the_53_survive(tmp_path: Path) -> None:
    table = opened(Builder(tmp_path).one_snapshot(refs={"t": {"snapshot-id": FIRST_ID, "type": "tag"}}))
    assert table.current is not None and table.current.id == FIRST_ID == table.refs["t"].snapshot_id
    assert table.snapshot(FIRST_ID) is table.current is table.snapshot("t") is table.snapshot(str(FIRST_ID))
    assert table.files.to_arrow().column("snapshot_id").to_pylist() == [FIRST_ID]


@pytest.mark.parametrize(
    "location",
    [
        "file:/was/here/t",
        "file:///was/here/t",
        "file://host/was/here/t",
        "file:was/here/t",
        "/was/here/t",
        "/was/here/t/",
        "was/here/t",
        "t",
        "s3a://bucket/was/here/t",
        "s3://bucket/t/",
        "hdfs://name:8020/wh/t",
        "abfss://box@account.dfs.core.windows.net/t",
    ],
)
def test_malformed_and_relative_locations(tmp_path: Path, location: str) -> None:
    builder = Builder(tmp_path / "now", location=location.rstrip("/"))
    builder.one_snapshot(location=location)
    table = opened(tmp_path / "now")
    assert [file.path for file in table.files] == [str(tmp_path / "now/data/f1.parquet")]
    assert not any(finding.severity == "error" for finding in table.findings)


def test_s3a_and_s3_are_the_same_place(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "now", location="s3a://b/t")
    builder.one_snapshot(location="s3://b/t")
    assert opened(tmp_path / "now").files[0].path == str(tmp_path / "now/data/f1.parquet")


def test_data_that_was_never_below_the_table_stays_where_it_is(tmp_path: Path) -> None:
    """An unmoved table with `write.data.path`: what lies elsewhere is not looked for in the table."""
    builder = Builder(tmp_path / "t", location=str(tmp_path / "t"))
    elsewhere = str(tmp_path / "data/t/data/f.parquet")
    builder.snapshot([builder.manifest([builder.data_file(file_path=elsewhere)])])
    table = opened(builder.write_metadata())
    assert table.files[0].path == elsewhere and not table.relocation.is_moved


def test_metadata_that_is_kept_elsewhere(tmp_path: Path) -> None:
    """`write.metadata.path`: only the metadata directory can be opened, and the data stays where it is recorded."""
    builder = Builder(tmp_path / "t", location=str(tmp_path / "t"))
    builder.one_snapshot()
    kept = tmp_path / "kept" / "metadata"
    kept.parent.mkdir()
    shutil.move(tmp_path / "t" / "metadata", kept)
    for path in kept.glob("*.json"):
        path.write_text(path.read_text().replace(f"{tmp_path}/t/metadata", str(kept)))
    table = opened(kept)
    assert table.current is not None and table.current.manifest_lists[0].path == str(
        kept / f"snap-{FIRST_ID}-1-x.avro"
    )
    assert table.location == str(tmp_path / "kept")


def test_statistics_that_are_gone(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.snapshot([])
    statistics = {
        "snapshot-id": FIRST_ID,
        "statistics-path": builder.record("metadata/gone.stats"),
        "file-size-in-bytes": 9,
        "blob-metadata": [
            {"type": "apache-datasketches-theta-v1", "fields": [1], "properties": {"ndv": "4"}}
        ],
    }
    table = opened(builder.write_metadata(statistics=[statistics], partition_statistics=[statistics]))
    assert table.current is not None
    kinds = [(found.kind, dict(found.columns)) for found in table.current.statistics]
    assert kinds == [("table", {"id": {"ndv": "4"}}), ("partition", {"id": {"ndv": "4"}})]
    assert "missing-statistics" in codes(table)
    assert [len(found.blobs) for found in table.current.index_files] == [0] and "missing" in codes(table)


def test_a_current_snapshot_that_is_not_there(tmp_path: Path) -> None:
    table = opened(
        Builder(tmp_path).one_snapshot(
            current_snapshot_id=5, refs={"b": {"snapshot-id": 6, "type": "branch"}}
        )
    )
    assert table.current is None and len(table.files) == 0 and len(table.snapshots) == 1
    assert {"missing-snapshot", "dangling-ref"} <= codes(table)


def test_snapshots_out_of_order_are_put_into_commit_order(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    for _ in range(3):
        builder.snapshot([])
    table = opened(builder.write_metadata(snapshots=builder.snapshots[::-1]))
    assert [snapshot.sequence_number for snapshot in table.snapshots] == [1, 2, 3]


def test_branches_tags_and_times(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    builder.snapshot([])
    builder.snapshot([builder.manifest([builder.data_file()])])
    log = [{"timestamp-ms": s["timestamp-ms"], "snapshot-id": s["snapshot-id"]} for s in builder.snapshots]
    refs = {
        "main": {"snapshot-id": FIRST_ID + 1, "type": "branch"},
        "audit": {"snapshot-id": FIRST_ID, "type": "branch", "min-snapshots-to-keep": 2},
    }
    root = builder.write_metadata(refs=refs, snapshot_log=log)
    table = opened(root)
    assert table.snapshot("audit").refs == ("audit",) and table.refs["audit"].min_snapshots_to_keep == 2
    assert table.snapshot("2023-11-14T22:13:20.5").id == FIRST_ID
    assert table.snapshot("2030-01-01").id == FIRST_ID + 1
    with pytest.raises(Missing):
        table.snapshot("1999-01-01")
    branch = opened(root, branch="audit")
    assert branch.current is not None and branch.current.id == FIRST_ID and len(branch.files) == 0
    with pytest.raises(Missing, match="audit"):
        opened(root, branch="nope")


def test_every_key_of_the_document_is_kept(tmp_path: Path) -> None:
    root = Builder(tmp_path).one_snapshot(x_custom={"deep": [1, 2**63 + 5]})
    assert opened(root).metadata["x-custom"] == {"deep": [1, 2**63 + 5]}
