"""Bytes of other places are read with a finding or not at all, and a table keeps the scheme that it was opened by."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import lakelens as ll
from lakelens.errors import AccessDenied, LakeError
from lakelens.io.border import Border
from lakelens.io.relocation import Locator
from tests.support.iceberg_builder import Builder


def copy(name: str, place: Path) -> Path:
    return Path(ll.sample(name).location).rename(place / name)


def newest(table: Path) -> Path:
    return max(table.glob("metadata/*.metadata.json"))


def edit(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def list_foreign(table: ll.Table) -> list[tuple[str, str]]:
    return [(found.severity, found.path) for found in table.findings if found.code == "foreign-file"]


@pytest.mark.parametrize("recorded", ["../../../../../../etc/passwd", "/{root}/metadata/../../secret"])
def test_a_location_that_climbs_is_refused(tmp_path: Path, recorded: str) -> None:
    table = copy("iceberg", tmp_path)
    (tmp_path / "secret").write_text("s3cret")
    place = recorded.format(root=str(table).strip("/"))
    edit(newest(table), lambda document: document["snapshots"][-1].update({"manifest-list": place}))
    opened = ll.open(table)
    with pytest.raises(LakeError, match=r"leads out of the table"):
        opened.current.manifest_lists[0].bytes_view()
    assert len(opened.files) == 0
    assert any("leads out" in found.message for found in opened.findings)


def test_a_relative_location_is_not_looked_for_where_the_reader_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = copy("iceberg", tmp_path)
    (tmp_path / "elsewhere/lists").mkdir(parents=True)
    shutil.copy(ll.open(table).current.manifest_lists[0].path, tmp_path / "elsewhere/lists/snap.avro")
    edit(
        newest(table), lambda document: document["snapshots"][-1].update({"manifest-list": "lists/snap.avro"})
    )
    monkeypatch.chdir(tmp_path / "elsewhere")
    opened = ll.open(table)
    assert len(opened.files) == 0 and "missing" in [found.code for found in opened.findings]


def test_a_missing_manifest_that_is_read_from_its_recorded_place_is_a_warning(tmp_path: Path) -> None:
    table = copy("iceberg", tmp_path)
    opened = ll.open(table)
    count, listed = len(opened.files), Path(opened.current.manifest_lists[0].path)
    with listed.open("rb") as file:
        reader = fastavro.reader(file)
        schema, records = reader.writer_schema, list(reader)
    gone = Path(opened.current.manifests[0].path)
    former = tmp_path / "former/metadata"
    former.mkdir(parents=True)
    shutil.move(gone, former / gone.name)
    edit(newest(table), lambda document: document.update(location=str(tmp_path / "former")))
    for record in records:
        if record["manifest_path"].endswith(gone.name):
            record["manifest_path"] = str(former / gone.name)
    with listed.open("wb") as file:
        fastavro.writer(file, schema, records)
    again = ll.open(table)
    assert len(again.files) == count
    assert list_foreign(again) == [("warning", str(former))]
    assert again.relocation.unmapped == (str(former / gone.name),)


def test_data_elsewhere_is_a_note_for_each_folder_and_only_when_it_is_read(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "t", location=str(tmp_path / "t"))
    files = [
        builder.data_file(file_path=str(tmp_path / f"other/k={i}/f{j}.parquet"))
        for i in (1, 2)
        for j in (1, 2)
    ]
    for file in files:
        place = Path(file["file_path"])
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_find_parquet(), place)
    builder.snapshot([builder.manifest(files)])
    table = ll.open(builder.write_metadata())
    assert len(table.files) == 4 and list_foreign(table) == []
    for file in table.files:
        assert file.footer is not None
    assert list_foreign(table) == [("note", str(tmp_path / f"other/k={i}")) for i in (1, 2)]


def _find_parquet() -> Path:
    return next(Path(ll.sample("hive").location).rglob("*.parquet"))


def test_links_that_lead_out_are_noted(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/environ").write_text("AWS_SECRET=s3cret")
    paimon = copy("paimon", tmp_path)
    (paimon / "snapshot/LATEST").unlink(missing_ok=True)
    (paimon / "snapshot/LATEST").symlink_to(tmp_path / "secret/environ")
    iceberg = copy("iceberg", tmp_path)
    (iceberg / "metadata/version-hint.text").symlink_to(tmp_path / "secret/environ")
    for table in (ll.open(paimon), ll.open(iceberg)):
        assert len(table.files) > 0
        assert list_foreign(table) == [("note", str(tmp_path / "secret"))]


def test_a_table_behind_a_link_is_at_home(tmp_path: Path) -> None:
    for name in ("iceberg", "paimon", "hive"):
        copy(name, tmp_path)
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / name)
        table = ll.open(tmp_path / "link")
        assert table.to_text(3) and len(table.files) > 0
        assert list_foreign(table) == []


@pytest.mark.parametrize(
    "recorded", ["https://evil/x.avro", "s3://evil/x.avro", "//evil/x.avro", "file:/evil/x.avro"]
)
def test_nothing_is_asked_of_another_host(recorded: str) -> None:
    locator = Locator("https://host/wh/t", ["https://host/was/t"])
    assert locator.locate(recorded) == "https://host/evil/x.avro"
    assert locator.locate("https://host/was/t/data/f") == "https://host/wh/t/data/f"
    assert locator.locate("https://host/else/f") == "https://host/else/f"


def test_at_most_a_hundred_folders_are_reported() -> None:
    found: list[str] = []
    border = Border("bucket/t", "s3", found.append)
    for number in range(300):
        border.note(f"bucket/u/{number}/a")
        border.note(f"bucket/t/{number}/a")
    assert len(found) == 100 and all(folder.startswith("bucket/u/") for folder in found)


class BucketFileSystem(MemoryFileSystem):
    """Objects as of an object store: names begin with the bucket, without a slash."""

    protocol = "lakes"
    root_marker = ""
    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs: list[str] = [""]  # noqa: RUF012
    denied: str | None = None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(str(path).removeprefix("lakes://")).lstrip("/")

    def _name(self, facts: Any) -> Any:
        return {**facts, "name": facts["name"].lstrip("/")}

    def info(self, path: str, **options: Any) -> Any:
        return self._name(super().info(path, **options))

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        return [self._name(facts) for facts in super().ls(path, detail=True, **options)]

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        if self.denied and self.denied in path:
            raise PermissionError(path)
        return super().cat_file(path, start, end, **options)


@pytest.fixture
def bucket() -> Iterator[type[BucketFileSystem]]:
    fsspec.register_implementation("lakes", BucketFileSystem, clobber=True)
    BucketFileSystem.clear_instance_cache()
    yield BucketFileSystem
    BucketFileSystem.store.clear()
    BucketFileSystem.denied = None


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive"])
def test_a_table_of_an_object_store_keeps_its_scheme(name: str, bucket: type[BucketFileSystem]) -> None:
    local = ll.sample(name)
    for path in Path(local.location).rglob("*"):
        if path.is_file():
            relative = path.relative_to(local.location)
            bucket().pipe(f"lakes://bucket/wh/{name}/{relative}", path.read_bytes())
    table = ll.open(f"lakes://bucket/wh/{name}/")
    assert table.location == f"lakes://bucket/wh/{name}"
    paths = [file.path for file in table.files] + [found.path for found in table.list_files()]
    paths += [
        one.path for snapshot in table.snapshots for one in (*snapshot.manifests, *snapshot.manifest_lists)
    ]
    assert len(paths) > 4 and all(path.startswith(table.location + "/") for path in paths), paths
    assert sorted(os.path.relpath(file.path, table.location) for file in table.files) == sorted(
        os.path.relpath(file.path, local.location) for file in local.files
    )
    assert table.check().ok and list_foreign(table) == [] and table.relocation.unmapped == ()
    assert [found.path for found in ll.find("lakes://bucket")] == [table.location]
    assert ll.open(table.location).files.record_count == local.files.record_count
    bucket.denied = paths[0].rpartition("/")[2]
    with pytest.raises(AccessDenied, match=rf"^lakes://bucket/wh/{name}/"):
        ll.open(table.location).files[0].preview()  # the one that is open has kept what it read
    with pytest.raises(LakeError, match=r"^lakes://bucket/nothing"):
        ll.open("lakes://bucket/nothing")


@pytest.mark.parametrize("location", ["lakes://bucket/wh/t", "file:/was/t", "s3a://bucket/wh/t"])
def test_a_moved_table_of_an_object_store(
    location: str, bucket: type[BucketFileSystem], tmp_path: Path
) -> None:
    root = Builder(tmp_path / "t", location=location).one_snapshot()
    for path in root.rglob("*.*"):
        bucket().pipe(f"lakes://bucket/wh/t/{path.relative_to(root)}", path.read_bytes())
    table = ll.open("lakes://bucket/wh/t")
    assert [file.path for file in table.files] == ["lakes://bucket/wh/t/data/f1.parquet"]
    assert table.relocation.is_moved == (location == "file:/was/t")
    assert list_foreign(table) == []
