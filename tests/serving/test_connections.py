"""Connections that say nothing, requests that are odd, tokens and cookies as they go over the wire."""

from __future__ import annotations

import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from html import unescape
from http.cookiejar import CookieJar
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import httpx
import pytest
import uvicorn

import lakelens as ll
from lakelens.explorer.explorer import Explorer
from lakelens.serving import connections
from lakelens.serving.access import Access
from lakelens.serving.application import make_app
from lakelens.serving.connections import Limits, configure

TOKEN = "a-token-that-is-only-here"
HALF = b"GET / HTTP/1.1\r\nX: "


class Served:
    """A server in this process, at a port of its own."""

    def __init__(self, root: Path | str, limits: Limits) -> None:
        self.access = Access(TOKEN)
        app = make_app(Explorer(root), access=self.access)
        self.server = uvicorn.Server(configure(app, limits))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self._listening]}, daemon=True
        )

    @property
    def connections(self) -> int:
        """How many are open, as the server sees it."""
        return len(self.server.server_state.connections)

    def connect(self, said: bytes = b"") -> socket.socket:
        """An open connection on which something was said."""
        link = socket.create_connection(("127.0.0.1", self.port), 60)
        link.sendall(said)
        return link

    def ask(self, target: str = "/", method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        """The status, the headers and the body of the answer to a target that is sent as it is."""
        own = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in own.items())
        with self.connect(f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")) as link:
            got = read_all(link).decode("latin-1")
        head, _, body = got.partition("\r\n\r\n")
        first, *rest = head.split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in rest), body

    @property
    def cookie(self) -> str:
        """What a browser that has entered sends."""
        return f"{self.access.cookie}={self.access.secret}"


def read_all(link: socket.socket) -> bytes:
    """What is sent until the connection ends, or is cut off with something said on it unread."""
    parts = []
    with suppress(ConnectionResetError):
        while part := link.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


@contextmanager
def serving(root: Path | str, limits: Limits | None = None) -> Iterator[Served]:
    served = Served(root, limits or Limits())
    served.thread.start()
    try:
        yield served
    finally:
        served.server.should_exit = True
        served.thread.join(20)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse whose table is in a directory with a line feed in its name."""
    place = tmp_path_factory.mktemp("odd")
    shutil.copytree(ll.sample("iceberg").location, place / "a\nb")
    return place


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Served]:
    with serving(root) as started:
        yield started


@pytest.mark.parametrize("said", [b"", b"G", HALF], ids=["nothing", "a letter", "half a head"])
def test_a_connection_without_a_request_ends(root: Path, said: bytes) -> None:
    with serving(root, Limits(head=0.2)) as served, served.connect(said) as link:
        assert read_all(link) == b"", "ended by the server, without a word"


def test_half_a_head_after_an_answer_ends_too(root: Path) -> None:
    with serving(root, Limits(head=0.2)) as served:
        request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode()
        with served.connect(request) as link:
            assert link.recv(1 << 16).startswith(b"HTTP/1.1 403")
            link.sendall(HALF)
            read_all(link)


def test_a_slow_page_is_no_silent_connection(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Explorer.answer

    def wait(self: Explorer, place: object) -> object:
        time.sleep(0.6)
        return answer(self, place)  # type: ignore[arg-type]

    monkeypatch.setattr(Explorer, "answer", wait)
    with serving(root, Limits(head=0.2)) as served:
        assert served.ask("/", Cookie=served.cookie)[0] == 200


def test_strangers_keep_nobody_out(root: Path) -> None:
    """The oldest of their connections make room; the one of who has entered stays."""
    with ExitStack() as stack:
        served = stack.enter_context(serving(root, Limits(head=60, one_peer=8)))
        client = stack.enter_context(httpx.Client(headers={"cookie": served.cookie}))
        address = f"http://127.0.0.1:{served.port}/"
        assert client.get(address).status_code == 200
        links = [stack.enter_context(served.connect(HALF)) for _ in range(30)]
        assert served.ask("/", Cookie=served.cookie)[0] == 200
        assert read_all(links[0]) == b"" == read_all(links[20])
        assert served.connections <= 10
        assert client.get(address).status_code == 200


def test_strangers_of_many_addresses_keep_nobody_out(root: Path) -> None:
    with ExitStack() as stack:
        served = stack.enter_context(serving(root, Limits(head=60, one_peer=8, strangers=12)))
        for number in range(40):
            try:
                link = socket.create_connection(
                    ("127.0.0.1", served.port), 20, (f"127.0.1.{number % 10 + 1}", 0)
                )
            except OSError:
                pytest.skip("this system has one address of its own")
            stack.enter_context(link).sendall(HALF)
        assert served.ask("/", Cookie=served.cookie)[0] == 200
        assert served.connections <= 14


def test_more_connections_than_there_may_be_are_answered_so(root: Path) -> None:
    with ExitStack() as stack:
        served = stack.enter_context(serving(root, Limits(connections=3)))
        for _ in range(3):
            stack.enter_context(served.connect(HALF))
        status, headers, _ = served.ask("/", Cookie=served.cookie)
    assert status == 503 and "content-security-policy" in headers


def test_the_server_of_a_cell_ends_silent_connections(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "Limits", partial(Limits, head=0.2))
    shown = ll.explore(root)
    try:
        place = urlsplit(shown.url)
        assert place.port
        with socket.create_connection(("127.0.0.1", place.port), 60) as link:
            link.sendall(HALF)
            assert read_all(link) == b""
        assert httpx.get(shown.url).status_code == 200
    finally:
        shown.stop()


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        *(("GET", target, 421) for target in ("/%0A/", "/a%0Ab", "/%0a", "//x%0A/")),
        *(("GET", target, 400) for target in ("*", "x", "http://evil.example/", "http://127.0.0.1/", "a:b")),
        *(("CONNECT", "evil.example:443", 405), ("PRI", "*", 405), ("OPTIONS", "*", 405)),
    ],
)
def test_every_answer_is_ours(served: Served, method: str, target: str, status: int) -> None:
    """No router looks at a request before the rules: also to odd ones the answer has the policy, and leads nowhere."""
    answer = served.ask(target, method, Host="evil.example")
    assert answer[0] == status and "location" not in answer[1]
    assert "default-src 'none'" in answer[1]["content-security-policy"]
    assert answer[1]["cache-control"] == "no-store"


def test_what_is_no_http_is_answered_with_the_policy(served: Served) -> None:
    with served.connect(b"\x16\x03\x01\x02\x00\x01\r\n\r\n") as link:
        answer = read_all(link)
    assert answer.startswith(b"HTTP/1.1 400") and b"content-security-policy: default-src 'none'" in answer


def test_a_table_with_a_line_feed_in_its_name_opens_by_its_own_link(served: Served) -> None:
    below = served.access.home
    page = served.ask(f"{below}/", Cookie=served.cookie)[2]
    link = re.search(r'href="([^"]*%0A[^"]*)"', page)
    assert link
    status, headers, _ = served.ask(f"{below}/{unescape(link[1]).removeprefix('./')}", Cookie=served.cookie)
    assert status == 303
    status, _, text = served.ask(
        f"{below}/a%0Ab/{headers['location'].removeprefix('./')}", Cookie=served.cookie
    )
    assert status == 200 and "<h1" in text


@pytest.mark.parametrize("origin", ["http://[", "http://]", "//[x", "[", "http://[::1]x"])
def test_an_origin_that_is_no_url_is_another_one(
    served: Served, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert served.ask("/", Origin=origin)[0] == 403
    assert not caplog.records


@pytest.mark.parametrize("name", ["token", "%74oken", "t%6Fken", "%74%6f%6b%65%6e"])
def test_a_token_leaves_the_address_however_it_is_spelled(served: Served, name: str) -> None:
    status, headers, _ = served.ask(f"/a%0Ab/?q=1&{name}={TOKEN}")
    assert (status, headers["location"]) == (303, f"../{served.access.home[1:]}/a%0ab/?q=1".lower())
    assert TOKEN not in headers["location"]


def test_a_kept_address_is_found_again_with_a_new_token(served: Served) -> None:
    """The path of the pages is another one in each run."""
    kept = f"/~{'k' * 22}/a%0Ab/@1/files?from=50"
    assert served.ask(kept)[0] == 403
    status, headers, _ = served.ask(f"{kept}&token={TOKEN}")
    assert status == 303
    assert headers["location"] == f"../../../{served.access.home[1:]}/a%0Ab/@1/files?from=50".lower()


def test_another_port_is_not_sent_the_cookie(served: Served) -> None:
    """A browser sends the cookies of a host to all its ports: whoever listens at another one would be let in."""
    seen: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Cookie") or "")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            """Nothing is logged."""

    other = HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar), ProxyHandler({}))
    entered = browser.open(f"http://127.0.0.1:{served.port}/?token={TOKEN}")
    assert entered.status == 200 and entered.url.endswith(f"{served.access.home}/")
    assert [cookie.path for cookie in jar] == [served.access.home]
    browser.open(f"http://127.0.0.1:{other.server_port}/").read()
    browser.open(f"http://127.0.0.1:{other.server_port}/db/t/").read()
    other.shutdown()
    other.server_close()
    assert seen == ["", ""]


def test_a_proxy_that_says_its_prefix_gets_the_cookie_for_it(served: Served) -> None:
    home = served.access.home
    for prefix, path in (("/user/ada/proxy/8765", f"/user/ada/proxy/8765{home}"), ("/a; Domain=x", home)):
        headers = {"X-Forwarded-Prefix": prefix}
        cookie = served.ask(f"/?token={TOKEN}", **headers)[1]["set-cookie"]
        assert f"path={path}".lower() in cookie.split("; ")
