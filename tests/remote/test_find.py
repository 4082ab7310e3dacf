"""`find` in a bucket and in a far warehouse: what it costs, in which order it says it, what it does not do."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import lakelens as ll
from lakelens import options
from lakelens.errors import AccessDenied, LakeError, UnknownName
from lakelens.io.memory import MemoryStore
from lakelens.io.store import ObjectInfo
from lakelens.model.warehouse.catalog import Catalog
from lakelens.walking import TableWalk
from lakelens.warehouse import find_in_store
from tests.support.far import Bucket

KINDS = ("iceberg", "paimon", "hive")


class FarStore:
    """Objects behind a network, each request noted; some directories may not be listed."""

    scheme = "s3"

    def __init__(self, objects: dict[str, bytes], denied: frozenset[str] = frozenset()) -> None:
        self.held, self.denied = MemoryStore(objects), denied
        self.asked: list[tuple[str, str]] = []

    def info(self, path: str) -> ObjectInfo:
        self.asked.append(("info", path))
        return self.held.info(path)

    def list(self, path: str) -> list[ObjectInfo]:
        self.asked.append(("list", path))
        if path in self.denied:
            raise AccessDenied("may not be listed", path=path)
        return self.held.list(path)

    def read(self, path: str) -> bytes:
        self.asked.append(("read", path))
        return self.held.read(path)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        self.asked.append(("read", path))
        return self.held.read_range(path, start, length)


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, bytes]]:
    """The files of one small table of each kind, those that are read to find and to outline it."""
    found = {}
    for kind in KINDS:
        root = ll.sample()[kind].unpack()
        files = [path for path in sorted(root.rglob("*")) if path.is_file()]
        found[kind] = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    return found


def lay_out(tables: dict[str, dict[str, bytes]], count: int, databases: int = 8) -> dict[str, bytes]:
    return {
        f"/w/db{number % databases}.db/{KINDS[number % 3]}_{number:03d}/{name}": data
        for number in range(count)
        for name, data in tables[KINDS[number % 3]].items()
    }


def test_two_hundred_tables_in_few_waves(tables: dict[str, dict[str, bytes]]) -> None:
    store = FarStore(lay_out(tables, 200))
    walk = TableWalk(store, "/w", 4)
    assert len([*walk]) == 209 and walk.done == walk.known == 209
    # root, databases, then of tables a listing and at most four steps, of 64 at a time
    assert walk.counts.waves.count <= 2 + 5 * 4
    assert walk.counts.requests == len(store.asked) <= 3.5 * 209
    counted = len(store.asked)
    catalog = find_in_store(store, "/w")
    assert len(store.asked) == 2 * counted and len(catalog) == 200 and not catalog.problems
    catalog.to_text()
    assert len(store.asked) - 2 * counted <= 200 * 5, "what was read to find a table is not read again"
    assert not [path for verb, path in store.asked if path.endswith(".parquet")]
    listed = [path for verb, path in store.asked[2 * counted :] if verb == "list"]
    assert not [path for path in listed if "hive" in path], "sizes cost listings, and are for those who ask"


def test_plain_directories_cost_one_listing_each() -> None:
    store = FarStore({f"/w/a{one}/b{two}/notes.txt": b"x" for one in range(5) for two in range(4)})
    walk = TableWalk(store, "/w", 4)
    assert len([*walk]) == 26
    assert sorted(store.asked) == sorted(
        [("info", "/w"), *(("list", path) for _, path in store.asked if _ == "list")]
    )
    assert len(store.asked) == 27 and walk.counts.waves.count == 3


def test_connections_bound_what_is_under_way() -> None:
    store = FarStore({f"/w/a{one:03d}/notes.txt": b"x" for one in range(100)})
    before = options.max_connections
    try:
        options.max_connections = 10
        walk = TableWalk(store, "/w", 4)
        assert len([*walk]) == 101 and walk.counts.waves.count == 1 + 10
    finally:
        options.max_connections = before


def test_a_far_catalog_is_the_local_one(tmp_path: Path, tables: dict[str, dict[str, bytes]]) -> None:
    objects = {
        **lay_out(tables, 9, 2),
        "/w/lab/empty/notes.txt": b"x",
        "/w/delta/t/_delta_log/0.json": b"{}",
        "/w/_hidden/t/schema/schema-0": b"{}",
    }
    for path, data in objects.items():
        place = tmp_path / path.strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    near, far = ll.find(tmp_path / "w"), find_in_store(FarStore(objects), "/w")

    def describe(catalog: Catalog) -> list[object]:
        return [
            [(catalog.place(found.path), found.format, found.evidence.reasons) for found in catalog],
            [catalog.place(problem.path) for problem in catalog.problems],
            [catalog.place(folder.path) for folder in catalog.empty_folders],
        ]

    assert describe(near) == describe(far)
    assert [one.path for one in far] == sorted(one.path for one in far)


def test_listing_denied_for_one_directory(tables: dict[str, dict[str, bytes]]) -> None:
    store = FarStore(lay_out(tables, 6, 2), frozenset(["/w/db0.db"]))
    catalog = find_in_store(store, "/w")
    assert [problem.path for problem in catalog.problems] == ["/w/db0.db"]
    assert len(catalog) == 3 and {found.path.split("/")[2] for found in catalog} == {"db1.db"}


def test_the_root_may_be_a_table(tables: dict[str, dict[str, bytes]]) -> None:
    for kind in KINDS:
        store = FarStore({f"/w/{name}": data for name, data in tables[kind].items()})
        (found,) = find_in_store(store, "/w")
        assert (found.path, found.format) == ("/w", kind)
        assert found.open().format == kind


def test_depth_is_a_bound() -> None:
    store = FarStore({"/w/a/b/c/d/notes.txt": b"x"})
    catalog = find_in_store(store, "/w", depth=1)
    assert [path for verb, path in store.asked if verb == "list"] == ["/w", "/w/a"]
    assert [(one.path, one.is_deepest) for one in catalog.empty_folders] == [("/w/a", True)]


def test_tables_come_as_they_are_found(tables: dict[str, dict[str, bytes]]) -> None:
    store = FarStore(
        {**lay_out(tables, 6, 2), **{f"/w/late/a/t/{k}": v for k, v in tables["paimon"].items()}}
    )
    seen: list[tuple[str, int]] = []
    find_in_store(store, "/w", on_found=lambda found: seen.append((found.path, len(store.asked))))
    assert len(seen) == 7 and seen[-1][0] == "/w/late/a/t"
    assert seen[0][1] < len(store.asked), "the first one was said before the last directory was looked at"


def test_an_interrupt_keeps_what_was_found(tables: dict[str, dict[str, bytes]]) -> None:
    def stop(found: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="stopped after 3 of 9"):
        find_in_store(FarStore(lay_out(tables, 6, 2)), "/w", on_found=stop)
    catalog = find_in_store(FarStore(lay_out(tables, 6, 2)), "/w", on_found=stop, may_be_cut=True)
    assert len(catalog) == 1 and catalog[0].open().format == catalog[0].format
    (problem,) = catalog.problems
    assert problem.reason == "stopped after 3 of 9 directories, with 1 table"


def test_an_outline_is_what_was_found_and_opening_asks_again(tables: dict[str, dict[str, bytes]]) -> None:
    objects = {f"/w/t/{name}": data for name, data in tables["paimon"].items()}
    store = FarStore(objects)
    (found,) = find_in_store(store, "/w")
    assert found.is_far and found.outline.snapshot_count == 5
    store.asked.clear()
    found.open()
    assert ("list", "/w/t/snapshot") in store.asked
    store.asked.clear()
    assert found.again().outline == found.outline or found.again().outline.reads != found.outline.reads
    assert ("list", "/w/t/snapshot") in store.asked, "who looks again sees what is there then"


def test_sizes_are_counted_on_request(tables: dict[str, dict[str, bytes]]) -> None:
    store = FarStore(lay_out(tables, 3, 1))
    catalog = find_in_store(store, "/w")
    plain = {found.format: found.outline for found in catalog}
    assert plain["hive"].files is None and plain["hive"].rows is not None and plain["iceberg"].size_bytes
    assert "not counted" in catalog.to_text() and ".measure()" in catalog.to_text()
    measured = {found.format: found.outline for found in catalog.measure()}
    assert measured["hive"].files == 3 and measured["hive"].size_bytes == 1337
    assert measured["paimon"].files == 2 and measured["paimon"].size_bytes == 2395


def test_choosing_and_sorting(tables: dict[str, dict[str, bytes]]) -> None:
    catalog = find_in_store(FarStore(lay_out(tables, 6, 2)), "/w")
    assert [found.name for found in catalog.where(format="iceberg")] == ["db0.iceberg_000", "db1.iceberg_003"]
    assert [found.name for found in catalog.where(name="db1.*", format="hive")] == ["db1.hive_005"]
    assert len(catalog.where("name LIKE 'db0.%' AND format <> 'hive'")) == 2
    assert len(catalog.where(lambda found: found.format == "paimon")) == 2
    assert catalog.sort_by("name", descending=True)[0].name == "db1.paimon_001"
    assert not any(found.is_outlined for found in catalog), "nothing is opened to know names"
    assert len(catalog.where("snapshots > 1")) == 4
    assert [found.format for found in catalog.sort_by("committed_at")][-2:] == ["hive", "hive"]
    assert catalog["db0.db/iceberg_000"] is catalog["db0.iceberg_000"] is catalog["/w/db0.db/iceberg_000"]
    with pytest.raises(UnknownName, match="no table") as missing:
        _ = catalog["db0.iceberg_00"]
    assert "db0.iceberg_000" in str(missing.value)
    for ask in (
        lambda: catalog.where("sise > 1"),
        lambda: catalog.where(nme="x"),
        lambda: catalog.sort_by("sise"),
    ):
        with pytest.raises(LakeError, match="no column"):
            ask()
    with pytest.raises(TypeError, match="condition in SQL"):
        catalog.where(3)  # type: ignore[arg-type]
    assert list(catalog.to_pandas().columns)[:3] == ["name", "format", "path"]
    assert [found.path for found in pickle.loads(pickle.dumps(catalog))] == [found.path for found in catalog]


def test_a_bucket(bucket: Bucket, tables: dict[str, dict[str, bytes]]) -> None:
    for path, data in lay_out(tables, 6, 2).items():
        bucket.client.put_object(Bucket="lake", Key=f"find{path}", Body=data)
    bucket.weather.clear()
    bucket.weather.delay = 0.01
    catalog = ll.find("s3://lake/find/w", storage_options=bucket.options)
    # root, two databases, six tables; two more of an Iceberg and a Hive table each, three of a Paimon one
    assert len(bucket.weather.requests) <= 2 + 2 + 6 + 2 * (3 + 3 + 2) and bucket.weather.together > 1
    assert catalog[0].path == "s3://lake/find/w/db0.db/hive_002"
    bucket.weather.requests.clear()
    text = catalog.to_text()
    assert "s3://lake/find/w" in text and "6 tables" in text
    assert len(bucket.weather.requests) <= 2 * (2 + 5 + 0)
    table = ll.open(catalog["db0.iceberg_000"].path, storage_options=bucket.options)
    assert table.location == catalog["db0.iceberg_000"].path == "s3://lake/find/w/db0.db/iceberg_000"


def test_a_bucket_by_the_command_line(bucket: Bucket, tables: dict[str, dict[str, bytes]]) -> None:
    import json

    from click.testing import CliRunner

    from lakelens.cli.commands import commands

    for name, data in tables["paimon"].items():
        bucket.client.put_object(Bucket="lake", Key=f"line/w/t/{name}", Body=data)
    storage = [
        f"--storage-option={key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in bucket.options.items()
    ]
    shown = CliRunner().invoke(commands, ["find", "s3://lake/line/w", "--no-pager", *storage])
    assert shown.exit_code == 0 and "s3://lake/line/w" in shown.output, shown.output
    exact = CliRunner().invoke(commands, ["find", "s3://lake/line/w", "--json", "--sizes", *storage])
    (found,) = json.loads(exact.stdout)["tables"]
    assert found["path"] == "s3://lake/line/w/t" and found["size_bytes"] == 2395
