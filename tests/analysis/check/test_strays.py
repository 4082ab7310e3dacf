"""Missing and orphan files: nothing that an engine knows is listed, and what is taken away is missed where needed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens import options
from lakelens.analysis.check.check import give_first_aid
from lakelens.analysis.check.strays import Strays, find_strays
from lakelens.model.check.references import Referring
from lakelens.model.scan import columnar
from tests.support import LAKES
from tests.support.rewriting import hide_origin

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

LATER = datetime(2040, 1, 1, tzinfo=UTC)
ALL = sorted(path.parent for path in LAKES.glob("*/*/*/answers.json")) + sorted(
    path.parent for path in LAKES.glob("paimon-java/*/answers.json")
)
# of Delta what VACUUM would remove is left over too: tests/formats/delta
TABLES = [path for path in ALL if path.name != "view" and path.parent.parent.name != "delta"]
# what the engine itself left behind, with the number of files
LEFT_BEHIND = {"2.0.0-fast-forward": 4, "2.0.0-rollback": 12, "2.0.0-tag-without-snapshots": 6}


@pytest.fixture(autouse=True)
def gone_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place where the tables were written is gone, also while someone makes them again: readers look there too."""
    hide_origin(monkeypatch)


def name_lake(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


def find(path: Path) -> Strays:
    return find_strays(ll.open(path), now=LATER)


@pytest.mark.parametrize("lake", TABLES, ids=name_lake)
def test_nothing_that_the_engine_names_is_listed(lake: Path) -> None:
    strays = find(lake / "table")
    assert [one.relative_path for one in (*strays.missing, *strays.resized)] == []
    assert strays.unread == () and strays.broken == () and strays.is_certain
    assert strays.whole.count == strays.whole.total
    assert len(strays.orphans) == LEFT_BEHIND.get(lake.name, 0)
    assert len(strays.young) == len(strays.foreign) == 0
    said = (lake / "answers.json").read_text()
    known = {one.relative_path for one in strays.orphans if one.path.rpartition("/")[2] in said}
    assert not known
    if not strays.is_listed:
        assert (0 < strays.referenced <= strays.listed) or "schema-only" in lake.name


def list_needs(lake: Path) -> Iterator[tuple[str, set[int]]]:
    """By file name the snapshots that the engine says it is live in."""
    answers = json.loads((lake / "answers.json").read_text())
    at = answers.get("files_at") or answers.get("files_by_snapshot")
    needs: dict[str, set[int]] = {}
    for number, files in at.items():
        for file in files:
            needs.setdefault(file["file_path"].rpartition("/")[2], set()).add(int(number))
    yield from needs.items()


LIVE = [
    *(
        "spark/iceberg/v1-copy-on-write",
        "spark/iceberg/v2-branches-and-tags",
        "spark/iceberg/v2-merge-on-read",
    ),
    *("spark/iceberg/v3-deletion-vectors", "spark/iceberg/v2-rollback", "spark/iceberg/v2-expired"),
    *(
        "spark/paimon/pk-compacted",
        "spark/paimon/expired",
        "spark/paimon/overwrite",
        "spark/paimon/append-compacted",
    ),
    *("paimon-java/2.0.0-pk-level-upgrade", "paimon-java/2.0.0-expiry", "paimon-java/2.0.0-manifest-merged"),
]


@pytest.mark.parametrize("name", LIVE)
@pytest.mark.parametrize("fast", [False, True], ids=["entries", "columns"])
def test_a_lost_file_is_missed_by_the_snapshots_that_need_it(
    name: str, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar.ColumnarScan, "fast", fast)
    lake, place = LAKES / name, tmp_path / "table"
    shutil.copytree(lake / "table", place)
    needs = dict(list_needs(lake))
    by_name = {path.name: path for path in place.rglob("*") if path.is_file()}
    lost = [file for file in sorted(needs) if file in by_name][:6]
    assert lost
    for file in lost:
        by_name[file].unlink()
    strays = find(place)
    missed = {one.relative_path.rpartition("/")[2]: set(one.snapshots) for one in strays.missing}
    known = {keeper.id for keeper in Referring.of(ll.open(place)).list_keepers()}
    assert missed == {file: needs[file] & known for file in lost}
    assert all(one.size_bytes > 0 and one.reason == "it is not there" for one in strays.missing)
    broken = set().union(*missed.values())
    assert {state.keeper.id for state in strays.broken} == broken
    newest = strays.whole.snapshot
    assert newest is None or newest.id not in broken
    assert strays.is_certain  # the entries are all read: only rows are lost


def test_first_aid_says_what_to_read(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(LAKES / "spark/iceberg/v2-basic/table", place)
    table = ll.open(place)
    added = next(iter(table.current.changes.added))  # type: ignore[union-attr]
    Path(added.path).unlink()
    table = ll.open(place)
    aid = give_first_aid(table, find_strays(table, now=LATER))
    before = table.snapshots[-2].id
    assert aid.whole is not None and aid.whole.id == before
    assert aid.calls[0] == f"table.snapshot({before})"
    assert eval(aid.calls[0]).id == before  # noqa: S307  the call that is offered works
    assert aid.lost == {table.snapshots[-1].id: 1}
    assert "cannot be read in full" in str(aid) and added.path.rpartition("/")[2] in str(aid)


def test_branches_have_their_own_newest_whole_state(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(LAKES / "spark/iceberg/v2-branches-and-tags/table", place)
    table = ll.open(place)
    main = {file.path for file in table.snapshot("main").files}
    for ref in table.refs.branches:
        only = {file.path for file in table.snapshot(ref.name).files} - main
        if only:
            Path(only.pop()).unlink()
            break
    else:
        pytest.fail("the table has no branch with files of its own")
    whole = find(place).whole
    assert whole.snapshot is not None and whole.snapshot.id == table.snapshot("main").id
    assert whole.is_current
    of_branch = whole.branches[ref.name]
    assert of_branch is None or of_branch.id != table.snapshot(ref.name).id


def copy(name: str, tmp_path: Path) -> Path:
    place = tmp_path / "table"
    shutil.copytree(LAKES / name, place)
    return place


def plant(place: Path, files: dict[str, bytes], age: timedelta = timedelta(days=9)) -> None:
    for relative, data in files.items():
        path = place / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        then = (datetime.now(UTC) - age).timestamp()
        os.utime(path, (then, then))


PLANTED = {
    "spark/iceberg/v2-basic": {
        "data/00000-9-x-00001.parquet": "no live entry",
        "data/00000-9-x-00002-deletes.parquet": "no live entry",
        "metadata/9c12d441-m0.avro": "no manifest list",
        "metadata/snap-77-1-x.avro": "has no snapshot 77",
        "metadata/77-x.stats": "no such statistics",
        "metadata/00000-aaaaaaaa-0000-0000-0000-000000000000.metadata.json": "nor in its log",
        "metadata/9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json": "did not finish",
        "README": "no live entry",
    },
    "spark/paimon/pk-fixed-bucket": {
        "bucket-0/data-9-0.parquet": "no manifest",
        "bucket-0/changelog-9-0.parquet": "no manifest",
        "bucket-0/.data-9-1.parquet.x.tmp": "did not finish",
        "manifest/manifest-9-0": "no manifest list",
        "manifest/manifest-list-9-0": "no snapshot",
        "manifest/index-manifest-9-0": "no snapshot",
        "index/index-9-0": "no index manifest",
        "statistics/stat-9-0": "no snapshot or tag",
        "snapshot/notes": "no snapshot by its name",
    },
    "spark/hive/parquet": {
        "_temporary/0/part-0": "did not finish",
        ".hive-staging_hive_2024-01-01/-ext-10000/000000_0": "did not finish",
        ".x": "hidden",
    },
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_orphans_are_found_with_their_reason(name: str, tmp_path: Path) -> None:
    place = copy(f"{name}/table", tmp_path)
    plant(place, dict.fromkeys(PLANTED[name], b"x" * 7))
    strays = find_strays(ll.open(place))
    by_path = {one.relative_path: one for one in (*strays.orphans, *strays.hidden)}
    assert set(by_path) == set(PLANTED[name])
    for relative, words in PLANTED[name].items():
        assert words in by_path[relative].reason, relative
        assert by_path[relative].size_bytes == 7 and by_path[relative].modified_at is not None
        assert by_path[relative].referenced_by == ()
    assert len(strays.missing) == len(strays.young) == 0


@pytest.mark.parametrize("name", ["spark/iceberg/v2-basic", "spark/paimon/append"])
def test_young_ones_are_listed_apart(name: str, tmp_path: Path) -> None:
    place = copy(f"{name}/table", tmp_path)
    folder = "data" if "iceberg" in name else "bucket-0"
    plant(place, {f"{folder}/data-x-0.parquet": b"young"}, timedelta(days=2))
    plant(place, {f"{folder}/data-x-1.parquet": b"old"}, timedelta(days=4))

    def names(files: Any) -> list[str]:
        return [one.relative_path for one in files]

    strays = find_strays(ll.open(place))
    assert names(strays.young) == [f"{folder}/data-x-0.parquet"]
    assert names(strays.orphans) == [f"{folder}/data-x-1.parquet"]
    assert strays.age == timedelta(days=3)
    old = find_strays(ll.open(place), age=timedelta(days=1))
    assert len(old.orphans) == 2 and len(old.young) == 0
    early = find_strays(ll.open(place), now=datetime.now(UTC) - timedelta(days=30))
    assert len(early.orphans) == 0 and len(early.young) == 2
    assert strays.orphans.to_arrow()["path"].to_pylist() == [str(place / folder / "data-x-1.parquet")]


def test_hidden_and_foreign_objects_are_no_orphans(tmp_path: Path) -> None:
    iceberg = copy("spark/iceberg/v2-basic/table", tmp_path / "i")
    plant(iceberg, {"data/.a.crc": b"", "data/_x/y.parquet": b"", ".git/config": b""})
    strays = find_strays(ll.open(iceberg))
    assert len(strays.orphans) == 0 and len(strays.hidden) == 3
    paimon = copy("spark/paimon/append/table", tmp_path / "p")
    plant(
        paimon,
        {"metadata/v1.metadata.json": b"{}", "notes.txt": b"", "bucket-0/.x.crc": b"", "_SUCCESS": b""},
    )
    strays = find_strays(ll.open(paimon))
    assert len(strays.orphans) == 0
    assert {one.relative_path for one in strays.foreign} == {"metadata/v1.metadata.json", "notes.txt"}
    assert [one.relative_path for one in strays.hidden] == ["bucket-0/.x.crc"]


@pytest.mark.parametrize("name", ["spark/iceberg/v2-merge-on-read", "spark/paimon/pk-compacted"])
@pytest.mark.parametrize("how", ["gone", "cut", "garbled"])
def test_while_something_is_unread_orphans_are_uncertain(name: str, how: str, tmp_path: Path) -> None:
    place = copy(f"{name}/table", tmp_path)
    table = ll.open(place)
    manifest = Path(table.current.manifests[0].path)  # type: ignore[union-attr]
    users = [s.id for s in table.snapshots if any(m.path == str(manifest) for m in s.manifests)]
    size = manifest.stat().st_size
    if how == "gone":
        manifest.unlink()
    else:
        data = manifest.read_bytes()
        manifest.write_bytes(data[: len(data) // 2] if how == "cut" else b"\x00" * len(data))
    strays = find(place)
    assert not strays.is_certain and "do not remove" in repr(strays)
    assert [one.path for one in strays.unread] == [str(manifest)]
    assert sorted({state.keeper.id for state in strays.broken}) == sorted(users)
    assert strays.whole.snapshot is None or strays.whole.snapshot.id not in users
    if how == "gone":
        (missing,) = strays.missing
        assert (missing.role, missing.size_bytes, sorted(missing.snapshots)) == (
            "manifest",
            size,
            sorted(users),
        )
    elif how == "cut":
        (resized,) = strays.resized
        assert (resized.recorded_bytes, resized.size_bytes) == (size, size // 2)


@pytest.mark.parametrize("name", ["spark/iceberg/v2-basic", "spark/paimon/append", "spark/iceberg/v1-basic"])
def test_a_lost_manifest_list_makes_orphans_uncertain(name: str, tmp_path: Path) -> None:
    place = copy(f"{name}/table", tmp_path)
    snapshot = ll.open(place).snapshots[0]
    path = Path(str(snapshot.manifest_lists[0].path))
    path.unlink()
    strays = find(place)
    assert not strays.is_certain
    assert [one.path for one in strays.missing] == [str(path)]
    assert strays.missing[0].snapshots == (snapshot.id,)
    assert strays.missing[0].role.startswith("manifest list")


@pytest.mark.parametrize("kind", ["snapshot/snapshot-", "tag/tag-"])
def test_an_unreadable_paimon_document_makes_orphans_uncertain(kind: str, tmp_path: Path) -> None:
    place = copy("spark/paimon/tags/table", tmp_path)
    document = sorted(place.glob(f"{kind}*"))[0]
    document.write_text("{")
    strays = find(place)
    assert not strays.is_certain
    assert [Path(one.path).name for one in strays.unread] == [document.name]
    assert len(strays.missing) == 0


def test_a_file_of_another_length_is_no_whole_file(tmp_path: Path) -> None:
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    file = ll.open(place).files[0]
    data = Path(file.path).read_bytes()
    Path(file.path).write_bytes(data[:-10])
    strays = find(place)
    (resized,) = strays.resized
    assert (resized.path, resized.recorded_bytes, resized.size_bytes) == (
        file.path,
        len(data),
        len(data) - 10,
    )
    assert resized.reason == f"recorded with {len(data):,} bytes"
    assert all(state.resized == 1 and state.missing == 0 for state in strays.broken)
    assert len(strays.broken) == len(resized.snapshots) > 0


def test_a_directory_that_may_not_be_listed_is_no_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakelens.errors import AccessDenied
    from lakelens.io.local import LocalStore

    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    listed = LocalStore.list

    def refuse(self: LocalStore, path: str) -> Any:
        if path == str(place / "data"):
            raise AccessDenied("the storage denied access", path=path)
        return listed(self, path)

    monkeypatch.setattr(LocalStore, "list", refuse)
    strays = find(place)
    assert len(strays.missing) == 0 and not strays.is_certain
    assert [one.path for one in strays.unread] == [str(place / "data")]


@pytest.mark.parametrize(
    ("recorded", "spelled"),
    [
        ("s3://bucket/wh/t", "s3a://bucket/wh/t"),
        ("s3a://bucket/wh/t", "s3n://bucket/wh/t"),
        ("file:/wh/t", "file:///wh/t"),
        ("/wh/t", "file://localhost/wh/t"),
        ("abfss://c@a.dfs.core.windows.net/wh/t", "abfs://c@a.dfs.core.windows.net/wh/t"),
    ],
)
def test_spellings_of_one_place_are_one_place(recorded: str, spelled: str, tmp_path: Path) -> None:
    from tests.support.iceberg_builder import Builder

    builder = Builder(tmp_path / "t", location=recorded)
    file = builder.data_file()
    file["file_path"] = file["file_path"].replace(recorded, spelled)
    line = builder.manifest([file])
    line["manifest_path"] = line["manifest_path"].replace(recorded, spelled)
    builder.snapshot([line])
    builder.write_metadata()
    strays = find(builder.root)
    assert (len(strays.missing), len(strays.orphans), strays.is_certain) == (0, 0, True)


def test_entries_that_removed_a_file_do_not_keep_it(tmp_path: Path) -> None:
    """An Iceberg entry that says who removed a file is history: without an older snapshot the file is an orphan."""
    from tests.support.iceberg_builder import Builder

    builder = Builder(tmp_path / "t")
    kept, removed = builder.data_file(), builder.data_file()
    entries = [{"status": 1, "snapshot_id": None}, {"status": 2, "snapshot_id": 1, "sequence_number": 1}]
    builder.snapshot([builder.manifest([kept, removed], entries=entries)])
    builder.write_metadata()
    strays = find(builder.root)
    assert [one.relative_path for one in strays.orphans] == ["data/f2.parquet"]
    (tmp_path / "t/data/f2.parquet").unlink()
    assert len(find(builder.root).missing) == 0


def test_a_rival_of_the_current_metadata_makes_orphans_uncertain(tmp_path: Path) -> None:
    """Two documents of the newest number: a lost commit's may be the one that is current, its files no orphans."""
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    newest = sorted((place / "metadata").glob("*.metadata.json"))[-1]
    rival = newest.with_name(newest.name[:6] + "ffffffff-0000-0000-0000-000000000000.metadata.json")
    rival.write_bytes(newest.read_bytes())
    strays = find(place)
    assert not strays.is_certain
    assert {Path(one.path).name for one in strays.unread} < {rival.name, newest.name}
    assert strays.broken == () and strays.whole.count == strays.whole.total
    known = find_strays(ll.open(newest if newest.name in repr(strays.unread) else rival), now=LATER)
    assert known.referenced == strays.referenced


@pytest.mark.parametrize("kind", ["iceberg", "paimon"])
def test_a_long_history_is_folded_as_its_snapshots_see_it(kind: str, tmp_path: Path) -> None:
    """Sixty commits of one file each, merged now and then: a lost file is missed from its commit on."""
    from tests.benchmarks import histories
    from tests.support import growth

    place = tmp_path / "t"
    grow = growth.grow_iceberg if kind == "iceberg" else growth.grow_paimon
    commit = histories.commit_iceberg if kind == "iceberg" else histories.commit_paimon
    commit(grow(place), 60, merge=7)
    table = ll.open(place)
    strays = find(place)
    needs: dict[str, set[int]] = {}
    for snapshot in table.snapshots:
        for file in snapshot.files:
            if not Path(file.path).exists():
                needs.setdefault(file.path, set()).add(snapshot.id or 0)
    assert {one.path: set(one.snapshots) for one in strays.missing} == needs
    assert len(needs) >= 60
    lost = {state.keeper.id: state.missing for state in strays.broken}
    counts: dict[int, int] = {}
    for numbers in needs.values():
        for number in numbers:
            counts[number] = counts.get(number, 0) + 1
    assert lost == counts
    aid = give_first_aid(table, strays)
    assert aid.lost == dict(sorted(counts.items()))


@pytest.mark.parametrize("name", ["spark/iceberg/v2-basic", "spark/paimon/append", "spark/hive/parquet"])
def test_links_are_no_second_place_and_no_circle(name: str, tmp_path: Path) -> None:
    """What a link leads to inside of the table is no orphan under the link's path; circles end."""
    place = copy(f"{name}/table", tmp_path)
    before = find(place)
    folders = [path for path in (place, *place.rglob("*")) if path.is_dir()]
    for folder in folders:
        for number in range(3):
            (folder / f"link{number}").symlink_to(folders[number % len(folders)], target_is_directory=True)
    after = find(place)
    assert [len(after.orphans), len(after.young), len(after.missing)] == [0, 0, 0]
    assert after.listed == before.listed


def test_data_behind_a_link_is_there(tmp_path: Path) -> None:
    """A folder that was moved to another disk, with a link in its place."""
    place = copy("spark/iceberg/v2-basic/table", tmp_path)
    shutil.move(place / "data", tmp_path / "elsewhere")
    (place / "data").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    plant(place, {"data/00000-9-x-00001.parquet": b"x"})
    strays = find(place)
    assert len(strays.missing) == 0
    assert [one.relative_path for one in strays.orphans] == ["data/00000-9-x-00001.parquet"]


def test_packs_of_managed_blobs_are_kept_by_the_files_that_name_them(tmp_path: Path) -> None:
    """A pack is named in the bytes of a `.blobref` beside a data file alone; while one cannot be read, it may name any."""
    import zlib

    from tests.support.rewriting import rewrite_avro

    place = copy("spark/paimon/append/table", tmp_path)
    file = Path(ll.open(place).files[0].path)
    names = ["/was/bucket-0", "pack.managed.blob"]
    body = b"\1\0\0\0\1" + b"".join(len(text).to_bytes(2, "big") + text.encode() for text in names)
    beside = file.with_name(file.name + ".blobref")
    beside.write_bytes(b"PBLR" + body + zlib.crc32(body).to_bytes(4, "big"))
    for name in ("pack.managed.blob", "loose.managed.blob"):
        (file.parent / name).write_bytes(b"x")

    def carry(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            if entry["_FILE"]["_FILE_NAME"] == file.name:
                entry["_FILE"]["_EXTRA_FILES"] = [beside.name]

    sizes = {
        path.name: rewrite_avro(path, carry)
        for path in place.glob("manifest/manifest-*-0")
        if "list" not in path.name
    }

    def note(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            line["_FILE_SIZE"] = sizes[line["_FILE_NAME"]]

    for path in place.glob("manifest/manifest-list-*"):
        rewrite_avro(path, note)
    strays = find(place)
    assert strays.is_certain and len(strays.missing) == 0
    assert [one.path for one in strays.orphans] == [str(file.parent / "loose.managed.blob")]
    (file.parent / "pack.managed.blob").unlink()
    assert [one.role for one in find(place).missing] == ["managed blobs"]
    beside.write_bytes(beside.read_bytes()[:-1])
    assert [one.path for one in find(place).unread] == [str(beside)]


@pytest.mark.parametrize("days", [-1, "3", True, float("nan")])
def test_an_age_that_is_none_is_refused(days: Any) -> None:
    with pytest.raises(ValueError, match="orphan_age must be a number from 0 to 36,500"):
        options.orphan_age = days


def test_files_outside_of_the_table_are_looked_for_in_a_bounded_number_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakelens.formats import access
    from tests.support.iceberg_builder import Builder

    builder = Builder(tmp_path / "t")
    files = []
    for number in range(6):
        file = builder.data_file()
        (tmp_path / f"x{number}").mkdir()
        if number != 1:
            (tmp_path / f"x{number}" / "d.orc").write_bytes(b"x" * file["file_size_in_bytes"])
        files.append(file | {"file_path": str(tmp_path / f"x{number}" / "d.orc")})
    builder.snapshot([builder.manifest(files)])
    builder.write_metadata()
    strays = find(builder.root)
    assert [one.path for one in strays.missing] == [str(tmp_path / "x1/d.orc")]
    assert strays.not_looked_for == ()
    monkeypatch.setattr(access, "_MOST_FOLDERS", 3)
    strays = find(builder.root)
    assert [one.path for one in strays.missing] == [str(tmp_path / "x1/d.orc")]
    assert len(strays.not_looked_for) == 3
