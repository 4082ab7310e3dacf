"""A course: the same table behind a web server, a bucket or a REST catalog that lies in one way.

The server runs in the process that walks, on 127.0.0.1. Where it leads elsewhere nobody listens: whoever follows is seen by
the guard, which allows this address alone.
"""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from tests.fuzz.courses import Course, Settings
from tests.fuzz.walk import Walk
from tests.support.far import serve

ELSEWHERE = "http://127.0.0.2:9"
#: What is done to objects whose names match a pattern, and to listings.
OBJECTS = (
    *("short", "long", "zeros", "swapped", "empty", "gone", "denied", "empty-success", "unsatisfied"),
    *("led-elsewhere", "led-to-itself", "whole-for-range", "range-later", "range-longer", "range-of-nothing"),
    *("range-text", "replaced", "packed", "packed-falsely", "page", "promises", "drips", "without-end"),
)
LISTS = (
    "endless",
    "endless-empty",
    "endless-again",
    "sizes",
    "negative",
    "names",
    "no-xml",
    "deep-xml",
    "times",
)
#: What a catalog answers.
CATALOG = (
    *(
        "endpoint",
        "profile",
        "proxy",
        "leads",
        "uri",
        "header",
        "pages",
        "pages-again",
        "pages-empty",
        "drips",
    ),
    *(
        "no-json",
        "deep-json",
        "no-location",
        "climbs",
        "chain",
        "number",
        "packed",
        "list",
        "surrogate",
        "names",
    ),
)
PATTERNS = ("*.avro", "*.json", "*manifest*", "*snapshot*", "*schema*", "*.parquet", "*.orc", "*")
_SECRET = "our-session-token"
_NAMES = ("../up", "a//b", "%2e%2e", "a\tb", "\u202eb", "x" * 1_025, "?q", "#f", "..", "a b")
Start = Callable[..., Any]
_STEPS: dict[str, Callable[[Any], Any]] = {
    "files": lambda table: len(table.files),
    "check()": lambda table: table.check().to_text(1),
    "space()": lambda table: table.space().to_text(1),
    "history": lambda table: table.history.to_text(1),
    "health()": lambda table: table.health().to_text(1),
    "findings": lambda table: [str(finding) for finding in table.findings],
}


def choose(rng: random.Random) -> Settings:
    """Who lies, and how."""
    kind = rng.choice(("http", "s3", "rest"))
    if kind == "rest":
        return {"kind": kind, "mode": rng.choice(CATALOG)}
    mode = rng.choice(OBJECTS + LISTS if kind == "s3" else OBJECTS)
    return {"kind": kind, "mode": mode, "pattern": rng.choice(PATTERNS)}


def run(walk: Walk, root: Path, settings: Settings) -> None:
    """Open what is served, and ask it everything that reads many files."""
    import lakelens as ll

    with _impatient():
        if settings["kind"] == "rest":
            with serve(HostileCatalog(root, settings["mode"])) as uri:
                properties = {"type": "rest", "name": "evil", "uri": uri, "token": _SECRET}
                walk.step("found", lambda: ll.find(properties).to_text(1))
                table = walk.step("served", lambda: ll.open("db.t", catalog=properties))
                _ask(walk, table)
            return
        with serve(HostileStore(root, **settings)) as address:
            place, given = f"{address}/lake/t", {"headers": {"X-Api-Key": _SECRET}}
            if settings["kind"] == "s3":
                client = {"endpoint_url": address, "region_name": "us-east-1"}
                place, given = (
                    "s3://lake/t",
                    {"key": "k", "secret": "s", "token": _SECRET, "client_kwargs": client},
                )
            _ask(walk, walk.step("served", lambda: ll.open(place, storage_options=given)))


def _ask(walk: Walk, table: Any) -> None:
    for name, ask in _STEPS.items() if table is not None else ():
        walk.step(f"served.{name}", lambda ask=ask: ask(table))


@contextmanager
def _impatient() -> Iterator[None]:
    from lakelens import options

    before = options.timeout, options.retries
    options.timeout, options.retries = 1.0, 0
    try:
        yield
    finally:
        options.timeout, options.retries = before


class HostileStore:
    """The files below a directory as a web server or a bucket `lake` has them, spoilt in one way."""

    def __init__(self, root: Path, kind: str, mode: str, pattern: str) -> None:
        self.root, self.mode, self.pattern, self.is_bucket = root, mode, pattern, kind == "s3"
        self.asked = 0

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        self.asked += 1
        query = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        if self.is_bucket and "list-type" in query:
            return _send(start_response, environ, self._list(query), kind="application/xml")
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace").removeprefix("/lake/t")
        place = self.root / path.strip("/")
        if place.is_dir() and not self.is_bucket:
            return _send(start_response, environ, _list_links(place), kind="text/html")
        if not place.is_file():
            return _send(start_response, environ, b"", "404 Not Found")
        data = place.read_bytes()
        if fnmatch(place.name, self.pattern) and self.mode in OBJECTS:
            return self._spoil(environ, start_response, place, data)
        return _send_range(start_response, environ, data)

    def _spoil(
        self, environ: dict[str, Any], start_response: Start, place: Path, data: bytes
    ) -> Iterable[bytes]:
        changed = {
            "short": data[: len(data) // 2],
            "long": data + bytes(1_000),
            "zeros": bytes(len(data)),
            "empty": b"",
            "replaced": data + bytes([self.asked % 256]),
        }
        if self.mode in changed:
            mark = [("ETag", f'"{self.asked}"')] if self.mode == "replaced" else []
            return _send_range(start_response, environ, changed[self.mode], mark)
        if self.mode == "swapped":
            others = sorted(path for path in place.parent.iterdir() if path.is_file() and path != place)
            return _send_range(start_response, environ, others[0].read_bytes() if others else b"")
        status = {
            "gone": "410 Gone",
            "denied": "403 Forbidden",
            "empty-success": "204 No Content",
            "unsatisfied": "416 Range Not Satisfiable",
            "led-elsewhere": "302 Found",
            "led-to-itself": "307 Temporary Redirect",
        }.get(self.mode)
        if status is not None:
            leads = {"led-elsewhere": f"{ELSEWHERE}/t", "led-to-itself": environ["PATH_INFO"]}.get(self.mode)
            return _send(start_response, environ, b"", status, [("Location", leads)] if leads else [])
        if self.mode == "page":
            return _send(start_response, environ, b"<!doctype html><form>", kind="text/html")
        if self.mode in ("packed", "packed-falsely"):
            body = gzip.compress(data) if self.mode == "packed" else data
            return _send(start_response, environ, body, more=[("Content-Encoding", "gzip")])
        if self.mode in ("promises", "drips", "without-end"):
            promised = [("Content-Length", str(10**12))] if self.mode != "without-end" else []
            start_response("200 OK", [("Content-Type", "application/octet-stream"), *promised])
            return [] if environ["REQUEST_METHOD"] == "HEAD" else _make_body(self.mode, data)
        return self._misplace(environ, start_response, data)

    def _misplace(self, environ: dict[str, Any], start_response: Start, data: bytes) -> Iterable[bytes]:
        """Other bytes than the range that was asked for."""
        asked = environ.get("HTTP_RANGE", "")
        if not asked or self.mode == "whole-for-range":
            return _send(start_response, environ, data)
        size = len(data)
        first, after, said = {
            "range-later": (1, size, f"bytes 1-{size - 1}/{size}"),
            "range-longer": (0, size, f"bytes 0-{10**15}/{10**15 + 1}"),
            "range-of-nothing": (0, 0, f"bytes 5-4/{size}"),
        }.get(self.mode, (0, size, "bytes ten-of-many"))
        more = [("Content-Range", said)]
        return _send(start_response, environ, data[first:after], "206 Partial Content", more)

    def _list(self, query: dict[str, list[str]]) -> bytes:
        if self.mode == "no-xml":
            return b"<html>no"
        if self.mode == "deep-xml":
            return b"<a>" * 5_000
        prefix, found, folders = query.get("prefix", [""])[0], [], set()
        for path in sorted(self.root.rglob("*")):
            key = f"t/{path.relative_to(self.root).as_posix()}"
            if path.is_file() and key.startswith(prefix):
                rest = key.removeprefix(prefix)
                if "delimiter" in query and "/" in rest:
                    folders.add(prefix + rest.split("/")[0] + "/")
                else:
                    found.append((key, str(path.stat().st_size)))
        return self._write_list(prefix, found, sorted(folders))

    def _write_list(self, prefix: str, found: list[tuple[str, str]], folders: list[str]) -> bytes:
        more = ""
        if self.mode.startswith("endless"):
            token = "again" if self.mode == "endless-again" else f"n{self.asked}"
            more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
            found = [] if self.mode == "endless-empty" else [(f"{prefix}k{self.asked}", "1")]
            folders = []
        if self.mode == "names":
            found += [(prefix + name, "1") for name in _NAMES]
        size = {"sizes": str(10**19), "negative": "-1"}.get(self.mode)
        moment = "9999-99-99T99:99:99Z" if self.mode == "times" else "2024-01-01T00:00:00.000Z"
        lines = [
            f'<Contents><Key>{escape(key)}</Key><LastModified>{moment}</LastModified><ETag>"a"</ETag>'
            f"<Size>{size or own}</Size></Contents>"
            for key, own in found
        ]
        lines += [f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in folders]
        return f"<ListBucketResult><Name>lake</Name>{more}{''.join(lines)}</ListBucketResult>".encode(
            "utf-8", "replace"
        )


class HostileCatalog:
    """A REST catalog of one table, `db.t`, that lies in one way."""

    def __init__(self, root: Path, mode: str) -> None:
        self.root, self.mode, self.asked = root, mode, 0

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        self.asked += 1
        path = environ["PATH_INFO"]
        is_table = "/tables/" in path
        if is_table and self.mode == "leads":
            return _send(start_response, environ, b"", "302 Found", [("Location", f"{ELSEWHERE}{path}")])
        if is_table and self.mode == "drips":
            start_response("200 OK", [("Content-Length", str(10**9))])
            return _make_body("drips", b" ")
        body = json.dumps(self._answer(path)).encode()
        if is_table and self.mode in ("no-json", "deep-json"):
            body = b"[" * 100_000 if self.mode == "deep-json" else b"\xff{"
        if is_table and self.mode == "packed":
            return _send(start_response, environ, body, more=[("Content-Encoding", "br")])
        return _send(start_response, environ, body, kind="application/json")

    def _answer(self, path: str) -> Any:
        if path.endswith("/config"):
            overrides = {"uri": {"uri": ELSEWHERE}, "header": {"header.Host": "evil.example"}}.get(
                self.mode, {}
            )
            return {"defaults": {}, "overrides": overrides}
        if path.endswith("/namespaces"):
            return {"namespaces": [["db"]]} if self.mode != "list" else [[]]
        if path.endswith("/views"):
            return {"identifiers": []}
        if path.endswith("/tables"):
            return self._list_names()
        pointer: Any = max(map(str, self.root.glob("metadata/*.metadata.json")), default=str(self.root))
        pointer = {
            "no-location": None,
            "climbs": f"{self.root}/../../etc/metadata/v1.metadata.json",
            "chain": f"simplecache::{pointer}",
            "number": 5,
            "surrogate": "s3://b/\udfff/metadata/v1.metadata.json",
            **dict.fromkeys(("endpoint", "profile", "proxy"), "s3://b/t/metadata/v1.metadata.json"),
        }.get(self.mode, f"file://{pointer}")
        config = {
            "endpoint": {"s3.endpoint": ELSEWHERE},
            "profile": {"s3.profile-name": "production", "s3.endpoint": ELSEWHERE},
            "proxy": {"s3.proxy-uri": ELSEWHERE, "s3.endpoint": ELSEWHERE, "s3.access-key-id": "k"},
        }.get(self.mode, {})
        return {
            "metadata-location": pointer,
            "metadata": {**METADATA, "location": str(self.root)},
            "config": config,
        }

    def _list_names(self) -> Any:
        found = [{"namespace": ["db"], "name": "t"}]
        if self.mode == "names":
            found += [{"namespace": ["db"], "name": name} for name in (*_NAMES, "", "a\x1b[31m", "`")]
        if not self.mode.startswith("pages"):
            return {"identifiers": found}
        token = "again" if self.mode == "pages-again" else str(self.asked)
        return {"identifiers": [] if self.mode == "pages-empty" else found, "next-page-token": token}


METADATA = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "last-sequence-number": 0,
    "last-updated-ms": 1,
    "last-column-id": 1,
    "current-schema-id": 0,
    "schemas": [
        {
            "type": "struct",
            "schema-id": 0,
            "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}],
        }
    ],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
}


def _send(
    start_response: Start,
    environ: dict[str, Any],
    body: bytes,
    status: str = "200 OK",
    more: list[tuple[str, str]] | None = None,
    kind: str = "application/octet-stream",
) -> Iterable[bytes]:
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *(more or [])])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


def _send_range(
    start_response: Start, environ: dict[str, Any], data: bytes, more: list[tuple[str, str]] | None = None
) -> Iterable[bytes]:
    """The bytes that were asked for, as an honest server sends them."""
    first, mark, last = environ.get("HTTP_RANGE", "").removeprefix("bytes=").partition("-")
    if not mark:
        return _send(start_response, environ, data, more=more)
    begin = int(first) if first else max(0, len(data) - int(last))
    after = min(len(data), int(last) + 1) if first and last else len(data)
    if begin >= len(data):
        return _send(start_response, environ, b"", "416 Range Not Satisfiable")
    place = [("Content-Range", f"bytes {begin}-{after - 1}/{len(data)}"), *(more or [])]
    return _send(start_response, environ, data[begin:after], "206 Partial Content", place)


def _list_links(folder: Path) -> bytes:
    names = (f"{one.name}{'/' * one.is_dir()}" for one in sorted(folder.iterdir()))
    return "".join(f'<a href="{quote(name)}">{escape(name)}</a>' for name in names).encode()


def _make_body(mode: str, data: bytes) -> Iterator[bytes]:
    """A body that promises a terabyte, drips, or has no end."""
    yield data
    for _ in range(40 if mode == "drips" else 1_100 if mode == "without-end" else 0):
        if mode == "drips":
            time.sleep(0.1)
        yield b"x" if mode == "drips" else bytes(1 << 16)


COURSE = Course("remote", run, choose, connects=True)
