"""A frozen store tells of its moment only: from its listing, from what it kept, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import AccessDenied, Missing
from lakelens.io.local import LocalStore
from lakelens.io.memory import MemoryStore, SnapshotStore
from lakelens.io.remote.store import FsspecStore
from lakelens.io.store import ObjectInfo, walk


def make(tmp_path: Path) -> SnapshotStore:
    (tmp_path / "t/a").mkdir(parents=True)
    (tmp_path / "t/a/one").write_bytes(b"11111")
    (tmp_path / "t/two").write_bytes(b"22")
    return SnapshotStore(LocalStore(), str(tmp_path / "t"))


def test_the_listing_stays(tmp_path: Path) -> None:
    frozen = make(tmp_path)
    told = list(walk(frozen, frozen.root))
    (tmp_path / "t/three").touch()
    (tmp_path / "t/two").unlink()
    frozen.close()
    assert list(walk(frozen, frozen.root)) == told
    assert frozen.info(str(tmp_path / "t/two")).size == 2
    assert frozen.info(str(tmp_path / "t/a")).is_dir and frozen.has_folder(str(tmp_path / "t/a"))
    for path in ("three", "a/none", "none/at/all"):
        with pytest.raises(Missing, match="was not there"):
            frozen.info(str(tmp_path / "t" / path))
    with pytest.raises(Missing, match="was not there"):
        frozen.read(str(tmp_path / "t/three"))


def test_what_was_read_is_kept(tmp_path: Path) -> None:
    frozen, path = make(tmp_path), str(tmp_path / "t/a/one")
    assert frozen.read(path) == b"11111"
    assert frozen.read_range(str(tmp_path / "t/two"), -1, 1) == b"2"
    frozen.close()
    (tmp_path / "t/a/one").unlink()
    (tmp_path / "t/two").unlink()
    assert frozen.read(path) == b"11111" and frozen.read_range(path, -2, 9) == b"11"
    assert frozen.read_range(path, 1, 2) == b"11"
    assert frozen.read_range(str(tmp_path / "t/two"), -1, 1) == b"2"
    with pytest.raises(Missing):
        frozen.read(str(tmp_path / "t/two"))


def test_what_was_rewritten_is_not_told_as_what_it_was(tmp_path: Path) -> None:
    frozen = make(tmp_path)
    frozen.close()
    assert frozen.read(str(tmp_path / "t/two")) == b"22"
    (tmp_path / "t/two").write_bytes(b"other")
    with pytest.raises(Missing, match="was rewritten since"):
        frozen.read(str(tmp_path / "t/two"))


def test_a_root_that_was_not_there_stays_away(tmp_path: Path) -> None:
    frozen = SnapshotStore(LocalStore(), str(tmp_path / "later"))
    (tmp_path / "later").mkdir()
    (tmp_path / "later/x").touch()
    assert frozen.files == {} and not frozen.has_folder(frozen.root)
    for ask in (frozen.list, frozen.info):
        with pytest.raises(Missing):
            ask(frozen.root)
    assert frozen.list(str(tmp_path)), "what lies elsewhere is asked of the store"


def test_a_listing_is_cut() -> None:
    store = MemoryStore({f"/t/{n:03}/x": b"" for n in range(100)})
    frozen = SnapshotStore(store, "/t", limit=120)
    assert frozen.is_cut and len(frozen.files) < 100
    assert frozen.info("/t/099/x").size == 0, "what it does not hold is asked of the store"
    assert not SnapshotStore(store, "/t", limit=1_000).is_cut


class Guarded(MemoryStore):
    """A store with a directory that may not be listed."""

    def list(self, path: str) -> list[ObjectInfo]:
        if path == "/t/secret":
            raise AccessDenied("no", path=path)
        return super().list(path)


def test_what_may_not_be_listed_is_a_problem() -> None:
    frozen = SnapshotStore(Guarded({"/t/secret/x": b"1", "/t/open": b"2"}), "/t", ignore=["skipped"])
    assert list(frozen.files) == ["/t/open"] and len(frozen.problems) == 1
    assert frozen.read("/t/secret/x") == b"1"
    with pytest.raises(AccessDenied):
        frozen.list("/t/secret")


def test_what_is_passed_over_is_asked_of_the_store() -> None:
    frozen = SnapshotStore(MemoryStore({"/t/tmp/x": b"1", "/t/a": b"2"}), "/t", ignore=["tmp"])
    assert list(frozen.files) == ["/t/a"] and [child.name for child in frozen.list("/t")] == ["a"]
    assert frozen.read("/t/tmp/x") == b"1"


def test_listings_that_a_file_system_keeps_are_forgotten() -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    class Caching(MemoryFileSystem):  # type: ignore[misc]
        cachable = False
        store: dict[str, Any] = {}  # noqa: RUF012
        pseudo_dirs = [""]  # noqa: RUF012

        def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
            key = self._strip_protocol(path)
            if key not in self.dircache:
                self.dircache[key] = super().ls(path, detail=detail, **kwargs)
            return self.dircache[key]

        def invalidate_cache(self, path: str | None = None) -> None:
            self.dircache.clear()

    system = Caching()
    system.dircache = {}
    store = FsspecStore(system, "caching")
    system.pipe_file("/t/a", b"1")
    assert set(SnapshotStore(store, "/t").files) == {"/t/a"}
    system.pipe_file("/t/b", b"2")
    assert [info.path for info in store.list("/t")] == ["/t/a"], "the file system does keep listings"
    assert set(SnapshotStore(store, "/t").files) == {"/t/a", "/t/b"}
