"""`table.explore()` and `lakelens.explore()` outside of a Jupyter server, and how the one of a kernel is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

import pytest

import lakelens as ll
from lakelens.errors import Missing
from lakelens.jupyter import exploring, servers
from lakelens.jupyter.servers import JupyterServer

NO_PROXY = build_opener(ProxyHandler({}))


@pytest.fixture(autouse=True)
def no_server_is_left() -> Iterator[None]:
    """Each test begins and ends without a server, and not in a kernel."""
    servers.find_jupyter_server.cache_clear()
    yield
    servers.stop_all()
    servers.find_jupyter_server.cache_clear()


def ask(url: str) -> tuple[int, Any, str]:
    """The status, the headers and the text of an answer."""
    try:
        with NO_PROXY.open(url, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except HTTPError as error:
        return error.code, error.headers, error.read().decode()


def test_the_token_is_in_the_link_alone_and_is_asked_for() -> None:
    shown = ll.sample("iceberg").explore()
    token = shown.url.split("/")[3]
    assert len(token) >= 32 and token not in repr(shown) and token not in str(shown)
    assert repr(shown) == shown.address == shown.url.replace(f"{token}/", "")
    assert shown._repr_html_().count(shown.url) == 2
    status, headers, text = ask(shown.url)
    assert status == 200 and "v3_merge_on_read" in text
    assert "frame-ancestors" not in headers["content-security-policy"] and "x-frame-options" not in headers
    assert "default-src 'none'" in headers["content-security-policy"]
    wrong = ("A" if token[0] != "A" else "B") + token[1:]
    for url in (
        shown.address,
        shown.url.replace(token, wrong),
        shown.url.replace(token, token[:-1]),
        shown.url.replace(token, token + "/.."),
        shown.url.replace(token, "é"),
        shown.url.split(token)[0] + token,
        shown.url.replace("4/", "4//", 1) if "4/" in shown.url else shown.address,
        shown.address.split("/@")[0] + f"/?token={token}",
    ):
        if token not in url.split("/")[3:4]:
            assert ask(url.replace("é", "%C3%A9"))[0] == 404, url
    assert ask(shown.url.split(token)[0] + token + "/-/explorer.css")[0] == 200


def test_one_server_of_a_root_until_it_is_stopped() -> None:
    table = ll.sample("hive")
    first, second, other = table.explore(), table.explore(frame=False), ll.sample("paimon").explore()
    assert first.url == second.url and first.url != other.url
    assert "<iframe" in first._repr_html_() and "<iframe" not in second._repr_html_()
    first.stop()
    with pytest.raises(URLError):
        NO_PROXY.open(second.url)
    assert ask(other.url)[0] == 200
    again = table.explore()
    assert again.url != first.url and ask(again.url)[0] == 200
    first.stop()
    assert ask(again.url)[0] == 200, "what was stopped is another one"


def test_a_warehouse_is_explored_and_what_is_missing_says_so(tmp_path: Path) -> None:
    for name in ("hive", "iceberg"):
        ll.sample()[name].unpack(tmp_path)
    shown = ll.explore(tmp_path)
    assert repr(shown).count("/") == 3
    status, _, text = ask(shown.url)
    assert status == 200 and "iceberg" in text and "hive" in text
    with pytest.raises(Missing, match="/nowhere: no such file or directory"):
        ll.explore("/nowhere")


def test_a_commit_is_seen_and_the_address_stays_pinned(tmp_path: Path) -> None:
    folder = Path(ll.sample()["iceberg"].unpack(tmp_path))
    documents = sorted(folder.glob("metadata/*.metadata.json"))
    newest = documents[-1].read_bytes()
    documents[-1].unlink()
    old = ll.open(folder)
    shown = old.explore()
    assert f"/@{old.current.id}/" in shown.url and ask(shown.url)[0] == 200
    documents[-1].write_bytes(newest)
    today = ll.open(folder).current.id
    assert today != old.current.id
    with NO_PROXY.open(shown.url.split("@")[0], timeout=20) as answer:
        assert f"/@{today}/" in answer.url


def test_a_title_from_a_lake_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = exploring.Explored("<b>'\"x\x1b[31m", "/user/<i>/", "@1/", local=None, frame=True, height=100)
    markup = shown._repr_html_()
    assert "<b>" not in markup and "<i>" not in markup and "\x1b" not in markup and "'\"x" not in markup


def test_python_ends_with_a_server_running() -> None:
    script = "import lakelens as ll; print(ll.sample('hive').explore())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("http://127.0.0.1:") and done.stderr == ""


class Asked(BaseHTTPRequestHandler):
    """A Jupyter server that says what it proxies to those with its token."""

    status, names = 200, ("lakelens",)

    def do_GET(self) -> None:
        known = (
            self.path == "/user/ada/server-proxy/servers-info" and self.headers["Authorization"] == "token t0"
        )
        self.send_response(self.status if known else 403)
        self.end_headers()
        self.wfile.write(json.dumps({"server_processes": [{"name": name} for name in self.names]}).encode())

    def log_message(self, *words: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Asked]]:
    """A kernel whose server keeps its facts where Jupyter keeps them."""
    handler = type("Answer", (Asked,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    known = {
        "pid": 4711,
        "base_url": "/user/ada/",
        "root_dir": str(tmp_path),
        "url": f"http://127.0.0.1:{server.server_port}/user/ada/",
        "token": "t0",
    }
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("JPY_PARENT_PID", "4711")
    monkeypatch.setitem(sys.modules, "ipykernel", sys.modules[__name__])
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "jpserver-4711.json").write_text(json.dumps(known))
    yield handler
    server.shutdown()
    server.server_close()


def test_the_server_of_a_kernel_is_found(running: type[Asked], tmp_path: Path) -> None:
    assert servers.find_jupyter_server() == JupyterServer("/user/ada/", str(tmp_path), True, True)
    (tmp_path / "wh").mkdir()
    folder = ll.sample()["iceberg"].unpack(tmp_path / "wh")
    table = ll.open(folder)
    assert repr(table.explore()) == f"/user/ada/lakelens/wh/iceberg/@{table.current.id}/"
    assert repr(ll.explore(tmp_path / "wh")) == "/user/ada/lakelens/open?path=wh"
    assert repr(ll.explore(tmp_path)) == "/user/ada/lakelens/"
    outside = ll.sample("hive").explore()
    assert repr(outside).startswith("/user/ada/proxy/") and outside.url != outside.address
    branch = ll.open(folder, version=1).explore()
    assert repr(branch).startswith("/user/ada/proxy/"), "an older version is shown by who opened it"


def test_a_server_without_the_explorer_or_without_a_proxy(running: type[Asked], tmp_path: Path) -> None:
    running.names = ("rstudio",)
    assert servers.find_jupyter_server() == JupyterServer("/user/ada/", str(tmp_path), True, False)
    servers.find_jupyter_server.cache_clear()
    running.status = 404
    assert servers.find_jupyter_server() == JupyterServer("/user/ada/", str(tmp_path), False, False)
    assert repr(ll.explore(ll.sample("hive").location)).startswith("http://127.0.0.1:")
    servers.find_jupyter_server.cache_clear()
    os.environ["JPY_PARENT_PID"] = "12"
    assert servers.find_jupyter_server() is None


def test_the_proxy_starts_the_command_line_on_a_private_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lakelens.jupyter import servers

    monkeypatch.setattr(servers, "find_root", lambda: "/home/{ada}")
    command = servers.make_command("/tmp/x/socket", 0)
    assert [part.format() for part in command][3:] == (
        ["serve", "/home/{ada}", "--proxied", "--no-browser", "--unix-socket", "/tmp/x/socket"]
    )
    monkeypatch.delattr("socket.AF_UNIX")
    at_port = servers.describe_server()
    token = at_port["environment"]["LAKELENS_TOKEN"]
    assert len(token) >= 20 and at_port["request_headers_override"] == {"x-lakelens-token": token}
    assert "unix_socket" not in at_port and servers.make_command("", 8123)[-2:] == ["--port", "8123"]
