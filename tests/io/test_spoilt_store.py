"""A store that cuts, resets, delays, lies about lengths, swaps objects, refuses, and answers with a page to sign in at:
one `LakeError` each when the table is opened, findings afterwards, and no secret in anything that is said."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.spec import AbstractFileSystem

import lakelens as ll
from lakelens.errors import LakeError

TOKEN, PASSWORD = "c4nary-t0ken", "c4nary-passw0rd"
OPTIONS = {"token": TOKEN, "client_kwargs": {"password": PASSWORD}}
STATUSES = {"401": 401, "403": 403, "404": 404, "429": 429, "500": 500, "503": 503}
BROKEN = ["cut", "reset", "delay"]
LIES = ["short", "long", "swap", "login", "garbage", "empty"]
FAULTS = [*STATUSES, *BROKEN, *LIES]
LOGIN = b"<!DOCTYPE html><html><form action='/sign-in'>Sign in"


class Spoiler(BaseHTTPRequestHandler):
    """Serves a directory; what has a fault is spoilt in its way."""

    root: Path
    faults: dict[str, str] = {}  # noqa: RUF012
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        relative = self.path.partition("?")[0].strip("/")
        place = self.root / relative
        fault = next((fault for end, fault in self.faults.items() if relative.endswith(end)), "")
        if "list" in self.path:
            if not place.exists():
                return self.answer(404, b"")
            children = place.iterdir() if place.is_dir() else [place]
            found = [(str(c.relative_to(self.root)), c.stat().st_size, c.is_dir()) for c in children]
            return self.answer(200, json.dumps([place.is_dir(), found]).encode())
        if not place.is_file():
            return self.answer(404, b"")
        data = place.read_bytes()
        start, end = (int(part) for part in self.headers["Range"].split("-"))
        return self.spoil(fault, data, data[start:end])

    def spoil(self, fault: str, whole: bytes, body: bytes) -> None:
        if fault in STATUSES:
            return self.answer(STATUSES[fault], f"denied to {self.headers['Authorization']}".encode())
        if fault == "delay":
            time.sleep(0.8)
        if fault in ("cut", "reset"):
            self.answer(200, body[: len(body) // 2], len(body))
            if fault == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return None
        swapped = b"Obj\x01" + whole[::-1] if whole[:1] == b"{" else b'{"format-version": 2}'
        lies = {"short": body[: len(body) // 2], "long": body + b"}" * 999, "swap": swapped, "login": LOGIN}
        lies |= {"garbage": bytes(range(256)) * 9, "empty": b""}
        return self.answer(200, lies.get(fault, body))

    def answer(self, status: int, body: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # a client that waits no longer
            self.wfile.write(body)


class ClientError(Exception):
    """What a client library raises: no `OSError`, and it quotes what it sent."""


class SpoiltFileSystem(AbstractFileSystem):
    """A client of that server, as those of clouds are: it names its request in what it raises."""

    protocol = "spoilt"
    cachable = False

    def __init__(self, token: str = "", client_kwargs: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.token, self.password = token, (client_kwargs or {}).get("password", "")

    def ask(self, path: str, query: str = "", span: str = "") -> bytes:
        host, _, name = self._strip_protocol(path).partition("/")
        connection = HTTPConnection(host, timeout=0.5)
        headers = {"Authorization": f"Bearer {self.token}", "Range": span}
        try:
            connection.request("GET", f"/{name}?{query}&sig={self.password}", headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        except Exception as error:
            raise ClientError(
                f"GET http://me:{self.password}@{host}/{name}?{query} {headers}: {error!r}"
            ) from error
        finally:
            connection.close()
        if answer.status == 404:
            raise FileNotFoundError(path, headers)
        if answer.status in (401, 403):
            raise PermissionError(f"{path}: {headers}")
        if answer.status != 200:
            raise ClientError(f"{answer.status} for {headers}: {body!r}")
        return body

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        host = self._strip_protocol(path).partition("/")[0]
        _, found = json.loads(self.ask(path, "list"))
        return [
            {"name": f"{host}/{name}", "size": size, "type": "directory" if is_dir else "file"}
            for name, size, is_dir in found
        ]

    def info(self, path: str, **options: Any) -> Any:
        is_dir, _ = json.loads(self.ask(path, "list"))
        return {"name": self._strip_protocol(path), "type": "directory"} if is_dir else self.ls(path)[0]

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        return self.ask(path, span=f"{start or 0}-{2**62 if end is None else end}")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    fsspec.register_implementation("spoilt", SpoiltFileSystem, clobber=True)
    Spoiler.root = Path(ll.sample("iceberg").location).parent
    server = ThreadingHTTPServer(("127.0.0.1", 0), Spoiler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"spoilt://127.0.0.1:{server.server_port}/iceberg"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def faults() -> Iterator[dict[str, str]]:
    yield Spoiler.faults
    Spoiler.faults.clear()


def check_silent(said: str) -> None:
    assert TOKEN not in said and PASSWORD not in said, said


def check_error(error: LakeError, address: str) -> None:
    assert error.path is not None and error.path.startswith(address), error
    assert error.__cause__ is None or isinstance(error.__cause__, LakeError | ValueError)
    check_silent(f"{error}{error!r}{''.join(traceback.format_exception(error))}")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_table_cannot_be_opened(fault: str, address: str, faults: dict[str, str]) -> None:
    faults[".metadata.json"] = fault
    with pytest.raises(LakeError) as raised:
        ll.open(address, storage_options=OPTIONS)
    check_error(raised.value, address)


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_after_opening_is_a_finding(fault: str, address: str, faults: dict[str, str]) -> None:
    table = ll.open(address, storage_options=OPTIONS)
    assert table.location == address
    faults[".avro"] = fault
    said = table.to_text(3) + table.current.to_text(2)
    found = [one for one in table.findings if one.severity == "error"]
    if fault != "long":  # what follows the last block of a file is no block
        assert len(table.files) == 0 and found
    assert [one.path for one in found if not one.path.startswith(address)] == []
    said += "".join(f"{one!r}{one.message}" for one in table.findings) + table._repr_html_()
    check_silent(said)


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_data_file_that_cannot_be_read(fault: str, address: str, faults: dict[str, str]) -> None:
    table = ll.open(address, storage_options=OPTIONS)
    file = table.files[0]
    faults[".parquet"] = fault
    for read in (lambda: file.footer, lambda: file.preview()):
        with pytest.raises(LakeError) as raised:
            read()
        check_error(raised.value, address)
    with pytest.raises(LakeError) as raised:
        file.bytes_view().check()  # the damage of a view knows its byte
    check_silent(f"{raised.value}")
    check_silent(file.to_text(3) + file._repr_html_())


def test_a_table_that_nothing_is_wrong_with(address: str) -> None:
    table = ll.open(address, storage_options=OPTIONS)
    assert table.check().ok and len(table.files) == len(ll.sample("iceberg").files)
    check_silent(f"{table!r}{table.to_text(3)}{table.reads}{table.evidence}")
