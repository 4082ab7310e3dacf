"""Pages over HTTP: made in threads, in time, of a bounded size, compressed; errors in words."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import lakelens as ll
from lakelens.errors import Corrupt
from lakelens.explorer.assets import read_assets
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.progress import Running
from lakelens.serving.access import Access
from lakelens.serving.application import make_app
from lakelens.serving.workers import Stopping, TooMany, TooSlow, Workers
from lakelens.views.card.model import Card, Note
from tests.support.coroutines import run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Slow(Explorer):
    """An explorer whose table `slow` waits for `go`; each page says how often it was made."""

    def __init__(self) -> None:
        super().__init__(".")
        self.go = threading.Event()
        self.made: list[str] = []
        self.pages: Counter[str] = Counter()

    def answer(self, place: Place) -> Any:
        name = "/".join(place.table or ())
        self.made.append(name)
        self.pages[place.url] += 1
        if name == "slow":
            assert self.go.wait(20)
        if name == "damaged":
            raise Corrupt("no Avro file", path="<m0.avro>", offset=3)
        cards = [Card("A page", "", body=(Note(f"{name} {place.page}"),))] * (5_000 if name == "large" else 1)
        return Page(place, "A page", cards)


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.go.set()


def make_client(explorer: Explorer, **options: Any) -> TestClient:
    app = make_app(explorer, access=Access(""), **options)
    return TestClient(app, base_url="http://localhost", follow_redirects=False)


def test_a_slow_table_says_so_and_keeps_no_other_waiting(slow: Slow) -> None:
    with make_client(slow, timeout=0.4) as client:
        answers: dict[str, Any] = {}

        def ask(path: str) -> None:
            answers[path] = client.get(path)

        pages = [f"/slow/@1/{name}" for name in ("", "files", "check", "health", "space")]
        threads = [threading.Thread(target=ask, args=(path,)) for path in pages]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        # the slow pages are made only when `go` is set, below
        assert client.get("/quick/@1/").status_code == 200, "it did not wait for a slow one"
        for thread in threads:
            thread.join()
        late = answers["/slow/@1/"]
        assert late.status_code == 504
        assert "the table slow" in late.text and "&#39;overview&#39;" in late.text
        assert "reload this page" in late.text and 'href="./"' in late.text
        assert sum("It waits: other pages" in answer.text for answer in answers.values()) == 2
        assert slow.made.count("slow") == 3, "one table has three threads"
        begun = [url for url in slow.pages if url.startswith("slow/")]
        assert len(begun) == 3
        slow.go.set()
        assert client.get(f"/{begun[0]}").status_code == 200
        assert slow.pages[begun[0]] == 1, "reloading gets what was being made"


def test_what_it_does_is_said_in_words_of_a_reader() -> None:
    async def ask() -> TooSlow:
        event = threading.Event()
        workers = Workers(timeout=0.1)
        with pytest.raises(TooSlow) as raised:
            await workers.run("t", "a", lambda: Running("reading").wait(lambda: event.wait(2), event.set))
        event.set()
        return raised.value

    slow = run(ask)
    assert (slow.doing, slow.is_waiting) == ("reading files of the table", False)


def test_the_same_page_is_made_once_for_all() -> None:
    async def ask() -> tuple[list[int], int]:
        made = []

        def make() -> int:
            time.sleep(0.05)
            made.append(1)
            return 7

        workers = Workers()
        return await asyncio.gather(*(workers.run("t", "a", make) for _ in range(50))), len(made)

    assert run(ask) == ([7] * 50, 1)


def test_workers_are_bounded_and_end() -> None:
    async def ask() -> int:
        running, most, gate = 0, 0, threading.Lock()

        def make() -> None:
            nonlocal running, most
            with gate:
                running += 1
                most = max(most, running)
            time.sleep(0.002)
            with gate:
                running -= 1

        workers = Workers(threads=4, each=2)
        await asyncio.gather(*(workers.run(f"t{n % 10}", n, make) for n in range(200)))
        assert not workers.is_busy and not workers._jobs and not workers._waiting and not workers._running
        return most

    assert run(ask) <= 4


def test_errors_of_makers_waiting_and_stopping() -> None:
    async def ask() -> None:
        gate = threading.Event()
        workers = Workers(threads=1, most_waiting=1, timeout=5)
        with pytest.raises(ZeroDivisionError):
            await workers.run("t", "zero", lambda: 1 // 0)
        first = asyncio.create_task(workers.run("t", 1, lambda: gate.wait(5)))
        second = asyncio.create_task(workers.run("t", 2, lambda: gate.wait(5)))
        await asyncio.sleep(0.01)
        with pytest.raises(TooMany):
            await workers.run("u", 3, int)
        workers.stop()
        for task in (first, second, asyncio.create_task(workers.run("t", 4, int))):
            with pytest.raises(Stopping):
                await task
        gate.set()

    run(ask)


def test_a_page_that_is_too_large_says_so(slow: Slow) -> None:
    with make_client(slow) as client:
        answer = client.get("/large/@1/files")
    assert answer.status_code == 500 and len(answer.content) < 20_000
    assert "at most 300,000, and none is cut" in answer.text


def test_damage_is_a_page(slow: Slow) -> None:
    with make_client(slow) as client:
        answer = client.get("/damaged/@1/")
    assert answer.status_code == 500
    assert "no Avro file" in answer.text and "<m0.avro>" not in answer.text


def test_addresses_that_are_none(slow: Slow) -> None:
    with make_client(slow) as client:
        for path in ("/a/../b/@1/files/x", "/%ff/", "/t/@1/@2/x", "/t/@/x", "/%2e%2e/", "/a%2Fb/", "/a%00b/"):
            assert client.get(path).status_code == 404, path
    assert slow.made == []


def test_head_and_compression() -> None:
    with make_client(Explorer(ll.sample("iceberg").location)) as client:
        path = "/" + client.get("/").headers["location"].removeprefix("./")
        whole = client.get(path, headers={"accept-encoding": "identity"})
        packed = client.get(path, headers={"accept-encoding": "br, gzip"})
        assert packed.headers["content-encoding"] == "gzip" and packed.text == whole.text
        assert int(packed.headers["content-length"]) < len(whole.content) / 2
        assert packed.headers["vary"] == "Accept-Encoding"
        assert "content-encoding" not in whole.headers
        head = client.head(path, headers={"accept-encoding": "identity"})
        assert head.status_code == 200 and head.headers["content-length"] == str(len(whole.content))
        tiny = client.get("/", headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in tiny.headers


def test_assets_are_asked_again_and_sent_once(tmp_path: Path) -> None:
    with make_client(Explorer(tmp_path)) as client:
        for name, kind in (("explorer.css", "text/css"), ("explorer.js", "text/javascript")):
            first = client.get(f"/-/{name}")
            assert first.content == read_assets()[name] and first.headers["content-type"].startswith(kind)
            again = client.get(f"/-/{name}", headers={"if-none-match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert client.get(f"/-/{name}", headers={"if-none-match": '"other"'}).status_code == 200
        for name in ("", "%2e%2e/page.py", "explorer.css/", "nothing/explorer.css"):
            assert client.get(f"/-/{name}").status_code == 404, name
    assert read_assets()["explorer.css"].count(b".ll-root") > 10


def test_downloads(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    file = table.files[0]
    (Path(table.location) / "notes.txt").write_text("no file of the table")
    address = f"/@{table.current.id}/download"
    with make_client(Explorer(table.location)) as client:
        refused = client.get(address, params={"path": file.recorded_path})
        assert refused.status_code == 403 and "--allow-download" in refused.text.replace("<wbr>", "")
    with make_client(Explorer(table.location), allow_download=True) as client:
        given = client.get(address, params={"path": file.recorded_path})
        assert given.content == Path(file.path).read_bytes()
        assert given.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert given.headers["content-type"] == "application/octet-stream"
        assert given.headers["x-content-type-options"] == "nosniff"
        head = client.head(address, params={"path": file.path})
        assert (head.content, head.headers["content-length"]) == (b"", str(len(given.content)))
        for path in ("/etc/passwd", "../../etc/passwd", f"{table.location}/notes.txt", "", "notes.txt"):
            assert client.get(address, params={"path": path}).status_code == 404, path
        outside = tmp_path / "outside"
        outside.write_text("no")
        Path(file.path).unlink()
        Path(file.path).symlink_to(outside)
        assert client.get(address, params={"path": file.recorded_path}).status_code == 403
