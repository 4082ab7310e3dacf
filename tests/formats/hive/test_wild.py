"""Hive-style directories as they are met: partitions, leftovers, other formats' traces, damage."""

from __future__ import annotations

import datetime
import decimal
import math
import os
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.errors import Corrupt, Missing, NotATable, Unsupported
from lakelens.formats.hive.names import parse_partition_value
from lakelens.io.local import LocalStore
from lakelens.io.memory import MemoryStore
from lakelens.opening import open_in_store

JOB = "01234567-89ab-cdef-0123-456789abcdef"


def write(path: Path, rows: int = 1, **columns: Any) -> Path:
    """A Parquet file of `rows` rows: a column `id`, and what is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(range(rows), pa.int64()), **columns}), path)
    return path


def touch(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def codes(table: Any) -> set[str]:
    """The findings' codes after everything was listed and looked at."""
    _ = list(table.files), table.schema, [file.record_count for file in table.files]
    return {finding.code for finding in table.findings}


def roles(table: Any) -> dict[str, str]:
    return {stored.relative_path: stored.role for stored in table.list_files()}


# opening


def test_unrelated_directory_is_no_table_and_says_what_was_looked_for(tmp_path: Path) -> None:
    touch(tmp_path / "README.md", b"# hello")
    touch(tmp_path / "src/main.py", b"print()")
    touch(tmp_path / "notes", b"just a text without extension")
    touch(tmp_path / "data.csv", b"a,b\n1,2\n")
    with pytest.raises(NotATable) as caught:
        ll.open(tmp_path)
    assert "hive: Parquet, ORC or Avro files" in str(caught.value)
    assert "iceberg:" in str(caught.value)
    assert "paimon:" in str(caught.value)
    assert "README.md" in str(caught.value)


def test_one_parquet_file_among_others_makes_no_table(tmp_path: Path) -> None:
    write(tmp_path / "export.parquet")
    for name in ("a.md", "b.py", "c.toml"):
        touch(tmp_path / name, b"x")
    with pytest.raises(NotATable):
        ll.open(tmp_path)


def test_key_value_directories_without_files_make_no_table(tmp_path: Path) -> None:
    (tmp_path / "a=1").mkdir()
    with pytest.raises(NotATable):
        ll.open(tmp_path)


def test_empty_directory_opens_only_when_the_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotATable):
        ll.open(tmp_path)
    table = ll.open(tmp_path, format="hive")
    assert len(table.files) == 0
    assert table.current.committed_at is None
    assert len(table.schema) == 0


def test_a_file_is_no_hive_table_even_when_forced(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    with pytest.raises(NotATable, match="directory"):
        ll.open(path, format="hive")


def test_branches_and_versions_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "part-00000")
    with pytest.raises(Unsupported, match="no branches"):
        ll.open(tmp_path, branch="b")
    with pytest.raises(Missing):
        ll.open(tmp_path).snapshot(1)


@pytest.mark.parametrize(
    "names",
    [
        ["part-00000-" + JOB + "-c000"],  # Spark through a Hive serde
        ["000000_0"],  # Hive
        ["a.parquet", "b.parquet"],
        ["b.csv", "_SUCCESS"],
        ["dt=2024-01-01/anything"],
        ["delta_0000001_0000001_0000/bucket_00000"],
        ["a=1/b=2/x.txt"],
    ],
)
def test_detection_by_names_alone(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        touch(tmp_path / name, b"1\x01a\n")
    table = ll.open(tmp_path)
    assert table.format == "hive"
    assert table.evidence.confidence < 0.5
    assert table.evidence.reasons
    assert table.reads.files == 0


def test_files_without_extension_are_known_by_their_magic(tmp_path: Path) -> None:
    write(tmp_path / "a")
    table = ll.open(tmp_path)
    assert "without extension that holds parquet" in table.evidence.reasons[0]
    assert [file.file_format for file in table.files] == ["parquet"]


def test_detection_lists_few_directories(tmp_path: Path) -> None:
    for day in range(200):
        (tmp_path / f"d={day}/h=1").mkdir(parents=True)
    with pytest.raises(NotATable):
        ll.open(tmp_path)
    write(tmp_path / "d=0/h=1/000000_0")
    table = ll.open(tmp_path)
    assert table.reads.requests < 20


def test_metadata_directories_of_other_formats_are_no_hive_tables(tmp_path: Path) -> None:
    touch(tmp_path / "v1.metadata.json", b"{}")
    touch(tmp_path / "x-m0.avro", b"Obj\x01")
    from lakelens.formats.hive import FORMAT
    from lakelens.formats.registry import describe_candidate

    assert FORMAT.detect(describe_candidate(LocalStore(), str(tmp_path))) is None


def test_a_paimon_bucket_is_no_hive_table(tmp_path: Path) -> None:
    write(tmp_path / f"bucket-0/data-{JOB}-0.parquet")
    with pytest.raises(NotATable):
        ll.open(tmp_path / "bucket-0")
    assert len(ll.open(tmp_path / "bucket-0", format="hive").files) == 1
    assert list(ll.find(tmp_path)) == []


def test_name_takes_the_database_from_the_directory(tmp_path: Path) -> None:
    write(tmp_path / "shop.db/orders/000000_0")
    assert ll.open(tmp_path / "shop.db/orders").name == "shop.orders"


# in the wild: other formats' directories


def test_hudi_directory_is_named_and_opens_when_forced(tmp_path: Path) -> None:
    write(tmp_path / f"dt=1/{uuid.UUID(int=5)}-0_0-1-0_20240101.parquet")
    touch(tmp_path / ".hoodie/hoodie.properties", b"hoodie.table.name=t")
    touch(tmp_path / "dt=1/.hoodie_partition_metadata")
    with pytest.raises(Unsupported, match="Hudi") as caught:
        ll.open(tmp_path)
    assert 'format="hive"' in str(caught.value)
    table = ll.open(tmp_path, format="hive")
    assert len(table.files) == 1
    assert table.evidence.others == ("Hudi",)
    assert "hudi" in codes(table)
    assert roles(table)[".hoodie/hoodie.properties"] == "Hudi timeline"


def test_delta_directory_is_named_and_opens_when_forced(tmp_path: Path) -> None:
    write(tmp_path / f"part-00000-{JOB}-c000.snappy.parquet")
    touch(tmp_path / "_delta_log/00000000000000000000.json", b"{}")
    assert ll.open(tmp_path).format == "delta"
    table = ll.open(tmp_path, format="hive")
    assert "delta-lake" in codes(table)
    assert roles(table)["_delta_log/00000000000000000000.json"] == "Delta log"


def test_find_keeps_a_refused_directory_as_a_problem(tmp_path: Path) -> None:
    touch(tmp_path / "d/_delta_log/0.json")
    write(tmp_path / "h/000000_0")
    found = ll.find(tmp_path)
    assert [one.format for one in found] == ["hive"]
    assert any("Delta" in str(problem) for problem in found.problems)


def test_hive_acid_directories_say_what_they_are(tmp_path: Path) -> None:
    def write_orc(name: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        orc.write_table(pa.table({"operation": [0]}), tmp_path / name)

    write_orc("base_0000002/bucket_00000")
    write_orc("delta_0000001_0000001_0000/bucket_00000")
    write_orc("delta_0000003_0000003_0000/bucket_00001_0")
    write_orc("delete_delta_0000003_0000003_0000/bucket_00000")
    touch(tmp_path / "base_0000002/_orc_acid_version", b"2")
    touch(tmp_path / "delta_0000003_0000003_0000/bucket_00001_flush_length", b"12345678")
    table = ll.open(tmp_path)
    assert "hive-acid" in codes(table)
    assert "acid-superseded" in codes(table)
    assert roles(table) == {
        "base_0000002/_orc_acid_version": "hidden",
        "base_0000002/bucket_00000": "ACID base",
        "delete_delta_0000003_0000003_0000/bucket_00000": "ACID delete delta",
        "delta_0000001_0000001_0000/bucket_00000": "ACID delta, superseded by base_0000002",
        "delta_0000003_0000003_0000/bucket_00001_0": "ACID delta",
        "delta_0000003_0000003_0000/bucket_00001_flush_length": "ACID flush length",
    }
    assert [(f.relative_path, f.bucket, f.acid_write_ids) for f in table.files] == [
        ("base_0000002/bucket_00000", 0, (0, 2)),
        ("delta_0000003_0000003_0000/bucket_00001_0", 1, (3, 3)),
    ]
    assert [file.record_count for file in table.files] == [1, 1]


# in the wild: partitions


def test_escaped_partition_values_and_the_default_partition(tmp_path: Path) -> None:
    write(tmp_path / "k=x%2Fy z%3A%3D%25/000000_0")
    write(tmp_path / "k=a%252Fb/000000_0")
    write(tmp_path / "k=__HIVE_DEFAULT_PARTITION__/000000_0")
    table = ll.open(tmp_path)
    assert {file.partition["k"] for file in table.files} == {"x/y z:=%", "a%2Fb", None}
    assert {str(file.partition) for file in table.files} == {
        "k=x%2Fy z%3A%3D%25",
        "k=a%252Fb",
        "k=__HIVE_DEFAULT_PARTITION__",
    }
    assert "default-partition" in codes(table)
    assert sorted(table.files.to_arrow()["partition_values"].to_pylist(), key=str) == sorted(
        [{"k": "x/y z:=%"}, {"k": "a%2Fb"}, {"k": None}], key=str
    )


def test_only_two_hex_digits_are_an_escape() -> None:
    assert parse_partition_value("100%") == "100%"
    assert parse_partition_value("%zz%2f") == "%zz/"


def test_date_partitions_whose_directory_is_a_day_number_stay_text(tmp_path: Path) -> None:
    write(tmp_path / "d=19723/000000_0")
    write(tmp_path / "d=2024-01-02/000000_0")
    table = ll.open(tmp_path)
    assert [file.partition["d"] for file in table.files] == ["19723", "2024-01-02"]
    assert table.partitioning.fields[0].result_type == "string"
    assert table.schema.field("d").type == "string"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2"], "int"),
        (["1", "9007199254740993"], "bigint"),
        (["1", "1.5"], "double"),
        (["2024-01-01", "__HIVE_DEFAULT_PARTITION__"], "date"),
        (["2024-01-01", "2024-01-01 10%3A00%3A00"], "timestamp"),
        (["2024-13-01"], "string"),
        (["true"], "string"),
        (["1", "x"], "string"),
        (["99999999999999999999"], "string"),
    ],
)
def test_partition_types_are_inferred_and_values_stay_text(
    tmp_path: Path, values: list[str], kind: str
) -> None:
    for value in values:
        write(tmp_path / f"p={value}/000000_0")
    table = ll.open(tmp_path)
    assert table.partitioning.fields[0].result_type == kind
    assert table.partitioning.raw == {"types": "inferred"}
    assert all(v is None or isinstance(v, str) for f in table.files for v in f.partition.values())


def test_key_order_that_differs_between_directories(tmp_path: Path) -> None:
    write(tmp_path / "a=1/b=2/000000_0")
    write(tmp_path / "a=1/b=3/000000_0")
    write(tmp_path / "b=2/a=1/000000_0")
    table = ll.open(tmp_path)
    assert "partition-key-order" in codes(table)
    assert [str(file.partition) for file in table.files] == ["a=1/b=2", "a=1/b=3", "a=1/b=2"]
    assert len(table.files.where(partition="a=1/b=2")) == 2


def test_keys_that_differ_between_directories(tmp_path: Path) -> None:
    write(tmp_path / "a=1/000000_0")
    write(tmp_path / "a=1/b=3/000000_0")
    table = ll.open(tmp_path)
    assert "partition-keys-differ" in codes(table)
    assert [dict(file.partition) for file in table.files] == [{"a": "1"}, {"a": "1", "b": "3"}]


def test_partition_keys_that_differ_in_case_are_one_column(tmp_path: Path) -> None:
    write(tmp_path / "Dt=1/000000_0")
    write(tmp_path / "Dt=3/000000_0")
    write(tmp_path / "dt=2/000000_0")
    table = ll.open(tmp_path)
    assert "partition-case" in codes(table)
    assert [dict(file.partition) for file in table.files] == [{"Dt": "1"}, {"Dt": "3"}, {"Dt": "2"}]


def test_a_column_that_is_both_partition_key_and_in_the_file(tmp_path: Path) -> None:
    write(tmp_path / "p=1/000000_0", p=pa.array([7], pa.int32()))
    table = ll.open(tmp_path)
    assert "partition-column-in-file" in codes(table)
    assert table.schema.names == ("id", "p")
    assert table.schema.field("p").type == "string"
    file = table.files[0]
    assert file.partition["p"] == "1"
    assert file.preview().to_pylist() == [{"id": 0, "p": 7}]


def test_two_directories_of_one_partition(tmp_path: Path) -> None:
    write(tmp_path / "k=a%2Fb/000000_0")
    write(tmp_path / "k=a%2fb/000000_0")
    assert "partition-twice" in codes(ll.open(tmp_path))


def test_a_key_twice_in_one_path(tmp_path: Path) -> None:
    write(tmp_path / "k=1/k=2/000000_0")
    table = ll.open(tmp_path)
    assert "partition-key-twice" in codes(table)
    assert dict(table.files[0].partition) == {"k": "2"}


def test_a_file_beside_the_partition_directories(tmp_path: Path) -> None:
    write(tmp_path / "k=1/000000_0")
    write(tmp_path / "000000_0")
    assert "file-outside-partitions" in codes(ll.open(tmp_path))


# in the wild: roles of files


def test_roles_of_hidden_files_markers_checksums_and_leftovers(tmp_path: Path) -> None:
    name = f"part-00000-{JOB}-c000.snappy.parquet"
    write(tmp_path / name)
    for other in (
        f".{name}.crc",
        "_SUCCESS",
        "._SUCCESS.crc",
        "_metadata",
        "_common_metadata",
        ".hidden",
        "_temporary/0/task_1/part-00001",
        ".hive-staging_hive_2024-01-01_1/-ext-10000/000000_0",
        ".spark-staging-1/k=1/part-00000",
        "copy.parquet._COPYING_",
        "sub/part-00000.parquet",
        "_hidden_dir/x.parquet",
    ):
        touch(tmp_path / other, b"x")
    table = ll.open(tmp_path)
    assert roles(table) == {
        name: "data file",
        f".{name}.crc": "checksum",
        "_SUCCESS": "success marker",
        "._SUCCESS.crc": "checksum",
        "_metadata": "summary",
        "_common_metadata": "summary",
        ".hidden": "hidden",
        "_temporary/0/task_1/part-00001": "unfinished write",
        ".hive-staging_hive_2024-01-01_1/-ext-10000/000000_0": "unfinished write",
        ".spark-staging-1/k=1/part-00000": "unfinished write",
        "copy.parquet._COPYING_": "unfinished copy",
        "sub/part-00000.parquet": "file in a subdirectory",
        "_hidden_dir/x.parquet": "hidden",
    }
    assert [file.relative_path for file in table.files] == [name]
    assert codes(table) >= {"unfinished-write", "unfinished-copy", "nested-files"}
    assert table.current.summary["total-data-files"] == "1"
    assert {tuple(s.referenced_by) for s in table.list_files() if s.role != "data file"} == {()}


def test_a_partition_directory_that_begins_with_an_underscore_is_seen(tmp_path: Path) -> None:
    write(tmp_path / "_k=1/000000_0")
    assert dict(ll.open(tmp_path, format="hive").files[0].partition) == {"_k": "1"}


def test_subdirectories_of_union_all_are_seen(tmp_path: Path) -> None:
    write(tmp_path / "HIVE_UNION_SUBDIR_1/000000_0")
    write(tmp_path / "HIVE_UNION_SUBDIR_2/000000_0")
    assert len(ll.open(tmp_path, format="hive").files) == 2


def test_zero_byte_files_have_a_role_and_no_rows(tmp_path: Path) -> None:
    write(tmp_path / "000000_0", rows=3)
    empty = touch(tmp_path / "000001_0.parquet")
    table = ll.open(tmp_path)
    assert roles(table)["000001_0.parquet"] == "empty"
    assert "empty-file" in codes(table)
    assert table.files.record_count == 3
    assert table.files[str(empty)].record_count == 0
    assert len(table.files[str(empty)].bounds) == 0
    with pytest.raises(Corrupt, match=r"000001_0\.parquet"):
        _ = table.files[str(empty)].footer


@pytest.mark.parametrize(
    "spoil", [lambda data: data[: len(data) // 2], lambda data: b"not parquet at all", lambda data: data[4:]]
)
def test_damaged_parquet_is_a_finding_when_walked_and_an_error_when_asked_for(
    tmp_path: Path, spoil: Any
) -> None:
    write(tmp_path / "good.parquet", rows=2)
    bad = write(tmp_path / "bad.parquet", rows=2)
    bad.write_bytes(spoil(bad.read_bytes()))
    table = ll.open(tmp_path)
    assert table.files.record_count == 2
    assert table.files[str(bad)].record_count is None
    assert [(f.severity, f.path) for f in table.findings] == [("error", str(bad))]
    assert table.schema.names == ("id",)
    for ask in (lambda: table.files[str(bad)].footer, lambda: table.files[str(bad)].preview()):
        with pytest.raises(Corrupt) as caught:
            ask()
        assert caught.value.path == str(bad)
        assert caught.value.offset is not None
    assert table.files.to_arrow()["record_count"].to_pylist() == [None, 2]


def test_a_directory_of_ten_thousand_entries_is_listed_once(tmp_path: Path) -> None:
    blank = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [1]}), blank)
    data = blank.getvalue().to_pybytes()
    store = MemoryStore({f"/t/part-{n:05d}-{JOB}-c000.snappy.parquet": data for n in range(10_000)})
    table = open_in_store(store, "/t")
    assert len(table.files) == 10_000
    assert table.files.size_bytes == 10_000 * len(data)
    assert repr(table.files) == f"<FileSet 10000 files, {10_000 * len(data)} bytes>"
    assert table.current.summary["write-jobs"] == "1"
    assert table.reads.files == 0
    assert table.reads.requests < 10
    assert table.schema.names == ("id",)
    assert table.reads.files == 100
    assert "schema-sampled" in {finding.code for finding in table.findings}


def test_mixed_and_foreign_files_are_findings(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    write(tmp_path / "c.parquet")
    orc.write_table(pa.table({"id": [1]}), tmp_path / "b.orc")
    touch(tmp_path / "readme.md", b"x")
    table = ll.open(tmp_path)
    assert codes(table) >= {"mixed-formats", "foreign-file"}


# names


def test_files_are_grouped_by_the_job_that_wrote_them(tmp_path: Path) -> None:
    other = str(uuid.uuid4())
    write(tmp_path / f"part-00000-{JOB}-c000.snappy.parquet")
    write(tmp_path / f"part-00001-{JOB}-c000.snappy.parquet")
    write(tmp_path / f"part-00000-{other}-c000.snappy.parquet")
    table = ll.open(tmp_path)
    assert len(table.files.where(write_id=JOB)) == 2
    assert table.current.summary["write-jobs"] == "2"
    assert table.current.changes.summary["added_files"] == 3


@pytest.mark.parametrize(
    ("name", "bucket"),
    [
        (f"part-00001-{JOB}_00003.c000.snappy.parquet", 3),
        (f"00002_0_part-00000-{JOB}_00002.c000.snappy.parquet", 2),
        ("000004_0", 4),
        ("000004_0_copy_1", 4),
        (f"part-00001-{JOB}-c000.snappy.parquet", None),
    ],
)
def test_bucket_from_the_name(tmp_path: Path, name: str, bucket: int | None) -> None:
    write(tmp_path / name)
    assert ll.open(tmp_path).files[0].bucket == bucket


# what files say


def test_bounds_are_typed_and_reach_into_nested_columns(tmp_path: Path) -> None:
    moment = datetime.datetime(2024, 1, 1, 10, 11, 12, 123456)
    columns = {
        "d": pa.array([datetime.date(1969, 12, 31), None]),
        "ts": pa.array([moment, None], pa.timestamp("us", "UTC")),
        "dec": pa.array([decimal.Decimal("1.23"), None], pa.decimal128(5, 2)),
        "s": ["ä", "b"],
        "bin": [b"\x00", b"\xff"],
        "li": [[1, 5], [2, None]],
        "ma": pa.array([[("k", 1.5)], []], pa.map_(pa.string(), pa.float64())),
        "st": [{"x": 7, "y": {"z": "deep"}}, {"x": 8, "y": None}],
        "nan": [math.nan, 1.0],
        "none": pa.array([None, None], pa.int32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=1, store_decimal_as_integer=True)
    bounds = ll.open(tmp_path).files[0].bounds
    pairs = {name: (of.lower, of.upper) for name, of in bounds.items()}
    assert pairs["d"] == (datetime.date(1969, 12, 31),) * 2
    assert pairs["ts"] == (moment.replace(tzinfo=datetime.UTC),) * 2
    assert pairs["dec"] == (decimal.Decimal("1.23"),) * 2
    assert pairs["s"] == ("b", "ä")
    assert pairs["bin"] == (b"\x00", b"\xff")
    assert pairs["li.element"] == (1, 5)
    assert pairs["ma.key"] == ("k", "k")
    assert pairs["ma.value"] == (1.5, 1.5)
    assert pairs["st.x"] == (7, 8)
    assert pairs["st.y.z"] == ("deep", "deep")
    assert pairs["none"] == (None, None)
    assert bounds["none"].nulls == 2
    assert bounds["li.element"].nulls == 1
    assert bounds["s"].values == 2
    assert bounds["d"].lower_raw == (-1).to_bytes(4, "little", signed=True)
    assert bounds["s"].size is not None and bounds["s"].size > 0


def test_bounds_need_every_row_group(tmp_path: Path) -> None:
    schema = pa.schema([("x", pa.float64())])
    with pq.ParquetWriter(tmp_path / "a.parquet", schema) as writer:
        writer.write_table(pa.table({"x": [1.0]}, schema))
        writer.write_table(pa.table({"x": [math.nan]}, schema))
    bounds = ll.open(tmp_path).files[0].bounds["x"]
    assert (bounds.lower, bounds.upper) == (None, None)


def test_schema_is_the_union_of_the_files(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", n=pa.array([1], pa.int32()), x=["a"])
    write(tmp_path / "b.parquet", N=pa.array([1], pa.int64()), y=pa.array([[1]], pa.list_(pa.int16())))
    table = ll.open(tmp_path)
    assert [(f.name, str(f.type)) for f in table.schema] == [
        ("id", "bigint"),
        ("n", "bigint"),
        ("x", "string"),
        ("y", "array<smallint>"),
    ]
    assert "column-types-differ" not in {finding.code for finding in table.findings}
    assert all(f.nullable for f in table.schema)
    arrow = table.files.to_arrow()
    assert arrow["lower_bounds"].to_pylist()[0]["n"] == 1


def test_types_that_cannot_be_one_are_a_finding(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=["a"])
    write(tmp_path / "b.parquet", x=[1])
    assert "column-types-differ" in codes(ll.open(tmp_path))


def test_orc_avro_and_text_files(tmp_path: Path) -> None:
    import fastavro

    (tmp_path / "orc").mkdir()
    orc.write_table(pa.table({"id": [1, 2, 3]}), tmp_path / "orc/000000_0")
    (tmp_path / "avro").mkdir()
    schema = {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "a", "type": ["null", "long"]},
            {"name": "d", "type": {"type": "int", "logicalType": "date"}},
        ],
    }
    with (tmp_path / "avro/000000_0").open("wb") as file:
        fastavro.writer(file, schema, [{"a": 1, "d": datetime.date(2024, 1, 1)}] * 4)
    touch(tmp_path / "text/000000_0", b"1\x01a\n2\x01b\n")
    counted = {}
    for name in ("orc", "avro", "text"):
        table = ll.open(tmp_path / name)
        file = table.files[0]
        counted[name] = (file.file_format, file.record_count, file.preview(1).num_rows)
        assert not [f for f in table.findings if f.severity == "error"]
    assert counted == {"orc": ("orc", 3, 1), "avro": ("avro", 4, 1), "text": ("text", None, 1)}
    assert ll.open(tmp_path / "avro").schema.field("d").type == "date"
    assert ll.open(tmp_path / "text").files[0].preview().to_pydict() == {"line": ["1\x01a", "2\x01b"]}
    with pytest.raises(Unsupported, match="no footer"):
        _ = ll.open(tmp_path / "text").files[0].footer


def test_compressed_text_is_previewed(tmp_path: Path) -> None:
    import bz2
    import gzip

    touch(tmp_path / "000000_0.gz", gzip.compress(b"1,a\n2,b\n"))
    touch(tmp_path / "000001_0.bz2", bz2.compress(b"3,c\n"))
    files = list(ll.open(tmp_path).files)
    assert [f.preview().to_pydict()["line"] for f in files] == [["1,a", "2,b"], ["3,c"]]


def test_listing_is_the_only_state(tmp_path: Path) -> None:
    path = write(tmp_path / "000000_0", rows=2)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    table = ll.open(tmp_path)
    assert len(table.snapshots) == 0
    assert len(table.refs) == 0
    assert table.current.id is None
    assert table.current.operation is None
    assert table.current.committed_at == datetime.datetime.fromtimestamp(1_700_000_000, datetime.UTC)
    assert table.current.manifest_lists == ()
    assert table.current.changes.summary["added_rows"] == 2
    assert table.snapshot(None) is table.current
    assert table.properties == {}
    assert table.metadata == {}
    write(tmp_path / "000001_0")
    assert len(table.files) == 1  # a table is a state; open it again for the next one
    assert len(list(table.list_files())) == 2
    assert len(ll.open(tmp_path).files) == 2


def test_columns_are_spelled_as_the_metastore_spells_them(tmp_path: Path) -> None:
    write(tmp_path / "000000_0", Name=["a"])
    facts = {"columns": [{"name": "id", "type": "bigint"}, {"name": "name", "type": "string"}]}
    table = open_in_store(LocalStore(), str(tmp_path), format="hive", catalog=facts)
    assert table.files[0].bounds["name"].lower == "a"
    assert table.files.to_arrow()["lower_bounds"].to_pylist() == [{"id": 0, "name": "a"}]


def test_few_footers_are_kept_and_findings_are_not_repeated(tmp_path: Path) -> None:
    for number in range(205):
        write(tmp_path / f"{number:06d}_0")
    touch(tmp_path / "000300_0.parquet", b"PAR1 damaged")
    table = ll.open(tmp_path)
    assert table.files.record_count == 205
    read = table.reads.requests
    assert table.files.record_count == 205
    assert table.reads.requests == read
    _ = [(file.columns, file.bounds) for file in table.files]
    assert [f.severity for f in table.findings] == ["error"]
