"""What answers as a store and lies: it leads elsewhere, promises other sizes, drips, and lists without an end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens import options
from lakelens.errors import LakeError
from lakelens.io.border import EnclosedStore
from lakelens.io.local import open_source
from lakelens.io.remote.failures import Failed
from lakelens.io.remote.requests import ListingLimit, measure_body
from lakelens.io.tracing import TracingStore
from tests.support.coroutines import run
from tests.support.far import REGION, Weather, make_static, serve

SECRETS = {"key": "AKIAOURS", "secret": "ours", "token": "our-session-token"}
START = Callable[..., Any]


class Noted:
    """A server that notes the headers of whoever comes, and has nothing."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        self.seen += [str(value) for name, value in environ.items() if name.startswith("HTTP_")]
        start_response("404 Not Found", [("Content-Length", "0")])
        return []


@pytest.fixture
def other() -> Iterator[tuple[str, Noted]]:
    """Another origin."""
    noted = Noted()
    with serve(noted) as address:
        yield address.replace("127.0.0.1", "localhost"), noted


def lead(target: str) -> Callable[..., Any]:
    """Leads everybody to a place; `{path}` is what was asked for."""

    def answer(environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        place = target.format(path=environ["PATH_INFO"])
        start_response("302 Found", [("Location", place), ("Content-Length", "0")])
        return []

    return answer


def send(body: Callable[[], Iterable[bytes]], **headers: str) -> Callable[..., Any]:
    """Answers each GET with a body that is made as it is sent."""

    def answer(environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        start_response("200 OK", [(name.replace("_", "-"), value) for name, value in headers.items()])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else body()

    return answer


def open_bucket(endpoint: str) -> Any:
    client = {"endpoint_url": endpoint, "region_name": REGION}
    return open_source("s3://lake/t", {**SECRETS, "client_kwargs": client})[0]


def list_keys(*, names: int, token: Callable[[int], str], size: str = "1") -> Callable[..., Any]:
    """A bucket of which each page has some names, and another page follows."""
    numbers = itertools.count()

    def answer(environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        number = next(numbers)
        keys = "".join(
            f'<Contents><Key>t/k{number}-{n}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>"a"</ETag>'
            f"<Size>{size}</Size></Contents>"
            for n in range(names)
        )
        follows = (
            f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token(number)}</NextContinuationToken>"
        )
        body = f"<ListBucketResult><Name>lake</Name>{follows}{keys}</ListBucketResult>".encode()
        start_response("200 OK", [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
        return [body]

    return answer


def test_a_web_server_that_leads_elsewhere(other: tuple[str, Noted]) -> None:
    address, noted = other
    with serve(lead(address + "{path}")) as hostile:
        store, root = open_source(f"{hostile}/t", {"headers": {"X-Api-Key": "our-api-key"}})
        for ask in (store.info, store.list, store.read, lambda path: store.read_range(path, 0, 4)):
            with pytest.raises(LakeError, match=f"leads to {address}/t"):
                ask(root)
    assert noted.seen == []


def test_the_explorer_reads_nowhere_else(other: tuple[str, Noted], tmp_path: Path) -> None:
    address, noted = other
    weather = Weather(make_static(tmp_path))
    (tmp_path / "a").write_bytes(b"a")

    def fault(environ: dict[str, Any], start_response: START) -> Iterable[bytes] | None:
        return lead(address + "{path}")(environ, start_response) if "/led" in environ["PATH_INFO"] else None

    weather.faults.append(fault)
    with serve(weather) as hostile:
        store, root = open_source(hostile)
        enclosed = EnclosedStore(store, root)
        assert enclosed.read(f"{root}/a") == b"a"
        with pytest.raises(LakeError, match="leads to"):
            enclosed.read(f"{root}/led")
    assert noted.seen == []


def test_a_redirect_within_the_server_is_followed(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a").write_bytes(b"12345")
    weather = Weather(make_static(tmp_path))
    seen: list[str | None] = []

    def fault(environ: dict[str, Any], start_response: START) -> Iterable[bytes] | None:
        seen.append(environ.get("HTTP_X_API_KEY"))
        if not environ["PATH_INFO"].startswith("/old"):
            return None
        return lead(environ["PATH_INFO"].replace("/old", "/new"))(environ, start_response)

    weather.faults.append(fault)
    with serve(weather) as address:
        store, root = open_source(f"{address}/old", {"headers": {"X-Api-Key": "k"}})
        assert store.read(f"{root}/a") == b"12345" and store.info(f"{root}/a").size == 5
        weather.faults[:] = [lead("/old/a")]
        with pytest.raises(LakeError, match="leads to itself"):
            store.read(f"{root}/a")
    assert set(seen) == {"k"}


def test_a_bucket_that_leads_elsewhere(other: tuple[str, Noted]) -> None:
    address, noted = other
    for status in ("302 Found", "307 Temporary Redirect", "308 Permanent Redirect"):

        def answer(environ: dict[str, Any], start_response: START, status: str = status) -> Iterable[bytes]:
            start_response(status, [("Location", f"{address}/lake"), ("Content-Length", "0")])
            return []

        with serve(answer) as hostile, pytest.raises(LakeError) as raised:
            open_bucket(hostile).read("s3://lake/t/a")
        assert "our-session-token" not in str(raised.value)
    assert noted.seen == []


def test_a_body_that_promises_too_much_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    def body() -> Iterator[bytes]:
        for _ in range(3 << 10):
            sent.append(1)
            yield b"x" * (1 << 20)

    with serve(send(body, Content_Length=str(3 << 30))) as hostile:
        for store, path in (open_source(f"{hostile}/t"), (open_bucket(hostile), "s3://lake/t/a")):
            with pytest.raises(LakeError, match=r"larger than what was promised.*max_document"):
                store.read(path)
    assert len(sent) < 200, "what is in buffers, no more"


@pytest.mark.parametrize("kind", ["http", "s3"])
def test_a_body_without_an_end(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def body() -> Iterator[bytes]:
        while True:
            yield b"x" * 4_096

    with serve(send(body)) as hostile, options.budgets.using(max_document=1 << 16):
        store, path = (
            open_source(f"{hostile}/t") if kind == "http" else (open_bucket(hostile), "s3://lake/t/a")
        )
        with pytest.raises(LakeError, match="more bytes come, at most 65,536 are read"):
            store.read(path)
        assert store.read_range(path, 0, 10) == b"x" * 10 if kind == "http" else True


def test_what_was_promised_is_read(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "manifest").write_bytes(b"x" * 5_000)
    with serve(make_static(tmp_path)) as address, options.budgets.using(max_document=1_024):
        store, root = open_source(f"{address}/t")
        with pytest.raises(LakeError, match=r"5,000 bytes, at most 1,024 are read"):
            store.read(f"{root}/manifest")
        TracingStore(store).expect([(f"{root}/manifest", 5_000)])
        assert len(store.read(f"{root}/manifest")) == 5_000, "a manifest list says so"
        listed, root = open_source(f"{address}/t")
        listed.list(root)
        assert len(listed.read(f"{root}/manifest")) == 5_000, "a listing says so"


@pytest.mark.parametrize("kind", ["http", "s3"])
def test_a_body_that_drips(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise of a terabyte is no reason to wait for two years."""
    import time

    def body() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x"
            time.sleep(0.1)

    monkeypatch.setattr(options, "timeout", 0.5)
    monkeypatch.setattr(options, "retries", 0)
    with serve(send(body, Content_Length=str(10**7))) as hostile:
        store, path = (
            open_source(f"{hostile}/t") if kind == "http" else (open_bucket(hostile), "s3://lake/t/a")
        )
        with pytest.raises(LakeError, match="no whole answer"):
            store.read(path)


@pytest.mark.parametrize(
    ("names", "token", "said"),
    [
        (0, lambda number: f"n{number}", "pages without a name"),
        (1, lambda number: f"n{number}", "pages, after"),
        (3, lambda number: "again", "the same page comes again"),
    ],
)
def test_a_bucket_whose_listing_never_ends(names: int, token: Callable[[int], str], said: str) -> None:
    with serve(list_keys(names=names, token=token)) as hostile:
        store = open_bucket(hostile)
        for ask in (lambda: store.list("s3://lake/t"), lambda: store.list_below("s3://lake/t", 1_000)):
            with pytest.raises(LakeError, match=f"the listing has no end.*{said}"):
                ask()


def test_a_listing_ends_by_its_names_and_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = ListingLimit()
    with pytest.raises(Failed, match="2,001,000 names"):
        for number in range(3_000):
            limit.turn(1_000, str(number))
    monkeypatch.setattr(options, "timeout", 0.001)
    slow = ListingLimit()
    monkeypatch.setattr("lakelens.io.remote.requests.time.monotonic", lambda: float("inf"))
    with pytest.raises(Failed, match="time limit"):
        slow.turn(1_000, "a")


def test_an_answer_of_a_bucket_that_is_larger_than_any_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.io.remote.options.LARGEST_PAGE", 1 << 16)
    with (
        serve(send(lambda: itertools.repeat(b" " * 4_096))) as hostile,
        pytest.raises(LakeError, match="at most 65,536"),
    ):
        open_bucket(hostile).list("s3://lake/t")


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("size", [str(10**19), str(10**400), "-1", str(1 << 51)])
def test_sizes_that_no_object_has(size: str) -> None:
    with serve(list_keys(names=1, token=str, size=size)) as hostile:
        with pytest.raises(LakeError):
            open_bucket(hostile).list_below("s3://lake/t", 1)
        with pytest.raises(LakeError):
            ll.open("s3://lake/t", storage_options={**SECRETS, "client_kwargs": {"endpoint_url": hostile}})


def test_a_page_of_too_many_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.io.remote.pages._MOST_NAMES", 10)
    links = "".join(f'<a href="f{n}">f</a>' for n in range(11)).encode()
    with serve(send(lambda: [links], Content_Type="text/html", Content_Length=str(len(links)))) as hostile:
        store, root = open_source(f"{hostile}/t")
        with pytest.raises(LakeError, match="11 names in a page of links"):
            store.list(root)


@pytest.mark.parametrize("count", [0, 3, 4])
def test_a_body_is_measured_and_not_kept(count: int) -> None:
    """What a server does not say the size of is counted, up to what may be read of it."""
    parts = iter([b"x" * 10] * count)

    async def read(most: int) -> bytes:
        return next(parts, b"")[:most]

    if count < 4:
        assert run(lambda: measure_body(read, 30)) == 10 * count
    else:
        with pytest.raises(Failed) as caught:
            run(lambda: measure_body(read, 30))
        assert caught.value.kind == "large"
