"""The server as a user starts it: what it never gives, many requests at once, a table that is rewritten, a clean end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import httpx
import pytest

import lakelens as ll
from tests.serving.running import Running, serving
from tests.support.stages import Stages

SECRET = "the-secret-beside-the-root"
LINK = re.compile(r'<a[^>]* href="([^"]*)"')
STEPS = [
    *("..", "%2e%2e", "%2E%2E", ".%2e", "%2e.", "%252e%252e", "%25252e%25252e", "..%00", "..%ff", "..;"),
    *(
        "..%5c",
        "..\\",
        "%c0%ae%c0%ae",
        "%e0%80%ae%e0%80%ae",
        "%uff0e%uff0e",
        "．．",
        "~..",
        "~%2e%2e",
        "@..",
        "....//",
    ),
]
TARGETS = [
    *(f"/{step}/secret" for step in STEPS),
    *("//secret", "///etc/passwd", "/./../secret", "/.//..//secret", "/~/../secret", "/%2fetc%2fpasswd"),
    *(
        "/t/../../secret",
        "/t/..%2f..%2fsecret",
        "/t/@1/..%2f..%2f..%2fsecret",
        "/t/@..%2f/x",
        "/t/@1/../../../secret",
    ),
    *("/-/../secret", "/-/..%2f..%2fpage.py", "/-/%2e%2e/explorer.py", "/-/explorer.css/../../../secret"),
    *(
        "/file:///etc/passwd",
        "/t/file:%2f%2f%2fetc%2fpasswd/",
        "http://evil.example/secret",
        "/C:%5csecret",
        "*",
    ),
    *(
        "/link/secret",
        "/link/",
        "/t/link/@1/",
        "/secret",
        "/t\0/",
        "/t/%00/secret",
        "/" + "../" * 60 + "etc/passwd",
    ),
]
PAGES = (
    "file",
    "bytes",
    "manifest",
    "manifest_list",
    "metadata",
    "index",
    "statistics",
    "biography",
    "download",
    "entry",
)
PATHS = [
    *(
        "../../secret",
        "/etc/passwd",
        "file:///etc/passwd",
        "{outside}",
        "file:{outside}",
        "../secret",
        "link/secret",
    ),
    *(
        "metadata/../../../secret",
        "%2e%2e/%2e%2e/secret",
        "{inside}/link/secret",
        "s3://bucket/secret",
        "C:\\secret",
    ),
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of 20 tables, with a secret beside it and links to that in it."""
    place = tmp_path_factory.mktemp("serving")
    (place / "outside").mkdir()
    (place / "outside" / "secret").write_text(SECRET)
    (place / "secret").write_text(SECRET)
    root = place / "root"
    names = ("iceberg", "paimon", "hive", "iceberg-branches", "paimon-tags")
    for number in range(20):
        sample = ll.sample(names[number % len(names)])
        shutil.copytree(sample.location, root / f"db{number % 3}" / f"t{number}")
    shutil.copytree(ll.sample("iceberg").location, root / "t")
    for holder in (root, root / "t", root / "t" / "data"):
        (holder / "link").symlink_to(place / "outside")
    return root


@pytest.fixture(scope="module")
def running(lake: Path) -> Iterator[Running]:
    with serving(lake, "--allow-download") as started:
        yield started


def test_traversal_in_every_spelling(running: Running, lake: Path) -> None:
    """Raw requests, of somebody who has entered: nothing of a client makes a path simpler before it is sent."""
    with running.open() as client:
        cookie = "; ".join(f"{name}={held}" for name, held in client.cookies.items())
        assert client.get("/").status_code == 200
    assert len(TARGETS) >= 40
    inside, outside = str(lake / "t"), str(lake.parent / "secret")
    asked = [target.encode() for target in TARGETS]
    for page in PAGES:
        asked += [f"/t/@-/{page}?path={p.format(inside=inside, outside=outside)}".encode() for p in PATHS]
    for target in asked:
        below = running.home.encode() if target.startswith(b"/") else b""
        answer = running.ask(below + target, {"Cookie": cookie})
        status = answer.split(b" ", 2)[1] if answer else b""
        assert status in (b"200", b"303", b"400", b"403", b"404", b"421", b"500"), (target, answer[:200])
        assert SECRET.encode() not in answer and b"root:x:" not in answer, target
        assert b"Traceback" not in answer and b"error of lakelens" not in answer, target
        if status == b"303":
            location = re.search(rb"location: (\S+)", answer)
            assert location and not location[1].startswith((b"/", b"http")), "no leading to another server"


def test_requests_that_are_none(running: Running) -> None:
    for raw in (
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"GET /" + b"x" * 70_000,
    ):
        with socket.create_connection(("127.0.0.1", running.port), 5) as link:
            link.sendall(raw + b" HTTP/1.1\r\n\r\n")
            assert not link.recv(100).startswith(b"HTTP/1.1 200")
    assert running.ask(b"/", {"Host": "evil.example"}).startswith(b"HTTP/1.1 421")
    assert running.ask(b"/", {"Transfer-Encoding": "chunked"}, method=b"POST").startswith(b"HTTP/1.1 4")
    assert running.ask(b"/").startswith(b"HTTP/1.1 403")


def list_pages(client: httpx.Client, root: str, most: int) -> list[str]:
    """Addresses of pages below one, found by their links, of each kind of page first."""
    found, pending, kinds = [], [root], set()
    while pending and len(found) < most:
        pending.sort(key=lambda url: (url.partition("?")[0].rpartition("/")[2] in kinds, len(url)))
        url = pending.pop(0)
        kinds.add(url.partition("?")[0].rpartition("/")[2])
        answer = client.get(url, follow_redirects=True)
        where = answer.url.raw_path.decode().removeprefix(client.base_url.path.rstrip("/"))
        found.append(where)
        for href in LINK.findall(answer.text):
            other = urldefrag(urljoin(where, unescape(href)))[0]
            if other.startswith(root) and other not in found and other not in pending:
                pending.append(other)
    return list(dict.fromkeys(found))


_LOOKED = re.compile(rb"Looked at: [^<]*")


def test_many_requests_at_once(running: Running, lake: Path) -> None:
    """Each answer is what it is when it is asked alone; the memory stays what it was, but for the tables that are open."""
    with running.open() as client:
        cookies = dict(client.cookies)
        tables = [f"/db{number % 3}/t{number}/" for number in range(20)]
        pages = [url for table in tables for url in list_pages(client, table, 2)]
        alone = {url: client.get(url) for url in pages}
        before = running.memory
    assert len(pages) >= 30 and {answer.status_code for answer in alone.values()} <= {200}
    asked = [pages[number * 7 % len(pages)] for number in range(200)]
    ready = threading.Barrier(50)

    def ask(share: list[str]) -> list[httpx.Response]:
        with httpx.Client(base_url=running.pages, cookies=cookies, timeout=60) as one:
            ready.wait(20)
            return [one.get(url) for url in share]

    with ThreadPoolExecutor(50) as pool:
        answers = [one for many in pool.map(ask, [asked[at::50] for at in range(50)]) for one in many]
    assert len(answers) == 200 and {answer.status_code for answer in answers} == {200}
    for answer in answers:
        url = answer.url.raw_path.decode().removeprefix(running.home)
        if url.endswith("/findings"):  # it says how much was looked at so far
            assert _LOOKED.sub(b"", answer.content) == _LOOKED.sub(b"", alone[url].content), url
        else:
            assert answer.content == alone[url].content, url
        assert len(answer.content) <= 300_000
    assert running.memory - before < 150_000_000, "bytes more than before"


def wait_for(count: Callable[[], int], more: int) -> None:
    """Until as many more have been counted: a slow machine takes longer for them, and does not see less."""
    wanted, end = count() + more, time.monotonic() + 60
    while count() < wanted and time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["spark/iceberg/v2-merge-on-read", "spark/paimon/pk-deletion-vectors"])
def test_a_table_that_is_rewritten_while_it_is_browsed(name: str, tmp_path: Path) -> None:
    """Appended to, compacted, expired, deleted and made again, file by file: a page or words, never an error of ours."""
    (tmp_path / "root" / "t").mkdir(parents=True)
    stages = Stages(name, tmp_path / "root" / "t")
    count = len(stages.table.snapshots)
    stages.go(count)
    seen: dict[int, int] = {}
    done = threading.Event()
    with serving(tmp_path / "root") as running, running.open() as entered:
        cookies = dict(entered.cookies)
        pages = list_pages(entered, "/t/", 25)

        def browse(at: int) -> None:
            with httpx.Client(
                base_url=running.pages, cookies=cookies, timeout=30, follow_redirects=True
            ) as client:
                while not done.is_set():
                    answer = client.get(pages[at % len(pages)])
                    assert "error of lakelens" not in answer.text, (pages[at % len(pages)], answer.text)
                    seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
                    at += 3
                    done.wait(0.03)

        with ThreadPoolExecutor(4) as pool:
            browsing = [pool.submit(browse, at) for at in range(4)]
            try:
                for stage in (1, count // 2, count, 2, count):
                    stages.go(stage)
                    wait_for(lambda: sum(seen.values()), 8)
                shutil.rmtree(stages.path)
                wait_for(lambda: sum(seen.values()), 8)
                stages.go(count)
                wait_for(lambda: seen.get(200, 0), 8)  # all of it is there again, and shown
            finally:
                done.set()
            for one in browsing:
                one.result(30)
        assert entered.get("/t/", follow_redirects=True).status_code == 200, "and it is shown again"
    assert seen.get(200, 0) >= 8, seen


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_with_a_connection_open(by: int, lake: Path) -> None:
    with serving(lake, "--timeout", "30") as running, running.open() as client:
        client.get("/")  # a connection that is kept alive
        assert running.end(by) == "lakelens has stopped\n"  # and does not wait for the connection
        assert running.process.returncode == 0 and running.log.read_text() == ""


SLOW = """
import sys, time
from lakelens.explorer.explorer import Explorer
Explorer.answer = lambda self, place: time.sleep(60)
from lakelens.cli import main
sys.argv = ["lakelens", "serve", sys.argv[1], "--no-browser", "--port", "0"]
main()
"""


def test_it_stops_while_a_page_is_made(lake: Path) -> None:
    command = [sys.executable, "-c", SLOW, str(lake)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stderr
        address = re.search(r"http\S+", process.stdout.readline())
        assert address
        answers: list[int] = []

        def ask() -> None:
            answers.append(httpx.get(address[0], follow_redirects=True, timeout=30).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(30)  # the page would take a minute
        asking.join(10)
        assert (process.returncode, process.stdout.read(), process.stderr.read()) == (
            0,
            "lakelens has stopped\n",
            "",
        )
    assert answers == [503]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakelens.cli", "serve", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=30, env={**os.environ, **environment}
    )


def test_mistakes_end_with_one_line(lake: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        wrong: list[tuple[list[str], str]] = [
            ([str(lake), "--port", port], f"cannot listen at 127.0.0.1, port {port}"),
            ([str(lake / "nothing")], "no such directory"),
            ([str(lake), "--proxied"], "--proxied needs --unix-socket"),
        ]
        for arguments, said in wrong:
            ended = run(*arguments, "--no-browser")
            assert ended.returncode == 2 and said in ended.stderr, ended.stderr
            assert ended.stderr.count("\n") == 1 and not ended.stdout


def test_without_starlette(tmp_path: Path) -> None:
    (tmp_path / "starlette").mkdir()
    (tmp_path / "starlette" / "__init__.py").write_text("raise ModuleNotFoundError('no', name='starlette')")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    ended = run(".", "--no-browser", PYTHONPATH=path)
    assert ended.returncode == 2 and "pip install 'lakelens[serve]'" in ended.stderr


def test_a_port_that_is_taken_is_passed_over(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lakelens.serving import server

    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(server, "PORT", taken.getsockname()[1])
        with server._listen(server.Settings()) as found:
            assert found.getsockname()[1] > taken.getsockname()[1]
            assert found.getsockname()[0] == "127.0.0.1"


def test_a_unix_socket_is_for_its_user_alone(lake: Path, tmp_path: Path) -> None:
    place = tmp_path / "s"
    command = [
        sys.executable,
        "-m",
        "lakelens.cli",
        "serve",
        str(lake),
        "--proxied",
        "--unix-socket",
        str(place),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and f"unix:{place}" in process.stdout.readline()
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
            transport = httpx.HTTPTransport(uds=str(place))
            with httpx.Client(transport=transport, base_url="http://hub.example", timeout=60) as client:
                answer = client.get("/")
            assert answer.status_code == 200
            assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()  # what fails here is no reason to wait for ever
    assert not place.exists()


def test_a_host_that_others_reach_is_warned_of(lake: Path) -> None:
    with serving(lake, "--host", "0.0.0.0") as running:
        assert "nothing is encrypted" in running.log.read_text()
        headers = {"host": f"{socket.gethostname()}:{running.port}"}
        address = f"http://127.0.0.1:{running.port}/"
        assert httpx.get(address, headers=headers).status_code == 403
        assert httpx.get(address, headers={"host": "evil.example"}).status_code == 421


def test_what_is_opened_is_below_the_root(lake: Path) -> None:
    """Every file that Python opens or lists while pages of a hostile lake are made, as the interpreter itself reports it."""
    script = AUDIT.format(
        root=str(lake), paths=[p.format(inside=lake / "t", outside=lake.parent / "secret") for p in PATHS]
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    opened = [line for line in ended.stdout.splitlines() if line.startswith("/")]
    assert len(opened) > 20
    own = (
        str(lake),
        sys.prefix,
        sys.base_prefix,
        str(Path(ll.__file__).parent),
        "/usr",
        "/proc/self",
        "/etc/localtime",
    )
    imported = {os.path.realpath(path) for path in sys.path}  # which directories an import looks into
    assert {path for path in opened if not path.startswith(own)} - imported == set()


AUDIT = """
import os, sys
import pyarrow
try:
    import datafusion
except ImportError:
    pass
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.place import Place
from lakelens.explorer.page import Redirect
from lakelens.explorer.render import render_page
explorer = Explorer({root!r})
on = True
def hear(event, arguments):
    if on and event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes)):
        print(os.path.realpath(os.fsdecode(arguments[0])))
sys.addaudithook(hear)
def ask(place):
    found = explorer.answer(place)
    if isinstance(found, Redirect):
        return ask(found.place)
    return render_page(found)
for found in list(explorer.catalog)[::4]:
    names = explorer.name(found)
    for page in ("", "files", "findings", "metadata", "snapshots", "timeline"):
        ask(Place(names, "", page))
for page in {pages!r}:
    for path in {paths!r}:
        assert "the-secret" not in ask(Place(("t",), "-", page, (("path", path),)))
on = False
""".replace("{pages!r}", repr(PAGES))
