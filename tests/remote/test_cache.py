"""What never changes is kept for the next session, is never believed blindly, and costs nothing where it cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import lakelens as ll
from lakelens import options
from lakelens.formats.registry import find_rule, get_format
from lakelens.io.cache import CacheFolder, find_identity
from lakelens.io.memory import MemoryStore
from lakelens.io.store import ObjectInfo
from lakelens.model.table import Table
from lakelens.opening import open_in_store
from tests.support.far import Bucket


class FarStore(MemoryStore):
    """Objects behind a network, each with a mark of what it holds; what was read is noted."""

    scheme = "s3"
    identity = "s3 here"

    def __init__(self, objects: dict[str, bytes]) -> None:
        super().__init__(objects)
        self.objects = objects
        self.asked: list[tuple[str, str]] = []

    def info(self, path: str) -> ObjectInfo:
        found = super().info(path)
        return found if found.is_dir else replace(found, mark=str(hash(self.read_quietly(path))))

    def list(self, path: str) -> list[ObjectInfo]:
        self.asked.append(("list", path))
        return super().list(path)

    def read_quietly(self, path: str) -> bytes:
        return super().read(path)

    def read(self, path: str) -> bytes:
        self.asked.append(("read", path))
        return super().read(path)

    @property
    def names_read(self) -> set[str]:
        return {path.rsplit("/", 1)[-1] for verb, path in self.asked if verb == "read"}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    options.cache_dir = tmp_path / "cache"
    yield tmp_path / "cache"
    options.cache_dir, options.cache_bytes = None, 1 << 30


def load(name: str) -> dict[str, bytes]:
    root = ll.sample()[name].unpack()
    return {f"/w/t/{p.relative_to(root)}": p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def look(objects: dict[str, bytes]) -> tuple[Table, FarStore, str]:
    store = FarStore(objects)
    table = open_in_store(store, "/w/t")
    return table, store, "".join(table.to_text(3).split("Read:")[0])


HINTS = {"version-hint.text", "LATEST", "EARLIEST", "_last_checkpoint"}


@pytest.mark.parametrize("name", ["iceberg", "paimon-compaction"])
def test_a_second_look_costs_hints_and_listings_alone(cache: Path, name: str) -> None:
    objects = load(name)
    first, store, _ = look(objects)
    assert store.names_read - HINTS, "documents are read at first"
    again, store, _ = look(objects)
    assert store.names_read <= HINTS
    assert [one.id for one in again.snapshots] == [one.id for one in first.snapshots]
    assert again.reads.paths, (
        "what was taken from the directory was read all the same: its folders are looked at"
    )
    assert again.reads.requests < first.reads.requests and again.reads.waves <= first.reads.waves


def test_nothing_is_kept_unless_asked_for(tmp_path: Path) -> None:
    objects = load("iceberg")
    assert options.cache_dir is None
    look(objects)
    assert look(objects)[1].names_read


@pytest.mark.parametrize("name", ["iceberg", "paimon"])
def test_nothing_mutable_is_kept(name: str) -> None:
    rule = find_rule(get_format(name))
    for path in (
        "metadata/version-hint.text",
        "snapshot/LATEST",
        "snapshot/EARLIEST",
        "tag/tag-a",
        "consumer/consumer-a",
    ):
        assert rule(f"/w/t/{path}") is None and find_rule()(f"/w/t/{path}") is None
    assert find_rule()("/index/schema/schema-1/tag/tag-a") is None, (
        "a pattern is of names at the end of a path"
    )
    assert rule("/index/manifest/t/snapshot/LATEST") is None


def test_a_replaced_document_of_the_same_size_is_another_one(cache: Path) -> None:
    objects = load("paimon")
    look(objects)
    path = "/w/t/schema/schema-0"
    changed = {
        **objects,
        path: objects[path].replace(b'"name" : "', b'"name" : "', 1).replace(b"id", b"ID", 1),
    }
    assert len(changed[path]) == len(objects[path]) and changed[path] != objects[path]
    store = look(changed)[1]
    assert "schema-0" in store.names_read


def test_a_numbered_name_without_mark_and_time_is_not_kept(cache: Path) -> None:
    class Plain(FarStore):
        def info(self, path: str) -> ObjectInfo:
            return replace(super().info(path), mark=None)

    objects = load("paimon")
    for _ in range(2):
        store = Plain(objects)
        open_in_store(store, "/w/t").to_text()
        assert "schema-0" in store.names_read


def test_another_storage_has_entries_of_its_own(cache: Path) -> None:
    class Elsewhere(FarStore):
        identity = "s3 elsewhere"

    objects = load("iceberg")
    look(objects)
    store = Elsewhere(objects)
    open_in_store(store, "/w/t").to_text()
    assert store.names_read
    unknown = FarStore(objects)
    unknown.identity = None  # type: ignore[assignment]
    open_in_store(unknown, "/w/t").to_text()
    assert unknown.names_read and find_identity(unknown) is None


def spoil(data: bytes, how: str) -> bytes:
    cut = {"empty": 0, "cut": len(data) // 2, "head": 10}
    if how in cut:
        return data[: cut[how]]
    return data[:-1] + bytes([data[-1] ^ 1]) if how == "flipped" else b"\0" * len(data)


@pytest.mark.parametrize("how", ["empty", "cut", "head", "flipped", "foreign", "swapped"])
def test_a_spoilt_entry_is_written_again(cache: Path, how: str) -> None:
    objects = load("paimon-compaction")
    text = look(objects)[2]
    entries = sorted(cache.glob("*.kept"))
    assert entries
    if how == "swapped":
        held = [entry.read_bytes() for entry in entries]
        for entry, data in zip(entries, held[1:] + held[:1], strict=True):
            entry.write_bytes(data)
    else:
        for entry in entries:
            entry.write_bytes(spoil(entry.read_bytes(), how))
    _, store, again = look(objects)
    assert again == text and store.names_read - HINTS
    _, store, again = look(objects)
    assert again == text and store.names_read <= HINTS


def test_where_nothing_can_be_written_the_storage_is_asked(cache: Path) -> None:
    cache.write_bytes(b"a file where the directory should be")
    objects = load("iceberg")
    assert look(objects)[2] == look(objects)[2]


def test_a_full_disk_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lakelens.io.cache.os.fdopen", fail)
    objects = load("iceberg")
    text = look(objects)[2]
    assert not [*cache.glob("*.kept")] and not [*cache.glob("*.new")]
    assert look(objects)[2] == text


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_directory_where_others_write_is_not_believed(cache: Path, mode: int) -> None:
    objects = load("iceberg")
    look(objects)
    cache.chmod(mode)
    assert look(objects)[1].names_read - HINTS
    cache.chmod(0o755)
    assert look(objects)[1].names_read <= HINTS, "to be read by others is no harm"


def test_a_directory_or_an_entry_of_another_user_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CacheFolder(tmp_path / "kept", 1_000)
    folder.put("entry", b"forged")
    assert folder.get("entry") == b"forged"
    me = os.geteuid()
    monkeypatch.setattr("lakelens.io.cache.os.geteuid", lambda: me + 1)
    assert folder.get("entry") is None
    folder.put("another", b"kept")
    monkeypatch.undo()
    assert folder.get("another") is None, "nothing is written there either"
    entry = next(folder.path.iterdir())
    entry.chmod(0o620)
    assert folder.get("entry") is None
    entry.chmod(0o600)
    assert folder.get("entry") == b"forged"


def test_a_link_to_a_directory_or_an_entry_is_not_followed(tmp_path: Path) -> None:
    real = CacheFolder(tmp_path / "real", 1_000)
    real.put("entry", b"forged")
    (tmp_path / "link").symlink_to(real.path)
    assert CacheFolder(tmp_path / "link", 1_000).get("entry") is None
    entry = next(real.path.iterdir())
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert real.get("entry") is None


@pytest.mark.parametrize("kind", ["pipe", "endless", "sparse"])
def test_an_entry_that_is_no_small_file_is_not_read(tmp_path: Path, kind: str) -> None:
    """A pipe is not waited for, `/dev/zero` not read to its end, nor a file that claims two gibibytes."""
    folder = CacheFolder(tmp_path / "kept", 1 << 30)
    folder.put("entry", b"held")
    entry = next(folder.path.iterdir())
    data = entry.read_bytes()
    entry.unlink()
    if kind == "pipe":
        os.mkfifo(entry, 0o600)
    elif kind == "endless":
        entry.symlink_to("/dev/zero")
    else:
        entry.write_bytes(data)
        entry.chmod(0o600)
        os.truncate(entry, 2 << 30)
    tracemalloc.start()
    assert folder.get("entry") is None
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 20
    folder.put("entry", b"held")
    assert folder.get("entry") == b"held"


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "kept", 1_000)
    for number in range(4):
        folder.put(f"f{number}", bytes(200))
        os.utime(
            sorted(folder.path.iterdir(), key=lambda path: path.stat().st_mtime_ns)[-1], (number, number)
        )
    assert folder.get("f0") is not None  # used now
    folder.put("f4", bytes(200))
    assert folder.measure() <= 1_000
    assert folder.get("f0") is not None and folder.get("f4") is not None and folder.get("f1") is None
    folder.put("large", bytes(2_000))
    assert folder.get("large") is None and folder.get("f4") is not None
    folder.clear()
    assert folder.measure() == 0


def test_nothing_is_said_by_names_and_nobody_else_may_look(cache: Path) -> None:
    look(load("iceberg"))
    assert cache.stat().st_mode & 0o777 == 0o700
    for entry in cache.iterdir():
        assert entry.stat().st_mode & 0o077 == 0
        assert len(entry.stem) == 64 and set(entry.stem) <= set("0123456789abcdef")


SCRIPT = """
import json, sys
import lakelens as ll
ll.options.cache_dir = sys.argv[2]
table = ll.open(sys.argv[1], storage_options=json.loads(sys.argv[3]))
print(len(table.to_text(3)), len(table.files))
"""


@pytest.mark.parametrize("name", ["iceberg", "paimon-compaction"])
def test_a_second_process_asks_the_bucket_for_hints_and_listings(
    bucket: Bucket, tmp_path: Path, name: str
) -> None:
    import json

    url = bucket.put(ll.sample()[name].unpack(), f"cache/{name}")
    command = [sys.executable, "-c", SCRIPT, url, str(tmp_path / "cache"), json.dumps(bucket.options)]
    read: list[set[str]] = []
    for _ in range(2):
        bucket.weather.requests.clear()
        subprocess.run(command, check=True, capture_output=True)
        asked = [path for _, path, query in bucket.weather.requests if "list-type" not in query]
        read.append({path.rsplit("/", 1)[-1] for path in asked})
    assert read[0] - HINTS and not read[1] - HINTS
