"""The tables that ship with the package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import html5lib
import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing
from lakelens.model.table import Table
from lakelens.model.warehouse.sample import Sample
from lakelens.options import display
from lakelens.samples import Samples
from tests.lakes import make_samples

PACKAGED = Path(ll.__file__).parent / "samples"
NAMES = [one.name for one in ll.sample()]
SOURCES = {choice.name: make_samples.LAKES / choice.source for choice in make_samples.CHOICES}
# what a table has that is worth a finding, and why; any other finding is a mistake
EXPECTED = {
    "iceberg-v4": {"experimental-version"},
    "hive": {"default-partition"},  # a null key is told apart from no value by the name of the directory only
    "iceberg-rewrite": {"dangling-deletes"},  # the rewrite left the delete files where they were
}


def read_archive(path: Path) -> list[tuple[Any, bytes]]:
    with zipfile.ZipFile(path) as archive:
        return [
            ((one.filename, one.date_time, one.external_attr, one.create_system), archive.read(one))
            for one in archive.infolist()
        ]


def read_everything(table: Table) -> None:
    """Look at every snapshot's files with their bounds, and at every footer of the current ones."""
    for snapshot in table.snapshots:
        _ = [file.bounds for file in snapshot.files]
    _ = [file.footer for file in table.files if file.file_format in ("parquet", "orc", "avro")]


# the package holds what the script makes


def test_the_package_holds_exactly_what_the_script_makes(tmp_path: Path) -> None:
    make_samples.main(tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    kept = [path.relative_to(PACKAGED) for path in PACKAGED.rglob("*") if path.is_file()]
    assert made == sorted(path for path in kept if path.suffix in (".zip", ".json"))
    index = "samples.json"
    assert (tmp_path / index).read_bytes() == (PACKAGED / index).read_bytes()
    for name in NAMES:
        path = Path("tables", f"{name}.zip")
        assert read_archive(tmp_path / path) == read_archive(PACKAGED / path)


def test_archives_depend_on_the_table_alone(tmp_path: Path) -> None:
    source = SOURCES["paimon"] / "table"
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    make_samples.pack_table(source, first)
    make_samples.pack_table(source, second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_is_the_engines_table_byte_for_byte(name: str, tmp_path: Path) -> None:
    unpacked = ll.sample()[name].unpack(tmp_path)
    source = SOURCES[name] / "table"
    theirs = {
        path.relative_to(source): path.read_bytes()
        for path in source.rglob("*")
        if path.is_file() and not (path.name.startswith(".") and path.suffix == ".crc")
    }
    ours = {path.relative_to(unpacked): path.read_bytes() for path in unpacked.rglob("*") if path.is_file()}
    assert ours == theirs
    listed = ll.sample()[name]
    assert (listed.files, listed.size_bytes) == (len(ours), sum(map(len, ours.values())))


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_agrees_with_what_the_engine_said(name: str) -> None:
    table = ll.sample(name)
    if table.format == "delta":  # the same at every version: tests/formats/delta
        answers = json.loads((SOURCES[name] / "engine.json").read_text("utf-8"))
        told = [row["operation"] for row in answers["history"]][::-1]
        assert [one.operation for one in table.snapshots] == told
        for detail in answers.get("detail", ()):
            assert (len(table.files), table.files.size_bytes) == (detail["numFiles"], detail["sizeInBytes"])
        return
    answers = json.loads((SOURCES[name] / "answers.json").read_text("utf-8"))
    if table.format == "hive":
        counts = [file.record_count for file in table.files]
        # lines of text are not counted: nothing tells how many there are
        assert counts == [None] * len(counts) if name == "hive-text" else sum(counts) == answers["row_count"]
        return
    assert [s.id for s in table.snapshots] == [row["snapshot_id"] for row in answers["snapshots"]]
    if table.format == "iceberg":
        theirs = sorted((row["file_path"], row["record_count"]) for row in answers["files"])
        assert sorted((f.recorded_path, f.record_count) for f in table.files) == theirs
        assert {r.name: r.snapshot_id for r in table.refs} == {
            row["name"]: row["snapshot_id"] for row in answers["refs"]
        }
        return
    assert {schema.id for schema in table.schemas} == {row["schema_id"] for row in answers["schemas"]}
    assert {row["tag_name"] for row in answers["tags"]} == {tag.name for tag in table.refs.tags}
    if name == "paimon-evolution":
        assert "NullPointerException" in answers["files"]["error"]  # the engine cannot list these files
        return
    theirs = {Path(row["file_path"]).name for row in answers["files"]}
    ours = {Path(f.path).name for f in table.files}
    # with deletion vectors the engine's view leaves out level 0
    assert theirs <= ours
    assert ours - theirs == {Path(f.path).name for f in table.files if f.level == 0 and theirs} - theirs


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_opens_whole_and_sound(name: str) -> None:
    table = ll.sample(name)
    assert table.format == ll.sample()[name].format
    assert len(table.files) > 0
    read_everything(table)
    assert name == "hive-text" or all(file.record_count is not None for file in table.files)
    for snapshot in table.snapshots:
        data = sum(f.record_count or 0 for f in snapshot.files if f.content == "data")
        # a commit of Delta does not count the rows of its version
        assert snapshot.record_count == (None if table.format == "delta" else data)
    assert table.relocation.unmapped == ()
    assert {found.code for found in table.findings} == EXPECTED.get(name, set())


# the listing


def test_listing_names_every_packaged_table_with_its_story() -> None:
    listed = ll.sample()
    assert isinstance(listed, Samples)
    assert sorted(NAMES) == sorted(path.stem for path in (PACKAGED / "tables").iterdir())
    assert {one.format for one in listed} == {"delta", "hive", "iceberg", "paimon"}
    assert listed["paimon"] == listed[NAMES.index("paimon")]
    assert listed[:2] == (listed[0], listed[1])
    assert repr(listed) == f"<Samples {', '.join(NAMES)}>"
    lines = str(listed).splitlines()
    for one in listed:
        assert [line.split()[0] for line in lines if one.story in line] == [one.name]
        assert one.feature in next(line for line in lines if one.story in line)
    assert len({(one.format, one.feature) for one in listed}) == len(listed)
    with pytest.raises(KeyError):
        _ = listed["nothing"]


def test_every_sample_is_in_the_html_listing_however_few_rows_are_shown() -> None:
    with display.using(max_rows=3):
        markup = ll.sample()._repr_html_()
        tree = html5lib.parseFragment(markup, namespaceHTMLElements=False)
    text = "".join(tree.itertext())
    assert all(one.name in text and one.story in text for one in ll.sample())


@pytest.mark.parametrize("name", NAMES)
def test_the_script_that_made_a_sample_is_kept(name: str) -> None:
    one = ll.sample()[name]
    command, _, script = one.script.partition("\n")
    maker = command[2:].split()[1]
    assert (Path(__file__).parent.parent / maker).is_file()
    case = command.split()[-1].rpartition("/")[2]
    assert SOURCES[name].name.endswith(case)
    folder = (Path(__file__).parent.parent / maker).parent
    sources = "".join(
        path.read_text("utf-8") for path in folder.glob("*Cases.java" if "java" in maker else "*.py")
    )
    assert len(script.splitlines()) > 5
    assert all(line.strip() in sources for line in script.splitlines())
    with display.using(max_text=10_000):
        assert script.strip().splitlines()[-1].strip() in one.to_text(detail=3)


def test_a_sample_shows_hostile_words_escaped() -> None:
    bad = "<script>alert(1)</script>\x1b[31m\u202e"
    one = Sample(bad, bad, bad, bad, bad, 1, 1, ll.sample()[0].opener, ll.sample()[0].unpacker)
    for thing in (one, Samples([one])):
        markup = thing._repr_html_()
        assert "<script>alert" not in markup
        assert "\u202e" not in markup
        assert "\x1b" not in str(thing)
        assert "\u202e" not in str(thing)


# copies


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("icebreg", "iceberg"),
        ("PAIMON", "paimon"),
        ("dynamic", "paimon-dynamic-bucket"),
        ("?", "delta-basic"),
    ],
)
def test_unknown_sample_is_missing_and_near_names_are_told(name: str, near: str) -> None:
    with pytest.raises(Missing) as caught:
        ll.sample(name)
    assert near in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["../iceberg", "/etc/passwd", "iceberg/../hive", ""])
def test_no_other_file_can_be_named(name: str) -> None:
    with pytest.raises(Missing):
        ll.sample(name)


def list_packaged() -> Iterator[tuple[str, bytes]]:
    for path in sorted(PACKAGED.rglob("*.zip")):
        yield path.name, path.read_bytes()


def test_a_sample_is_a_copy_of_its_own() -> None:
    before = list(list_packaged())
    first, second = ll.sample("paimon"), ll.sample("paimon")
    assert first.location != second.location
    assert not Path(first.location).is_relative_to(PACKAGED)
    Path(first.location, "snapshot/LATEST").unlink()
    assert len(ll.sample("paimon").snapshots) == len(second.snapshots)
    assert list(list_packaged()) == before


def test_a_sample_is_unpacked_where_it_is_wanted_and_never_over_something(tmp_path: Path) -> None:
    place = ll.sample()["iceberg"].unpack(tmp_path / "below" / "this")
    assert place == tmp_path / "below" / "this" / "iceberg"
    assert ll.open(place).format == "iceberg"
    with pytest.raises(LakeError, match="something here already"):
        ll.sample()["iceberg"].unpack(str(tmp_path / "below" / "this"))


def test_a_copy_is_gone_when_the_process_ends_and_not_when_a_fork_does() -> None:
    script = """
import os, pathlib, sys
import lakelens as ll
place = ll.sample("hive").location
child = os.fork() if hasattr(os, "fork") else None
if child == 0:
    sys.exit()
if child:
    os.waitpid(child, 0)
print(pathlib.Path(place).exists(), place)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    existed, place = done.stdout.split()
    assert existed == "True"
    assert not Path(place).exists()
    assert not Path(place).parent.exists()


# the wheel


def test_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in PACKAGED.rglob("*.zip")) < 1_000_000


def test_the_wheel_holds_the_samples_below_two_megabytes(tmp_path: Path) -> None:
    root = Path(ll.__file__).parent.parent
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=root,
        check=True,
        capture_output=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "315532800"},
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {one.filename: one.compress_size for one in archive.infolist()}
    ours = {name: size for name, size in packed.items() if name.startswith("lakelens/samples/")}
    assert {name for name in ours if name.endswith(".zip")} == {
        f"lakelens/samples/tables/{name}.zip" for name in NAMES
    }
    assert "lakelens/samples/samples.json" in ours
    assert sum(ours.values()) < 2_000_000


# each story is true


def test_stories_of_hive_are_true() -> None:
    hive = ll.sample("hive")
    assert {file.partition["dt"] for file in hive.files} == {"2024-01-01", "x/y", None}
    assert len({file.write_id for file in hive.files}) == 2
    assert {file.bucket for file in ll.sample("hive-bucketed").files} == {2, 3}
    assert {file.file_format for file in ll.sample("hive-orc").files} == {"orc"}
    assert {file.file_format for file in ll.sample("hive-text").files} == {"text"}


def test_stories_of_iceberg_are_true() -> None:
    def operations(name: str) -> list[str | None]:
        return [s.operation for s in ll.sample(name).snapshots]

    assert operations("iceberg") == ["append", "delete", "delete", "overwrite", "overwrite"]
    assert operations("iceberg-merge-on-read") == operations("iceberg")
    assert operations("iceberg-basic") == ["append"] * 3
    assert operations("iceberg-copy-on-write")[-2:] == ["delete", "overwrite"]
    assert ll.sample("iceberg-copy-on-write").files.record_count == 1
    contents = {
        "iceberg": "deletion_vector",
        "iceberg-merge-on-read": "position_deletes",
        "iceberg-equality-deletes": "equality_deletes",
        "iceberg-upgraded": "deletion_vector",
    }
    for name, content in contents.items():
        assert {file.content for file in ll.sample(name).files} == {"data", content}
    assert (ll.sample("iceberg").format_version, ll.sample("iceberg-upgraded").format_version) == (3, 3)
    evolution = ll.sample("iceberg-evolution")
    assert len({s.schema.id for s in evolution.snapshots}) == len(evolution.snapshots) == 3
    assert {"audit", "first"} <= set(ll.sample("iceberg-branches").refs.keys())
    assert len(ll.sample("iceberg-partition-evolution").specs) == 6
    assert len({file.spec_id for file in ll.sample("iceberg-partition-evolution").files}) > 2
    expired = ll.sample("iceberg-expired")
    assert (len(expired.snapshots), expired.snapshots[0].parent) == (2, None)
    assert expired.snapshots[0].parent_id is not None
    assert operations("iceberg-rewrite")[-1] == "replace"
    assert len(ll.sample("iceberg-rewrite").current.dangling_deletes) > 0
    rollback = ll.sample("iceberg-rollback")
    on_main = {rollback.current.id, *(s.id for s in rollback.current.walk_ancestors())}
    assert len({s.id for s in rollback.snapshots} - on_main) == 2
    assert {"STATISTICS"} <= {one.index_type for one in ll.sample("iceberg-statistics").current.index_files}
    assert len(ll.sample("iceberg-types").schema.fields) > 12


def test_stories_of_delta_are_true() -> None:
    def operations(name: str) -> list[str | None]:
        return [one.operation for one in ll.sample(name).snapshots]

    delta = ll.sample("delta")
    assert operations("delta") == ["CREATE TABLE", "WRITE", "DELETE", "WRITE", "DELETE"]
    assert {index.index_type for index in delta.current.index_files} == {"DELETION_VECTORS"}
    assert [one.role for one in delta.snapshot(3).manifest_lists] == ["checkpoint", "commits"]
    assert operations("delta-basic") == ["CREATE TABLE", *["WRITE"] * 3]
    roles = Counter(file.role for file in ll.sample("delta-change-feed").list_files())
    assert roles["change data"] > 0
    assert {"sidecar"} <= {file.role for file in ll.sample("delta-checkpoints").list_files()}
    mapped = ll.sample("delta-column-mapping")
    assert len(mapped.schemas) > 3 and mapped.properties["delta.columnMapping.mode"] == "name"
    assert operations("delta-copy-on-write")[3:7] == ["DELETE", "UPDATE", "MERGE", "OPTIMIZE"]
    lost = ll.sample("delta-copy-on-write")
    stored = {file.path for file in lost.list_files()}
    assert {file.path for file in lost.files} <= stored
    assert not {file.path for file in lost.snapshot(2).files} <= stored
    restored = ll.sample("delta-restored")
    assert operations("delta-restored") == ["CREATE TABLE", "WRITE", "WRITE", "DELETE", "RESTORE"]
    assert {file.path for file in restored.files} == {file.path for file in restored.snapshot(2).files}
    assert "delta-rs" in str(ll.sample("delta-rs").snapshots[0].engine_info)
    assert len(ll.sample("delta-types").schema.fields) > 18


def test_stories_of_paimon_are_true() -> None:
    assert "COMPACT" in [s.operation for s in ll.sample("paimon").snapshots]
    branched = ll.sample("paimon-branches")
    assert [ref.name for ref in branched.refs.tags] == ["base"]
    assert "audit" in [ref.name for ref in branched.refs.branches]
    assert not ll.sample("paimon-append").schema.identifier_names
    assert len(ll.sample("paimon-append").snapshots) == 2
    assert "blob" in {file.file_format for file in ll.sample("paimon-blob").files}
    assert any(s.changelog_record_count for s in ll.sample("paimon-changelog").snapshots)
    compacted = ll.sample("paimon-compaction")
    assert [s.operation for s in compacted.snapshots] == ["APPEND"] * 3 + ["COMPACT"]
    assert (len(compacted.files), len(compacted.snapshots[-2].files)) == (1, 3)
    for name, kind in (
        ("paimon-deletion-vectors", "DELETION_VECTORS"),
        ("paimon-dynamic-bucket", "HASH"),
        ("paimon-global-index", "btree"),
    ):
        assert {one.index_type for one in ll.sample(name).current.index_files} == {kind}
    assert len(ll.sample("paimon-evolution").schemas) > 3
    assert ll.sample("paimon-expired").snapshots[0].id > 1
    assert all(file.extra_files for file in ll.sample("paimon-file-index").files)
    tags = ll.sample("paimon-tags")
    kept = {s.id for s in tags.snapshots}
    assert len(tags.refs.tags) == 2
    assert not {tag.snapshot_id for tag in tags.refs.tags} & kept
