"""A server as a user starts it, in a process of its own, and a client whose requests nothing normalises."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import psutil


class Running:
    """`lakelens serve`, from its first line on; `root` is served at a free port."""

    def __init__(self, root: Path | str, *options: str) -> None:
        self.log = Path(tempfile.mkstemp(prefix="lakelens-serving-")[1])
        command = [sys.executable, "-m", "lakelens.cli", "serve", str(root), "--no-browser", "--port", "0"]
        command += ["--timeout", "55"]  # another job on the machine makes no page late
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *options], stdout=subprocess.PIPE, stderr=log, text=True, env=dict(os.environ)
            )
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()
        found = re.search(r"http\S+", self.first)
        assert found, (self.first, self.log.read_text())
        self.address = found[0]
        parts = urlsplit(self.address)
        assert parts.port
        self.origin, self.port = f"http://{parts.netloc}", parts.port
        self.token = parts.query.removeprefix("token=")

    @cached_property
    def pages(self) -> str:
        """The address of all tables, to which the first one leads: the other pages are below it."""
        return urljoin(self.address, httpx.get(self.address, timeout=60).headers["location"])

    @property
    def home(self) -> str:
        """The path of that, without the slash at its end."""
        return urlsplit(self.pages).path.rstrip("/")

    @contextmanager
    def open(self) -> Iterator[httpx.Client]:
        """A client that has entered; what it asks for is below the path of the pages."""
        with httpx.Client(base_url=self.pages, timeout=60) as client:
            assert client.get(self.address).status_code == 303
            yield client

    @property
    def memory(self) -> int:
        """Bytes of memory that it has."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def ask(self, target: bytes, headers: dict[str, str] | None = None, *, method: bytes = b"GET") -> bytes:
        """The whole answer to a request whose target is sent as it is."""
        own = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **(headers or {})}
        lines = b"".join(f"{name}: {held}\r\n".encode("latin-1") for name, held in own.items())
        with socket.create_connection(("127.0.0.1", self.port), 60) as link:
            link.sendall(method + b" " + target + b" HTTP/1.1\r\n" + lines + b"\r\n")
            parts = []
            while part := link.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)

    def end(self, by: int = signal.SIGINT) -> str:
        """Stop it; what it said after its first line."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        said, _ = self.process.communicate(timeout=20)
        return said


@contextmanager
def serving(root: Path | str, *options: str) -> Iterator[Running]:
    """A running server; its log has to be without a traceback."""
    running = Running(root, *options)
    try:
        yield running
    finally:
        try:
            if running.process.poll() is None:
                running.end()
            log = running.log.read_text()
        finally:
            running.process.kill()
            running.log.unlink()
    assert "Traceback" not in log, log
