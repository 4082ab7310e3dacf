"""A public bucket or web folder on this machine, as strangers see it: how it lists, and whom it lets read what."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

_PAGE = 40  # names of one page of a listing
_DATE = "Fri, 27 Nov 2026 09:00:00 GMT"


@dataclass
class WebLake:
    """A folder behind an address. `listing` is how it lists: python, nginx, s3 (below /bucket), azure (/bucket), or nothing.

    `requests` has the verb, the address and the range of each request.
    """

    folder: Path
    listing: str = "python"
    has_ranges: bool = True
    has_cors: bool = True
    leads: str = ""  # where every file is said to be
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    def list_keys(self) -> list[tuple[str, int]]:
        """List all objects, by key."""
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return sorted((path.relative_to(self.folder).as_posix(), path.stat().st_size) for path in files)


class _Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, lake: WebLake, *given: object) -> None:
        self.lake = lake
        super().__init__(*given)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        """A test's output has no place for requests."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        lake = self.lake
        lake.requests.append((self.command, self.path, self.headers.get("Range", "")))
        parts = urlsplit(self.path)
        path, asked = unquote(parts.path), {name: held[0] for name, held in parse_qs(parts.query).items()}
        if lake.listing in ("s3", "azure"):
            if not f"{path}/".startswith("/bucket/"):
                return self._send(404, b"<Error><Code>NoSuchBucket</Code></Error>", "application/xml")
            path = path.removeprefix("/bucket")
            if path in ("", "/") and ("list-type" in asked, "comp" in asked) == (
                lake.listing == "s3",
                lake.listing == "azure",
            ):
                return self._send(200, self._list_bucket(asked), "application/xml")
        target = (lake.folder / path.lstrip("/")).resolve()
        if not target.is_relative_to(lake.folder.resolve()):
            return self._send(404, b"")
        if target.is_dir():
            if lake.listing not in ("python", "nginx"):
                return self._send(403, b"<Error><Code>AccessDenied</Code></Error>", "application/xml")
            return self._send(200, self._list_links(target), "text/html; charset=utf-8")
        if not target.is_file():
            return self._send(404, b"none")
        if lake.leads:
            self.send_response(302)
            self.send_header("Location", lake.leads + self.path)
            self._end(b"")
            return None
        self._send_file(target.read_bytes())
        return None

    def _send_file(self, content: bytes) -> None:
        wanted = self.headers.get("Range", "")
        if not (wanted.startswith("bytes=") and self.lake.has_ranges):
            return self._send(200, content)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        begin, end = int(first), min(int(last) + 1 if last else len(content), len(content))
        if begin >= len(content):
            return self._send(416, b"")
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        return self._end(content[begin:end])

    def _send(self, status: int, content: bytes, kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self._end(content)

    def _end(self, content: bytes) -> None:
        if self.lake.has_cors:
            self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", _DATE)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _list_links(self, folder: Path) -> bytes:
        lines = []
        for path in sorted(folder.iterdir()):
            name = path.name + ("/" if path.is_dir() else "")
            link = f'<a href="{quote(name)}">{escape(name)}</a>'
            size = "-" if path.is_dir() else str(path.stat().st_size)
            is_exact = self.lake.listing == "nginx"
            lines.append(f"{link}    27-Nov-2026 09:00    {size}" if is_exact else f"<li>{link}</li>")
        return f"<html><body><a href='../'>../</a>\n{chr(10).join(lines)}\n</body></html>".encode()

    def _list_bucket(self, asked: dict[str, str]) -> bytes:
        prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
        after = asked.get("continuation-token") or asked.get("marker") or ""
        shown: dict[str, int | None] = {}
        for key, size in self.lake.list_keys():
            if key.startswith(prefix):
                rest = key[len(prefix) :]
                is_folder = bool(delimiter) and delimiter in rest
                name = prefix + rest.partition(delimiter)[0] + delimiter if is_folder else key
                shown.setdefault(name, None if is_folder else size)
        names = [name for name in shown if name > after]
        page, more = names[:_PAGE], names[_PAGE - 1] if len(names) > _PAGE else ""
        write = _write_s3 if self.lake.listing == "s3" else _write_azure
        return write({name: shown[name] for name in page}, more).encode()


def _write_s3(page: dict[str, int | None], more: str) -> str:
    date = "2026-11-27T09:00:00.000Z"
    inner = "".join(
        f"<CommonPrefixes><Prefix>{quote(name)}</Prefix></CommonPrefixes>"
        if size is None
        else f"<Contents><Key>{quote(name)}</Key><LastModified>{date}</LastModified><Size>{size}</Size></Contents>"
        for name, size in page.items()
    )
    token = f"<NextContinuationToken>{escape(more)}</NextContinuationToken>" if more else ""
    cut = "true" if more else "false"
    head = f"<EncodingType>url</EncodingType><IsTruncated>{cut}</IsTruncated>{token}"
    space = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
    return f"<ListBucketResult {space}>{head}{inner}</ListBucketResult>"


def _write_azure(page: dict[str, int | None], more: str) -> str:
    inner = "".join(
        f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>"
        if size is None
        else f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>{_DATE}</Last-Modified>"
        f"<Content-Length>{size}</Content-Length></Properties></Blob>"
        for name, size in page.items()
    )
    return f"<EnumerationResults><Blobs>{inner}</Blobs><NextMarker>{escape(more)}</NextMarker></EnumerationResults>"


@contextmanager
def serve_lake(lake: WebLake) -> Iterator[str]:
    """Serve a folder on this machine; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Server, lake))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def ask_web(verb: str, address: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
    """Ask for an address as a page would: what has no header that lets it read the answer is no answer."""
    request = urllib.request.Request(address, method=verb, headers={"Range": wanted} if wanted else {})
    try:
        with urllib.request.urlopen(request) as answer:
            status, headers, content = answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        status, headers, content = error.code, error.headers, error.read()
    except OSError:
        return 0, {}, b""
    if headers.get("Access-Control-Allow-Origin") != "*":
        return 0, {}, b""
    safe = ("Content-Length", "Content-Type", "Last-Modified")
    return status, {name.lower(): headers[name] for name in safe if name in headers}, content


def write_google(keys: list[tuple[str, int]]) -> bytes:
    """Write a listing as Google's storage does."""
    items = [{"name": key, "size": str(size), "updated": "2026-11-27T09:00:00.000Z"} for key, size in keys]
    return json.dumps({"items": items}).encode()
