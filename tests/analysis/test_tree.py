"""The storage tree says who refers to each object, past damage and duplicates."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroaring import BitMap

import lakelens as ll
from lakelens.analysis.tree import _Merge, build_tree
from lakelens.model.scan import path_index, scan_to_arrow
from lakelens.model.storage import Referrers, StoredFile
from tests.benchmarks import histories
from tests.support import LAKES, growth
from tests.support.fakes import FakeTable

TABLES = [
    "spark/iceberg/v2-merge-on-read",
    "spark/iceberg/v2-branches-and-tags",
    "paimon-java/2.0.0-tags",
    "paimon-java/2.0.0-pk-deletion-vectors",
]


class Listed(FakeTable):
    def list_files(self) -> Iterator[StoredFile]:
        path = self.snapshots[0].manifests[0].path
        yield StoredFile(path, "b/m", 1, "manifest")
        yield StoredFile("loose", "a/loose", 1, "data")
        yield StoredFile("told", "c/told", 1, "data", ("listing of the directory",))
        yield StoredFile("s", "snapshot/snapshot-1", 1, "snapshot")


def test_references_are_named_and_bounded() -> None:
    table = Listed(lambda: "m", snapshots=9)
    by_name = {file.relative_path: file.referenced_by for file in table.tree()}
    assert by_name["b/m"][0] == "snapshot 1 (m)"
    assert by_name["b/m"][-1].startswith("… ")
    assert by_name["a/loose"] == ()
    assert by_name["c/told"] == ("listing of the directory",)
    assert by_name["snapshot/snapshot-1"] == ("found by its name",)


def test_listing_alone_walks_nothing() -> None:
    table = Listed(lambda: "m")
    tree = table.tree(references=False)
    assert len(tree) == 4
    assert all(snapshot.manifest.opened == 0 for snapshot in table.snapshots)  # type: ignore[attr-defined]


def test_limit_is_said() -> None:
    tree = build_tree(Listed(lambda: "m"), limit=2)
    assert (len(tree), tree.truncated) == (2, True)


@pytest.mark.parametrize("name", TABLES)
def test_engine_written_tables_have_no_loose_files(name: str) -> None:
    table = ll.open(LAKES / name / "table")
    tree = table.tree()
    assert len(tree) > 5
    assert [file.relative_path for file in tree if not file.referenced_by] == []
    live = {file.path for file in table.files}
    assert live <= {file.path for file in tree}


class SaidTwice(FakeTable):
    """Its listing names one who refers to the first manifest, the walk names others."""

    def list_files(self) -> Iterator[StoredFile]:
        path = self.snapshots[0].manifests[0].path
        yield StoredFile(path, "b/m", 1, "manifest", ("the catalog", "snapshot 1"))


def test_the_listings_own_referrers_come_first_and_none_twice() -> None:
    (file,) = SaidTwice(lambda: "m", snapshots=2).tree()
    assert file.referenced_by[0] == "the catalog"
    # "snapshot 1" of the listing gives way to the walk's "snapshot 1 (m)"
    assert [name for name in file.referenced_by if name.startswith("snapshot 1")] == ["snapshot 1 (m)"]
    assert len(set(file.referenced_by)) == len(file.referenced_by)


def test_iceberg_metadata_keeps_what_the_listing_knows() -> None:
    tree = ll.open(LAKES / "spark/iceberg/v2-merge-on-read/table").tree()
    metadata = {f.relative_path: f.referenced_by for f in tree if f.relative_path.endswith(".metadata.json")}
    assert sum(names[0] == "the current version" for names in metadata.values()) == 1
    assert sum(names[0] == "metadata log" for names in metadata.values()) == len(metadata) - 1
    data = [f.referenced_by for f in tree if f.role == "data"]
    assert data
    for names in data:  # the snapshots by the listing, then the manifests by the walk
        kinds = [
            "snapshot" if name.startswith("snapshot ") else "manifest" for name in names if "…" not in name
        ]
        assert kinds[0] == "snapshot" and kinds == sorted(kinds, reverse=True)


def test_hive_files_keep_their_listing(tmp_path: Path) -> None:
    for part in ("d=1", "d=2"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "part-00000-x.csv").write_text("1,a\n")
    tree = ll.open(tmp_path, format="hive").tree()
    assert {f.relative_path: f.referenced_by for f in tree} == {
        f"{part}/part-00000-x.csv": (f"listing of {part}",) for part in ("d=1", "d=2")
    }


@pytest.mark.parametrize("name", [*TABLES, "iceberg", "paimon"])
def test_trees_are_the_same_by_column_and_by_entry(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = LAKES / name / "table"
    if not path.exists():  # a history of sixty commits, whose manifests are merged now and then
        path = tmp_path / "grown"
        grow = growth.grow_iceberg if name == "iceberg" else growth.grow_paimon
        commit = histories.commit_iceberg if name == "iceberg" else histories.commit_paimon
        commit(grow(path), 60, merge=7)
        for file in ll.open(path).files:
            Path(file.path).parent.mkdir(parents=True, exist_ok=True)
            Path(file.path).touch()
    found = []
    for least in (0, 10**12):
        monkeypatch.setattr(path_index, "MANY_ENTRIES", least)
        monkeypatch.setattr(scan_to_arrow, "WORTH_BYTES", 0)
        table = ll.open(path)
        found.append([list(table.list_files()), list(table.tree()), list(table.findings)])
    assert found[0] == found[1]
    assert any(file.role == "data" and file.referenced_by for file in found[0][1])


def test_long_lists_of_referrers_are_merged_as_short_ones_are() -> None:
    names = [f"snapshot {number}" for number in range(40)]
    for places in ([], [3], [0, 2, 4, 6, 8, 10, 12], list(range(40))):
        many = Referrers(names, {name: place for place, name in enumerate(names)}, BitMap(places))
        plain = tuple(names[place] for place in places)
        assert many == plain and plain == many and many[1:3] == plain[1:3] and list(many) == list(plain)
        for further in ((), ("m (ADDED)", "m (ADDED)"), ("snapshot 2", "snapshot 5"), ("snapshot 4 (base)",)):
            merged = _Merge()(many, further)
            assert merged == _Merge()(plain, further)
            kept = dict.fromkeys((*plain, *further))
            if "snapshot 4 (base)" in further:
                kept.pop("snapshot 4", None)
            more = (f"… {len(kept) - 5:,} more",) if len(kept) > 5 else ()
            assert merged == (*list(kept)[:5], *more)


@pytest.mark.parametrize("suffix", ["-m0.avro", "snap-"])
def test_damage_leaves_a_tree(tmp_path: Path, suffix: str) -> None:
    shutil.copytree(LAKES / "spark/iceberg/v2-merge-on-read/table", tmp_path / "table")
    damaged = [p for p in (tmp_path / "table/metadata").iterdir() if suffix in p.name and p.suffix == ".avro"]
    for path in damaged:
        path.write_bytes(b"Obj\x01 cut")
    table = ll.open(tmp_path / "table")
    tree = table.tree()
    assert {p.name for p in damaged} <= {f.path.rsplit("/", 1)[-1] for f in tree}
    assert damaged and list(table.findings)
