"""The verbs that open and find tables, whatever the format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import AccessDenied, LakeError, Missing, NotATable, Unsupported
from lakelens.formats.base import Candidate
from lakelens.formats.registry import detect_format, get_format, load_formats
from lakelens.io.local import LocalStore
from lakelens.io.memory import MemoryStore
from lakelens.model.snapshot import Ref
from lakelens.opening import open_in_store
from lakelens.samples import unpack_table
from tests.support.unpacked import unpack_samples

SAMPLES = unpack_samples()
NAMES = sorted(path.name for path in SAMPLES.iterdir())


def load_into_memory(directory: Path, root: str) -> dict[str, bytes]:
    return {
        f"{root}/{path.relative_to(directory)}": path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def describe(table: Any) -> Any:
    """What must not depend on where or how a table was opened."""
    return (
        table.format,
        table.format_version,
        [s.id for s in table.snapshots],
        table.refs.keys(),
        (table.schema.id, table.schema.fields, table.schema.identifier_names),
        sorted((str(f.partition), f.record_count, f.size_bytes, f.content) for f in table.files),
    )


# what can be opened


@pytest.mark.parametrize("name", NAMES)
def test_path_text_url_and_trailing_slash_open_the_same(name: str) -> None:
    path = SAMPLES / name
    expected = describe(ll.open(path))
    for source in (str(path), f"{path}/", f"file:{path}", f"file://{path}", path):
        assert describe(ll.open(source)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_table_opens_the_same(name: str, tmp_path: Path) -> None:
    expected = describe(ll.open(SAMPLES / name))
    place = tmp_path / "under another" / "name"
    shutil.copytree(SAMPLES / name, place)
    table = ll.open(place)
    assert describe(table) == expected
    assert all(Path(file.path).is_relative_to(place) for file in table.files)
    assert table.relocation.unmapped == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_table_in_memory_opens_the_same(name: str) -> None:
    store = MemoryStore(load_into_memory(SAMPLES / name, "/wh/t"))
    assert describe(open_in_store(store, "/wh/t")) == describe(ll.open(SAMPLES / name))


@pytest.mark.parametrize("name", NAMES)
def test_a_url_of_another_scheme_opens_the_same(name: str) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    for path, data in load_into_memory(SAMPLES / name, f"/opening/{name}").items():
        memory.pipe(path, data)
    assert describe(ll.open(f"memory://opening/{name}")) == describe(ll.open(SAMPLES / name))


@pytest.mark.parametrize("name", NAMES)
def test_naming_the_format_changes_nothing_but_skips_the_others(name: str) -> None:
    table = ll.open(SAMPLES / name)
    assert describe(ll.open(SAMPLES / name, format=table.format)) == describe(table)
    assert describe(ll.open(SAMPLES / name, format=table.format.upper())) == describe(table)


def test_a_metadata_file_opens_that_version() -> None:
    files = sorted((SAMPLES / "iceberg/metadata").glob("*.metadata.json"))
    assert [len(ll.open(file).snapshots) for file in files] == [0, 1, 2, 3, 4, 5]
    by_number = ll.open(SAMPLES / "iceberg", version=2)
    assert len(by_number.snapshots) == 2


def test_a_pyiceberg_table_opens_by_its_metadata_location() -> None:
    last = sorted((SAMPLES / "iceberg/metadata").glob("*.metadata.json"))[-1]
    like = SimpleNamespace(metadata_location=f"file://{last}", io=SimpleNamespace(properties={}))
    assert describe(ll.open(like)) == describe(ll.open(SAMPLES / "iceberg"))


def test_a_branch_opens_on_its_own() -> None:
    table = ll.open(SAMPLES / "paimon-branches", branch="audit")
    main = ll.open(SAMPLES / "paimon-branches")
    assert [f.path for f in table.files] != [f.path for f in main.files]


# what cannot


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(Missing) as caught:
        ll.open(tmp_path / "nothing")
    assert isinstance(caught.value, FileNotFoundError)
    assert "nothing" in str(caught.value)


@pytest.mark.parametrize("source", [None, 7, b"/t", ["/t"]])
def test_what_is_no_source_is_refused(source: Any) -> None:
    with pytest.raises(Unsupported, match="cannot open"):
        ll.open(source)


def test_unknown_format_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="delta, hive, iceberg, paimon"):
        ll.open(tmp_path, format="nosuch")


def test_unknown_scheme_says_what_to_install() -> None:
    with pytest.raises(Unsupported, match="no reader for nosuch"):
        ll.open("nosuch://bucket/t")


def test_an_unrelated_file_is_no_table(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("hello")
    with pytest.raises(NotATable, match="file of 5 bytes"):
        ll.open(file)


def test_an_empty_directory_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotATable, match="the directory is empty"):
        ll.open(tmp_path)


def test_a_refused_directory_says_so(tmp_path: Path) -> None:
    class Refusing(LocalStore):
        def list(self, path: str) -> Any:
            raise AccessDenied("the storage refused to read this", path=path)

    with pytest.raises(AccessDenied) as caught:
        open_in_store(Refusing(), str(tmp_path))
    assert isinstance(caught.value, PermissionError)


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive"])
def test_another_formats_name_is_refused_or_told(name: str) -> None:
    for wrong in {"iceberg", "paimon"} - {name}:
        with pytest.raises(NotATable, match=f"looked for {wrong}"):
            ll.open(SAMPLES / name, format=wrong)


def test_any_directory_of_files_opens_as_hive_when_asked_to() -> None:
    assert ll.open(SAMPLES / "iceberg", format="hive").format == "hive"


# finding formats


def test_formats_are_known_by_name() -> None:
    assert list(load_formats()) == ["delta", "hive", "iceberg", "paimon"]
    for name, found in load_formats().items():
        assert found.name == name
        assert found.looked_for
        assert get_format(name.upper()) is found


@pytest.mark.parametrize("name", NAMES)
def test_detection_is_certain_only_where_it_can_be(name: str) -> None:
    chosen, evidence = detect_format(LocalStore(), str(SAMPLES / name))
    assert evidence.format == chosen.name == name.split("-")[0]
    assert evidence.reasons
    assert (evidence.confidence < 0.5) == (chosen.name == "hive")


def test_a_place_knows_whether_it_was_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Candidate] = []
    original = type(get_format("hive")).detect

    def spy(self: Any, place: Candidate) -> Any:
        seen.append(place)
        return original(self, place)

    monkeypatch.setattr(type(get_format("hive")), "detect", spy)
    ll.open(SAMPLES / "hive")
    ll.open(SAMPLES / "hive", format="hive")
    assert [place.forced for place in seen] == [False, True]


def test_a_log_beside_iceberg_metadata_is_a_delta_table_first(tmp_path: Path) -> None:
    """Iceberg's metadata mirrors one version of it; asked for, it is opened."""
    shutil.copytree(SAMPLES / "iceberg", tmp_path / "t")
    (tmp_path / "t/_delta_log").mkdir()
    (tmp_path / "t/_delta_log/00000000000000000000.json").write_text("{}")
    assert ll.open(tmp_path / "t").format == "delta"
    assert ll.open(tmp_path / "t").evidence.others == ("iceberg",)
    assert describe(ll.open(tmp_path / "t", format="iceberg")) == describe(ll.open(SAMPLES / "iceberg"))


# find


def test_find_lists_a_warehouse(tmp_path: Path) -> None:
    for name in NAMES:
        shutil.copytree(SAMPLES / name, tmp_path / "shop.db" / name)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/readme.md").write_text("x")
    (tmp_path / "shop.db/_hidden/t").mkdir(parents=True)
    found = ll.find(tmp_path)
    assert [one.name for one in found] == [f"shop.{name}" for name in NAMES]
    assert {one.format for one in found} == {"delta", "hive", "iceberg", "paimon"}
    assert found.problems == ()
    for name in NAMES:
        one = found[f"shop.{name}"]
        assert found[name] is one
        assert describe(one.open()) == describe(ll.open(SAMPLES / name))
    with pytest.raises(KeyError):
        _ = found["nothing"]
    assert repr(found) == f"<Catalog {len(NAMES)} tables>"


def test_find_does_not_go_deeper_than_told(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "paimon", tmp_path / "a/b/c/t")
    assert len(ll.find(tmp_path, depth=3)) == 0
    assert len(ll.find(tmp_path, depth=4)) == 1


def test_find_goes_on_past_what_cannot_be_read(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "paimon", tmp_path / "good")
    shutil.copytree(SAMPLES / "iceberg", tmp_path / "bad")
    for file in (tmp_path / "bad/metadata").glob("*.metadata.json"):
        file.write_text("{")
    (tmp_path / "hudi/.hoodie").mkdir(parents=True)
    found = ll.find(tmp_path)
    assert "good" in [one.name for one in found]
    assert any("Hudi" in str(problem) for problem in found.problems)
    for one in found:
        if one.name == "bad":
            with pytest.raises(LakeError):
                one.open()


def test_find_of_nothing(tmp_path: Path) -> None:
    assert list(ll.find(tmp_path)) == []


def test_a_text_that_is_no_unicode_is_damage_of_its_document(tmp_path: Path) -> None:
    table = Path(unpack_table("paimon", tmp_path))
    for path in (table / "snapshot").glob("snapshot-*"):
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document | {"deltaRecordCount": "\ud800"}))
    opened = ll.open(table)
    assert opened.to_text()
    assert any("no Unicode" in finding.message for finding in opened.findings)


def test_a_tag_may_be_kept_for_any_number_of_milliseconds() -> None:
    kept = Ref("v1", "tag", 1, max_ref_age_ms=10**999, max_snapshot_age_ms=10**998, min_snapshots_to_keep=1)
    assert "1.157e+991 days" in kept.to_text() and "1.157e+990 days" in kept.to_text()
