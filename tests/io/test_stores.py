"""One conformance class that every store passes."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from lakelens import options
from lakelens.errors import AccessDenied, LakeError, Missing
from lakelens.io.border import EnclosedStore
from lakelens.io.local import LocalStore, open_source
from lakelens.io.memory import MemoryStore
from lakelens.io.remote.store import FsspecStore, open_filesystem
from lakelens.io.store import Store, StoreFile, find_info, list_names, walk
from lakelens.io.tracing import TracingStore
from tests.support.far import Weather, make_static, serve

OBJECTS = {
    "t/metadata/v1.json": b"{}",
    "t/data/k=1/f.parquet": b"0123456789",
    "t/data/é +%2F.x": b"x",
    "t/empty": b"",
}


class StoreConformance:
    """What holds for every store; `place` gives the store and the root of `OBJECTS`."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> tuple[Store, str]:
        raise NotImplementedError

    def test_info_of_a_file_and_of_a_directory(self, place):
        store, root = place
        file = store.info(f"{root}/t/data/k=1/f.parquet")
        assert (file.size, file.is_dir, file.name) == (10, False, "f.parquet")
        assert store.info(f"{root}/t/data").is_dir

    def test_list_gives_direct_children_in_order(self, place):
        store, root = place
        children = store.list(f"{root}/t")
        assert [(c.name, c.is_dir) for c in children] == [
            ("data", True),
            ("empty", False),
            ("metadata", True),
        ]
        assert [c.path for c in children] == sorted(c.path for c in children)

    def test_read_whole_and_names_of_every_kind(self, place):
        store, root = place
        for path, data in OBJECTS.items():
            assert store.read(f"{root}/{path}") == data

    @pytest.mark.parametrize(
        ("start", "length", "expected"),
        [(0, 4, b"0123"), (8, 10, b"89"), (-3, 3, b"789"), (-99, 2, b"01"), (5, 0, b""), (50, 5, b"")],
    )
    def test_read_range(self, place, start, length, expected):
        store, root = place
        assert store.read_range(f"{root}/t/data/k=1/f.parquet", start, length) == expected

    @pytest.mark.parametrize("verb", ["info", "list", "read"])
    def test_what_is_not_there_is_missing(self, place, verb):
        store, root = place
        with pytest.raises(Missing) as caught:
            getattr(store, verb)(f"{root}/t/nothing")
        assert "nothing" in str(caught.value)
        assert isinstance(caught.value, FileNotFoundError)

    def test_find_list_names_and_walk(self, place):
        store, root = place
        assert find_info(store, f"{root}/nothing") is None
        assert list_names(store, f"{root}/nothing") == {}
        found = [info.path.removeprefix(root).lstrip("/") for info in walk(store, root) if not info.is_dir]
        assert sorted(found) == sorted(OBJECTS)

    def test_a_handle_reads_like_a_file(self, place):
        store, root = place
        with StoreFile(store, f"{root}/t/data/k=1/f.parquet") as file:
            assert file.seek(-4, io.SEEK_END) == 6
            assert file.read(2) == b"67"
            assert file.tell() == 8
            assert file.read() == b"89"
            assert file.read() == b""


class TestLocalStore(StoreConformance):
    @pytest.fixture
    def place(self, tmp_path):
        for path, data in OBJECTS.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return LocalStore(), str(tmp_path)

    def test_a_link_that_leads_nowhere_is_listed(self, place):
        store, root = place
        Path(f"{root}/t/link").symlink_to(f"{root}/gone")
        assert "link" in list_names(store, f"{root}/t")

    def test_what_is_removed_while_it_is_listed_is_not_there(self, place, monkeypatch):
        store, root = place
        Path(f"{root}/t/link").symlink_to(f"{root}/gone")
        listed, scan = list_names(store, f"{root}/t"), os.scandir

        @contextmanager
        def remove_after(path: str) -> Iterator[list[os.DirEntry[str]]]:
            with scan(path) as children:
                entries = list(children)
            Path(f"{root}/t/empty").unlink()
            yield entries

        monkeypatch.setattr(os, "scandir", remove_after)
        assert list(list_names(store, f"{root}/t")) == [name for name in listed if name != "empty"]

    def test_a_directory_is_no_file(self, place):
        store, root = place
        with pytest.raises(LakeError, match="directory"):
            store.read(f"{root}/t")

    def test_what_may_not_be_read_is_denied(self, place, monkeypatch):
        store, root = place

        def refuse(path: str, flags: int) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(AccessDenied, match="refused"):
            store.read(f"{root}/t/empty")

    def test_a_name_with_a_null_byte_is_an_error_of_the_lake(self, place):
        store, root = place
        with pytest.raises(LakeError):
            store.info(f"{root}/a\0b")

    @pytest.mark.parametrize("read", [lambda s, p: s.read(p), lambda s, p: s.read_range(p, -4, 4)])
    def test_what_may_never_end_is_not_read(self, place, read):
        store, root = place
        os.mkfifo(f"{root}/pipe")
        Path(root, "zeros").symlink_to("/dev/zero")
        for name, kind in (("pipe", "a pipe"), ("zeros", "a device")):
            with pytest.raises(LakeError, match=f"{name}: is {kind}, a file was expected"):
                read(store, f"{root}/{name}")

    def test_a_whole_read_has_a_limit_and_a_range_has_none(self, place):
        store, root = place
        with Path(root, "sparse").open("wb") as file:
            file.truncate(1 << 33)
        with pytest.raises(LakeError, match="8,589,934,592 bytes, at most 2,147,483,648"):
            store.read(f"{root}/sparse")
        assert store.read_range(f"{root}/sparse", -4, 4) == b"\0\0\0\0"

    def test_a_time_out_of_range_hides_nothing(self, place, monkeypatch):
        store, root = place
        status = [*os.stat(f"{root}/t/empty")]
        status[8] = 10**13  # seconds; tmpfs, ZFS and NFS keep such times
        monkeypatch.setattr(os, "stat", lambda path: os.stat_result(status))
        found = store.info(f"{root}/t/empty")
        assert (found.size, found.modified) == (0, None)


class TestMemoryStore(StoreConformance):
    @pytest.fixture
    def place(self):
        return MemoryStore({f"/root/{path}": data for path, data in OBJECTS.items()}), "/root"


class TestFsspecStore(StoreConformance):
    @pytest.fixture
    def place(self):
        import fsspec

        filesystem = fsspec.filesystem("memory")
        for path, data in OBJECTS.items():
            filesystem.pipe(f"/conformance/{path}", data)
        return FsspecStore(filesystem, "memory"), "/conformance"


class TestMemoryAddress(StoreConformance):
    @pytest.fixture
    def place(self):
        import fsspec

        for path, data in OBJECTS.items():
            fsspec.filesystem("memory").pipe(f"/conformance/{path}", data)
        return open_source("memory://conformance")


class FarConformance(StoreConformance):
    """What holds for stores behind a network too; `requests` is the log of what its server was asked."""

    @pytest.fixture
    def requests(self, place) -> list[tuple[str, str, str]]:
        raise NotImplementedError

    def test_each_question_is_one_request(self, place, requests):
        store, root = place
        file = f"{root}/t/data/k=1/f.parquet"
        for question in (
            lambda: store.read(file),
            lambda: store.read_range(file, 2, 3),
            lambda: store.read_range(file, -4, 4),
            lambda: store.read_range(file, 50, 5),
            lambda: store.info(file),
            lambda: store.info(f"{root}/t/data"),
            lambda: store.list(f"{root}/t/data/k=2"),
            lambda: store.info(f"{root}/t/nothing"),
            lambda: store.list(f"{root}/t/nothing"),
            lambda: store.read(f"{root}/t/nothing"),
            lambda: store.read_range(f"{root}/t/nothing", -4, 4),
        ):
            requests.clear()
            with suppress(Missing):
                question()
            assert len(requests) == 1
        requests.clear()
        assert store.read_range(file, 2, 0) == b"" and not requests

    def test_a_pickle_reads_the_same(self, place):
        store, root = place
        again = pickle.loads(pickle.dumps(store))
        assert again.read_range(f"{root}/t/data/k=1/f.parquet", -4, 2) == b"67"
        assert again.list(f"{root}/t") == store.list(f"{root}/t")

    def test_paths_can_be_pasted_back(self, place):
        store, root = place
        for info in store.list(f"{root}/t"):
            assert info.path.startswith(f"{root}/t/") and "://" in info.path


def _ask_for_one_key(environ, _):
    environ["QUERY_STRING"] += "&max-keys=1"


class TestS3(FarConformance):
    """A bucket of moto's server."""

    @pytest.fixture
    def place(self, bucket):
        for path, data in OBJECTS.items():
            bucket.client.put_object(Bucket="lake", Key=f"conformance/{path}", Body=data)
        bucket.client.put_object(Bucket="lake", Key="conformance/t/data/", Body=b"")  # a console's own folder
        return open_source("s3://lake/conformance", bucket.options)

    @pytest.fixture
    def requests(self, bucket):
        return bucket.weather.requests

    def test_the_kind_of_a_place_among_many_neighbours(self, place, bucket):
        store, root = place
        for number in range(12):
            bucket.client.put_object(Bucket="lake", Key=f"conformance/n/k-{number:02}", Body=b"x")
        bucket.client.put_object(Bucket="lake", Key="conformance/n/k/x", Body=b"x")
        assert store.info(f"{root}/n/k").is_dir
        assert store.info(f"{root}/n/k-11").size == 1
        bucket.client.put_object(Bucket="lake", Key="conformance/n/k", Body=b"xyz")
        assert store.info(f"{root}/n/k").size == 3  # an object and a directory at once: an object can be read
        with pytest.raises(Missing):
            store.info(f"{root}/n/k-")

    def test_a_listing_of_several_pages(self, place, bucket):
        store, root = place
        whole = store.list(f"{root}/t")
        bucket.weather.faults.append(_ask_for_one_key)
        assert store.list(f"{root}/t") == whole and len(whole) == 3

    def test_buckets_are_listed(self, place):
        store, _ = place
        assert "s3://lake" in [info.path for info in store.list("s3://")]


class TestHttp(FarConformance):
    """A static server whose directories are pages of links."""

    @pytest.fixture
    def place(self, tmp_path):
        for path, data in OBJECTS.items():
            (tmp_path / "my lake" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "my lake" / path).write_bytes(data)
        self.weather = Weather(make_static(tmp_path))
        with serve(self.weather) as address:
            yield open_source(f"{address}/my%20lake")

    @pytest.fixture
    def requests(self, place):
        return self.weather.requests

    def test_sizes_and_times_are_asked_for(self, place):
        store, root = place
        (found,) = store.list(f"{root}/t/data/k=1")
        assert (found.size, found.modified is None) == (10, False)
        assert store.list(f"{root}/t")[1].size == 0

    def test_a_server_that_knows_no_ranges(self, place):
        self.weather.faults.append(lambda environ, _: environ.pop("HTTP_RANGE", None) and None)
        self.test_read_range(place, -4, 2, b"67")
        self.test_read_range(place, 3, 2, b"34")


class TestZip(StoreConformance):
    @pytest.fixture
    def place(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            for path, data in OBJECTS.items():
                archive.writestr(f"w/{path}", data)
        return open_source(f"zip://w::file://{tmp_path}/x.zip")


class TestTracingStore(TestMemoryStore):
    @pytest.fixture
    def place(self):
        return TracingStore(MemoryStore({f"/root/{path}": data for path, data in OBJECTS.items()})), "/root"

    def test_counts(self, place):
        store, root = place
        store.read(f"{root}/t/data/k=1/f.parquet")
        store.list(f"{root}/t")
        with pytest.raises(Missing):
            store.read(f"{root}/t/nothing")
        assert (store.counts.requests, store.counts.listings, store.counts.bytes) == (3, 1, 10)
        assert store.counts.files == {f"{root}/t/data/k=1/f.parquet"}


class TestEnclosedStore(TestMemoryStore):
    @pytest.fixture
    def place(self):
        objects = {f"/root/{path}": data for path, data in OBJECTS.items()}
        return EnclosedStore(MemoryStore(objects), "/root"), "/root"


class TestEnclosedDisk(StoreConformance):
    """Opened by a link, as a directory for temporary files may be."""

    @pytest.fixture
    def place(self, tmp_path):
        for path, data in OBJECTS.items():
            (tmp_path / "home" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "home" / path).write_bytes(data)
        (tmp_path / "link").symlink_to("home")
        return EnclosedStore(LocalStore(), str(tmp_path / "link")), str(tmp_path / "link")


def test_sources_of_every_kind(tmp_path):
    for source in (
        tmp_path,
        str(tmp_path),
        f"file:{tmp_path}",
        f"file://{tmp_path}/",
        f"file://localhost{tmp_path}",
    ):
        store, path = open_source(source)
        assert (store.scheme, path) == ("file", str(tmp_path))
    store, path = open_source("memory://conformance/t")
    assert (store.scheme, path) == ("memory", "memory://conformance/t")


def test_an_unknown_scheme_says_what_to_install():
    with pytest.raises(LakeError, match="nosuch"):
        open_filesystem("nosuch://bucket/t", None)


class _Refusing:
    """A file system whose client raises what it likes, and says what it was given."""

    def __init__(self, error: Exception, often: int = 9) -> None:
        self.error, self.often, self.asked = error, often, []

    def cat_file(self, path: str, **options: Any) -> bytes:
        self.asked.append(path)
        if len(self.asked) <= self.often:
            raise self.error
        return b"read"

    info = ls = cat_file


@pytest.mark.parametrize(
    "error", [AttributeError("no client"), KeyError("x"), ConnectionRefusedError(111), EOFError()]
)
def test_whatever_a_client_raises_is_an_error_of_the_lake(error, monkeypatch):
    monkeypatch.setattr(options, "retries", 0)
    store = FsspecStore(_Refusing(error), "s3")
    for read in (store.read, store.info, store.list, lambda path: store.read_range(path, 0, 4)):
        with pytest.raises(
            LakeError, match=rf"^s3://bucket/t: .*({type(error).__name__}|connection refused)"
        ) as raised:
            read("bucket/t")
        assert raised.value.__cause__ is None and raised.value.__context__ is None


def test_an_answer_that_is_cut_off_is_asked_for_once_more():
    filesystem = _Refusing(EOFError("cut"), often=1)
    assert FsspecStore(filesystem, "s3").read("bucket/t") == b"read"
    assert filesystem.asked == ["bucket/t", "bucket/t"]


def test_no_error_holds_a_secret(monkeypatch):
    import fsspec

    filesystem = _Refusing(OSError("GET https://me:hunter2@host/t?sig=ab12 with s3cret-s3cret"))
    url, options = "https://me:hunter2@host/t?sig=ab12", {"client_kwargs": {"token": "s3cret-s3cret"}}
    monkeypatch.setattr(fsspec.core, "url_to_fs", lambda url, **options: (filesystem, url))
    store, path = open_filesystem(url, options)
    assert path == "https://host/t"
    with pytest.raises(LakeError) as raised:
        store.read(f"{path}/metadata")
    assert filesystem.asked[0] == "https://me:hunter2@host/t/metadata?sig=ab12"
    said = str(raised.value)
    assert "https://host/t/metadata" in said and "OSError" in said
    assert not any(secret in said for secret in ("hunter2", "ab12", "s3cret"))


def test_no_refusal_of_options_holds_a_secret(monkeypatch):
    import fsspec

    def refuse(url: str, **options: Any) -> None:
        raise TypeError(f"unexpected {options} for {url}")

    monkeypatch.setattr(fsspec.core, "url_to_fs", refuse)
    with pytest.raises(LakeError, match="cannot be opened: TypeError") as raised:
        open_filesystem("s3://KEY1:hunter2@bucket/t", {"secret": "s3cret-s3cret", "anon": False})
    assert not any(secret in str(raised.value) for secret in ("KEY1", "hunter2", "s3cret"))
