"""Manifests in Parquet, as format version 4 has them: fields by id, damage, what the draft may add, bytes, large ones."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.codecs.parquet import records as parquet_records
from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.parquet.records import encode_records
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.iceberg.manifests.containers import (
    ParquetHeader,
    ParquetRecords,
    decode_head,
    iterate_records,
)
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.io.local import LocalStore
from lakelens.opening import open_in_store, open_table
from tests.support import LAKES
from tests.support.scans import assert_same_files, build_recorded, read_columnar

LAKE = LAKES / "spark/iceberg/v4-types/table"
MIXED = LAKES / "spark/iceberg/v4-evolution/table"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A copy whose one manifest a test may write anew."""
    return shutil.copytree(LAKE, tmp_path / "table")


def find_manifest(lake: Path) -> Path:
    (path,) = (lake / "metadata").glob("*-m0.parquet")
    return path


def open_copy(lake: Path) -> IcebergTable:
    table = open_table(lake)
    assert isinstance(table, IcebergTable) and table.current is not None
    return table


def rewrite(lake: Path, change: Callable[[dict[str, Any], list[Any]], Any], times: int = 1) -> Path:
    """Write the manifest again with another schema or other records."""
    path = find_manifest(lake)
    data = path.read_bytes()
    header = decode_head(data, str(path))
    assert isinstance(header, ParquetHeader)
    schema = dict(header.schema)
    schema["fields"] = [dict(field) for field in schema["fields"]]
    found = [dict(one) for one in iterate_records(data, str(path), header)] * times
    change(schema, found)
    path.write_bytes(encode_records(schema, found, header.metadata, "gzip"))
    return path


def file_fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of the data file, which may be changed."""
    field = next(one for one in schema["fields"] if one["field-id"] == 2)
    record = {**field["type"], "fields": [dict(one) for one in field["type"]["fields"]]}
    field["type"] = record
    fields: list[dict[str, Any]] = record["fields"]
    return fields


def list_codes(table: IcebergTable, severity: str) -> list[str]:
    return [one.code for one in table.findings if one.severity == severity]


def assert_same_entries(table: IcebergTable) -> None:
    """Every entry of the manifest is that of the manifest as the engine wrote it."""
    ours, theirs = (one.current.manifests[0].entries for one in (table, open_table(LAKE)))  # type: ignore[union-attr]
    assert len(ours) == len(theirs) == 3
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine.status, mine.snapshot_id, mine.sequence_number) == (
            other.status,
            other.snapshot_id,
            other.sequence_number,
        )
        assert dict(mine.file.partition).keys() == dict(other.file.partition).keys()
        assert mine.file.raw["lower_bounds"] == other.file.raw["lower_bounds"]
        assert mine.file.file_path == other.file.file_path


def test_the_table_is_named_experimental_once_and_has_its_files() -> None:
    table = open_copy(LAKE)
    assert len(table.files) == 3 and len(open_copy(LAKE).files.to_arrow()) == 3
    assert [(one.severity, one.code) for one in table.findings] == [("note", "experimental-version")]


def test_both_containers_stand_side_by_side_and_are_known_by_their_magic(tmp_path: Path) -> None:
    table = open_copy(MIXED)
    formats = {m.header["format"] for s in table.snapshots for m in s.manifests}
    assert formats == {"avro", "parquet"}
    copy = shutil.copytree(MIXED, tmp_path / "table")
    for number, path in enumerate(sorted((copy / "metadata").glob("*-m?.*"))):
        path.rename(path.with_name(f"{number}.tmp"))
    names = {path.name for path in (MIXED / "metadata").glob("*-m?.*")}
    for number, name in enumerate(
        sorted(names)
    ):  # each under the name that it had: the other test is the content
        (copy / "metadata" / f"{number}.tmp").rename(copy / "metadata" / name)
    assert [len(s.files) for s in open_copy(copy).snapshots] == [len(s.files) for s in table.snapshots]


def test_an_avro_manifest_of_a_parquet_name_is_avro(lake: Path) -> None:
    avro = next((MIXED / "metadata").glob("optimized-m-*.avro"))
    find_manifest(lake).write_bytes(avro.read_bytes())
    (manifest,) = open_copy(lake).current.manifests  # type: ignore[union-attr]
    assert manifest.header["format"] == "avro" and len(manifest.entries) > 0


def test_fields_are_known_by_their_ids_not_by_their_names(lake: Path) -> None:
    def rename(schema: dict[str, Any], found: list[Any]) -> None:
        inner = file_fields(schema)
        for entry in found:
            file = entry.pop("data_file")
            entry["df"] = {f"x{number}": file[one["name"]] for number, one in enumerate(inner)}
            entry["s"] = entry.pop("status")
        for number, one in enumerate(inner):
            one["name"] = f"x{number}"
        for field in schema["fields"]:
            field["name"] = {0: "s", 2: "df"}.get(field["field-id"], field["name"])

    rewrite(lake, rename)
    table = open_copy(lake)
    assert_same_entries(table)
    assert_same_files(columnar(table), build_recorded(open_copy(LAKE).current, columns=SHOWN))  # type: ignore[arg-type]


SHOWN = (
    "record_count",
    "partition",
    "lower_bounds",
    "upper_bounds",
    "null_counts",
    "first_row_id",
    "content",
)


def columnar(table: IcebergTable, **request: Any) -> pa.Table:
    scan = table.current.scan_files()  # type: ignore[union-attr]
    scan.fast = True
    found = read_columnar(scan, columns=SHOWN, **request)
    assert found is not None
    return found


DRAFT = (
    {"name": "content_stats", "field-id": 146, "type": ["null", {"type": "record", "fields": []}]},
    {"name": "deletion_vector", "field-id": 148, "type": ["null", "bytes"]},
    {"name": "manifest_info", "field-id": 150, "type": ["null", "long"]},
    {"name": "of_tomorrow", "field-id": 9_999, "type": ["null", {"type": "array", "items": "long"}]},
)


def test_what_the_draft_adds_later_is_named_and_changes_nothing(lake: Path) -> None:
    def add(schema: dict[str, Any], found: list[Any]) -> None:
        stats = {"type": "record", "fields": [{"name": "x", "type": ["null", "double"]}]}
        fields = [{**one, "type": ["null", stats]} if one["field-id"] == 146 else one for one in DRAFT]
        file_fields(schema).extend(fields)
        schema["fields"].append({"name": "tracking", "field-id": 147, "type": ["null", "long"]})
        for entry in found:
            entry["data_file"] |= {"content_stats": {"x": 1.5}, "of_tomorrow": [1], "manifest_info": 7}

    rewrite(lake, add)
    table = open_copy(lake)
    assert_same_entries(table)
    assert len(table.files) == columnar(table).num_rows == 3
    (note,) = (one for one in table.findings if one.code == "unknown-field")
    assert note.severity == "note"
    for name in ("tracking (147)", "content_stats (146)", "deletion_vector (148)", "of_tomorrow (9999)"):
        assert name in note.message
    assert table.files[0].raw["of_tomorrow"] == [1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(103, "string"), (104, "double"), (108, "bytes"), (125, "string"), (132, "long"), (102, "long")],
)
def test_a_field_of_another_type_is_an_error_that_names_it_and_hides_nothing_else(
    lake: Path, number: int, kind: str
) -> None:
    values = {"string": "?", "bytes": b"?", "long": 7, "double": 1.5}

    def retype(schema: dict[str, Any], found: list[Any]) -> None:
        field = next(one for one in file_fields(schema) if one["field-id"] == number)
        field["type"] = kind
        for entry in found:
            entry["data_file"] = {**entry["data_file"], field["name"]: values[kind]}

    path = rewrite(lake, retype)
    table = open_copy(lake)
    assert len(table.files) == 3
    (error,) = (one for one in table.findings if one.code == "manifest-field")
    assert (error.severity, error.path) == ("error", str(path)) and f"({number})" in error.message
    assert columnar(table).num_rows == 3


@pytest.mark.parametrize("number", [0, 2, 100])
def test_a_manifest_without_what_every_entry_needs_is_refused(lake: Path, number: int) -> None:
    def drop(schema: dict[str, Any], found: list[Any]) -> None:
        inner = file_fields(schema)
        inner[:] = [one for one in inner if one["field-id"] != number]
        schema["fields"] = [one for one in schema["fields"] if one["field-id"] != number]

    path = rewrite(lake, drop)
    table = open_copy(lake)
    with pytest.raises(Corrupt, match=path.name):
        _ = table.current.manifests[0].entries  # type: ignore[union-attr]
    assert len(table.files) == 0 and {"corrupt", "no-files"} <= set(list_codes(table, "error"))


@pytest.mark.parametrize("number", [0, 100])
def test_a_needed_field_of_another_type_is_refused(lake: Path, number: int) -> None:
    def retype(schema: dict[str, Any], found: list[Any]) -> None:
        for one in (*schema["fields"], *file_fields(schema)):
            if one["field-id"] == number:
                one["type"] = "double"
        for entry in found:
            entry["status"] = 1.0 if number == 0 else entry["status"]
            entry["data_file"] |= {"file_path": 2.0} if number == 100 else {}

    path = rewrite(lake, retype)
    with pytest.raises(Corrupt, match=rf"{path.name}.*\({number}\)"):
        _ = open_copy(lake).current.manifests[0].entries  # type: ignore[union-attr]


def test_two_fields_of_one_name_are_refused(lake: Path) -> None:
    path = rewrite(lake, lambda schema, found: None)
    table = pq.read_table(path)
    pq.write_table(pa.table([table[0], *table.columns], [table.schema.names[0], *table.schema.names]), path)
    with pytest.raises(Corrupt, match=path.name):
        _ = open_copy(lake).current.manifests[0].entries  # type: ignore[union-attr]


def cuts() -> list[tuple[str, Callable[[bytes], bytes]]]:
    return [
        ("empty", lambda data: b""),
        ("magic alone", lambda data: data[:4]),
        ("half", lambda data: data[: len(data) // 2]),
        ("without its end", lambda data: data[:-1]),
        ("first page gone", lambda data: data[:4] + bytes(2_000) + data[2_004:]),
        ("footer of nothing", lambda data: data[:-9_000] + bytes(8_992) + data[-8:]),
    ]


@pytest.mark.parametrize("how", [how for _, how in cuts()], ids=[name for name, _ in cuts()])
def test_a_damaged_manifest_is_one_error_and_never_a_quiet_zero(lake: Path, how: Any) -> None:
    path = find_manifest(lake)
    path.write_bytes(how(path.read_bytes()))
    for fast in (False, True):
        table = open_copy(lake)
        with pytest.raises(LakeError, match=path.name):
            _ = table.current.manifests[0].entries  # type: ignore[union-attr]
        if fast:
            scan = table.current.scan_files()  # type: ignore[union-attr]
            scan.fast = True
            assert not read_columnar(scan, columns=("path",)).num_rows  # type: ignore[union-attr]
        assert len(table.files) == 0
        errors = [one for one in table.findings if one.severity == "error"]
        assert any(path.name in one.path for one in errors)
        (absent,) = (one for one in errors if one.code == "no-files")
        assert "3 data files" in absent.message and absent.snapshots == (table.current.id,)  # type: ignore[union-attr]


def test_a_footer_that_claims_too_much_is_refused_before_anything_is_decoded() -> None:
    sink = io.BytesIO()
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), ["x" * 100_000])
    table = pa.table({"a": text})
    pq.write_table(table, sink, compression="gzip")
    assert len(sink.getvalue()) < 20_000
    with pytest.raises(Corrupt, match="too much for its size"):
        parquet_records.check_claims(sink.getvalue(), decode_footer(sink))
    wide = io.BytesIO()
    pq.write_table(table.slice(0, 10_000), wide, compression="gzip")
    with pytest.raises(Corrupt, match="repeated values"):
        next(parquet_records.iter_plain_tables(wide.getvalue(), decode_footer(wide)))


def test_a_manifest_of_many_batches_is_read_alike_by_every_path(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def number(schema: dict[str, Any], found: list[Any]) -> None:
        for place, entry in enumerate(found):
            file = dict(entry["data_file"])
            found[place] = {**entry, "data_file": {**file, "file_path": f"{file['file_path']}-{place}"}}

    path = rewrite(lake, number, times=20)
    monkeypatch.setattr(parquet_records, "BATCH_ROWS", 7)
    monkeypatch.setattr("lakelens.formats.iceberg.scan.plan.RUN_ROWS", 16)
    table = open_copy(lake)
    recorded = build_recorded(table.current, columns=SHOWN)  # type: ignore[arg-type]
    assert recorded.num_rows == 60
    assert recorded["first_row_id"].to_pylist() == list(range(60))
    assert_same_files(columnar(open_copy(lake)), recorded)
    data = path.read_bytes()
    header = decode_head(data, str(path))
    assert isinstance(header, ParquetHeader)
    alone = ParquetRecords(data, str(path), header)
    assert len(alone) == 60 and [alone[3], alone[58]] == [*iterate_records(data, str(path), header)][3::55]
    with pytest.raises(IndexError):
        _ = alone[60]


def test_locations_without_a_scheme_are_below_the_table(lake: Path) -> None:
    def relate(schema: dict[str, Any], found: list[Any]) -> None:
        for entry in found:
            path = entry["data_file"]["file_path"].partition("/v4_types/")[2]
            entry["data_file"] = {**entry["data_file"], "file_path": path}

    rewrite(lake, relate)
    assert all(Path(file.path).exists() for file in open_copy(lake).files)


def test_the_bytes_of_a_manifest_have_its_meanings() -> None:
    table = open_copy(LAKE)
    view = table.current.manifests[0].bytes_view()  # type: ignore[union-attr]
    view.check()
    (group,) = (part for part in view.iter_children() if part.label == "row group 0")
    columns = {part.label: part for part in group.iter_children()}
    assert "0 EXISTING, 1 ADDED, 2 DELETED" in columns["status"].note
    assert "partition field 1000, b" in columns["data_file.partition.b"].note
    assert "column ids" in columns["data_file.lower_bounds.key_value.key"].note
    bounds = columns["data_file.lower_bounds.key_value.value"]
    values = {
        leaf.note: leaf.value
        for page in bounds.iter_children()
        for part in page.iter_children()
        if part.is_packed
        for leaf in part.unpack()[1].walk()
    }
    assert any("column 2, i" in note for note in values)
    assert {2.5, 9007199254740993, "alpha"} <= {
        v for v in values.values() if isinstance(v, float | int | str)
    }
    path = table.current.manifests[0].path  # type: ignore[union-attr]
    assert ll.explain_file(path).what == "Manifest"


def test_a_skeleton_keeps_the_container_of_each_manifest(tmp_path: Path) -> None:
    table = open_copy(MIXED)
    bare = open_copy(Path(table.skeleton(str(tmp_path / "bare"))))
    for before, after in zip(table.snapshots, bare.snapshots, strict=True):
        assert [m.header["format"] for m in before.manifests] == [m.header["format"] for m in after.manifests]
        assert sorted(f.record_count for f in before.files) == sorted(f.record_count for f in after.files)
    assert set(list_codes(bare, "error")) == set()
    for path in (tmp_path / "bare" / "metadata").glob("*.parquet"):
        ids = {child.metadata[b"PARQUET:field_id"] for child in pq.read_schema(path)}
        assert {b"0", b"2"} <= ids


def test_states_of_other_formats_that_lost_their_files_are_errors_too(tmp_path: Path) -> None:
    paimon = shutil.copytree(LAKES / "spark/paimon/append/table", tmp_path / "paimon")
    for path in (paimon / "manifest").glob("manifest-[!l]*"):
        path.write_bytes(b"")
    shutil.copytree(LAKES / "spark/hive/parquet/table", tmp_path / "hive", ignore=lambda *_: _[1])
    facts = {"properties": {"numFiles": "2"}}
    hive = open_in_store(LocalStore(), str(tmp_path / "hive"), format="hive", catalog=facts)
    for table in (ll.open(paimon), hive):
        assert table.current is not None and len(table.current.files) == 0
        (error,) = (one for one in table.findings if one.code == "no-files")
        assert error.severity == "error" and "no file can be read" in error.message


def test_a_state_that_has_no_files_is_no_error() -> None:
    for case in ("v3-emptied", "v2-no-snapshot", "v1-emptied"):
        table = open_table(LAKES / "spark/iceberg" / case / "table")
        assert len(table.files) == 0 and "no-files" not in [one.code for one in table.findings]
