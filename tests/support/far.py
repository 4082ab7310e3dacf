"""A bucket behind a network that delays, counts, cuts and lies: moto's own S3 server, and files over HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

#: What a bucket of the tests is opened with.
KEY, SECRET, REGION = "AKIAEXAMPLEKEY00", "s3cr3t/of+the/tests/00000000000000000000", "eu-west-1"
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
#: Answers a request itself, or gives None and lets it through.
Fault = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes] | None]


class Weather:
    """What is between a client and a server: `delay` seconds for each request, `faults`, and a log of what was asked.

    `requests` has method, path and query of each request; `together` the most that were under way at once.
    """

    def __init__(self, application: Application) -> None:
        self.application = application
        self.delay = 0.0
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str, str]] = []
        self.together = self._running = 0
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"]))
            self._running += 1
            self.together = max(self.together, self._running)
        try:
            if self.delay:
                time.sleep(self.delay)
            for fault in self.faults:
                answer = fault(environ, start_response)
                if answer is not None:
                    return answer
            return self.application(environ, start_response)
        finally:
            with self._lock:
                self._running -= 1

    def clear(self) -> None:
        """No delay, no faults, nothing asked so far."""
        self.delay, self.faults, self.together = 0.0, [], 0
        self.requests.clear()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept, as those of a real store are
    disable_nagle_algorithm = True  # answers leave at once, too

    def log(self, type: str, message: str, *args: Any) -> None:
        pass


@contextmanager
def serve(application: Application) -> Iterator[str]:
    """The address of a server with one thread for each connection, until the block ends."""
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Quiet)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class Bucket:
    """The bucket `lake` of a moto server: `endpoint`, `weather`, `options` for `lakelens.open`, and `put`."""

    def __init__(self, endpoint: str, weather: Weather) -> None:
        import boto3

        self.endpoint, self.weather = endpoint, weather
        self.client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name=REGION,
        )
        with suppress(self.client.exceptions.BucketAlreadyOwnedByYou):  # moto keeps one world for a process
            self.client.create_bucket(Bucket="lake", CreateBucketConfiguration={"LocationConstraint": REGION})

    @property
    def options(self) -> dict[str, Any]:
        """Storage options as s3fs takes them."""
        return {
            "key": KEY,
            "secret": SECRET,
            "client_kwargs": {"endpoint_url": self.endpoint, "region_name": REGION},
        }

    def put(self, folder: str | Path, prefix: str) -> str:
        """Copy a directory of this machine below a prefix; gives its URL."""
        root = Path(folder)
        for path in sorted(root.rglob("*")):
            if path.is_file():
                key = f"{prefix}/{path.relative_to(root).as_posix()}"
                self.client.put_object(Bucket="lake", Key=key, Body=path.read_bytes())
        return f"s3://lake/{prefix}"


@contextmanager
def run_bucket() -> Iterator[Bucket]:
    """A moto server of its own, with a bucket; whoever asks it is patient, however busy the machine is."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

    from lakelens import options

    weather = Weather(DomainDispatcherApplication(create_backend_app))
    hurry, options.connect_timeout = options.connect_timeout, 60
    try:
        with serve(weather) as endpoint:
            yield Bucket(endpoint, weather)
    finally:
        options.connect_timeout = hurry


def make_static(root: Path) -> Application:
    """Files below a directory over HTTP: ranges, HEAD, and directories as pages of links, as common servers list them."""
    from email.utils import formatdate
    from html import escape
    from urllib.parse import quote

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = root / environ["PATH_INFO"].encode("latin-1").decode().lstrip("/")
        if path.is_dir():
            names = sorted(f"{one.name}/" if one.is_dir() else one.name for one in path.iterdir())
            links = "".join(f'<a href="{quote(name)}">{escape(name)}</a>\n' for name in names)
            body, kind, status = f"<html><body>{links}</body></html>".encode(), "text/html", "200 OK"
            headers = []
        elif path.is_file():
            body, kind, status = path.read_bytes(), "application/octet-stream", "200 OK"
            headers = [
                ("Accept-Ranges", "bytes"),
                ("Last-Modified", formatdate(path.stat().st_mtime, usegmt=True)),
            ]
            asked = environ.get("HTTP_RANGE", "")
            if asked.startswith("bytes="):
                first, _, last = asked.removeprefix("bytes=").partition("-")
                size = len(body)
                begin = int(first) if first else max(0, size - int(last))
                end = min(size, int(last) + 1) if first and last else size
                if begin >= size:
                    start_response(
                        "416 Range Not Satisfiable",
                        [("Content-Range", f"bytes */{size}"), ("Content-Length", "0")],
                    )
                    return [b""]
                body, status = body[begin:end], "206 Partial Content"
                headers.append(("Content-Range", f"bytes {begin}-{end - 1}/{size}"))
        else:
            body, kind, status, headers = b"no such file", "text/plain", "404 Not Found", []
        start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *headers])
        return [b""] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    return application
