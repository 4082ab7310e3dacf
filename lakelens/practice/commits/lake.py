"""A table as files by path, a pointer beside it, and what is known of the INSERTs that Spark made of it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from lakelens.codecs.avro.container import decode_header
from lakelens.codecs.avro.records import encode_records
from lakelens.installed import read_packaged

#: A commit: before each change it yields the name of the step that the change is part of.
Commit = Iterator[str]


class CommitFailed(Exception):
    """An INSERT that ends with an error, as its engine would raise it."""


@dataclass
class Lake:
    """The files of a table, what a catalog points to, and every change so far as a line of text."""

    files: dict[str, bytes]
    pointer: str = ""
    log: list[str] = field(default_factory=list)

    def write(self, path: str, data: bytes) -> None:
        """Write a file whole; one of that path that is there is gone."""
        self.files[path] = data
        self.log.append(f"write {shorten(path)}")

    def move(self, old: str, new: str) -> None:
        """Rename a file. Raises CommitFailed where it is not there any more."""
        if old not in self.files:
            raise CommitFailed(f"{old} does not exist")
        self.files[new] = self.files.pop(old)
        self.log.append(f"rename {shorten(old)} to {shorten(new)}")

    def remove(self, *paths: str) -> None:
        """Remove files."""
        for path in paths:
            del self.files[path]
            self.log.append(f"remove {shorten(path)}")

    def swap(self, new: str) -> None:
        """Move the pointer of the catalog."""
        self.pointer = new
        self.log.append(f"pointer to {shorten(new)}")


def shorten(path: str) -> str:
    """Shorten the random part of a name, and how Spark calls the compression.

    >>> shorten("part-00000-984340bc-f9a8-42ca-9df4-82b87b8ddaed-c000.snappy.parquet")
    'part-00000-9843….parquet'
    """
    path = path.replace("-c000.snappy.", ".")
    return re.sub(r"([0-9a-f]{4})[0-9a-f]{4}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"\1…", path)


class Format(NamedTuple):
    """How a format commits: the five steps of an INSERT, what makes its last one atomic, the table before, the INSERT.

    `insert` is called with a table, the number of the INSERT (1 or 2), and whether it is atomic; `atomic` is empty where
    nothing can be.
    """

    name: str
    steps: tuple[str, ...]
    atomic: str
    start_lake: Callable[[], Lake]
    insert: Callable[[Lake, int, bool], Commit]


@cache
def load_lake(format: str) -> Mapping[str, bytes]:
    """Load the files that Spark left of three INSERTs into a table of a format, in the order in which they were written."""
    with zipfile.ZipFile(io.BytesIO(read_packaged(__package__, "lakes.zip"))) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{format}/")]
        return {name.partition("/")[2]: archive.read(name) for name in names}


def load_json(lake: Mapping[str, bytes], path: str) -> dict[str, Any]:
    """Load a JSON document of a lake."""
    document: dict[str, Any] = json.loads(lake[path])
    return document


def write_json(document: Mapping[str, Any]) -> bytes:
    """Write a JSON document."""
    return json.dumps(document, indent=2).encode()


def rewrite_avro(data: bytes, records: Iterable[Mapping[str, Any]], **metadata: str) -> bytes:
    """Write an Avro file with the schema and the header of another one; `metadata` takes the place of keys of the header."""
    header = decode_header(data)
    kept = {key: value for key, value in header.metadata.items() if not key.startswith("avro.")}
    named = {key.replace("_", "-"): value.encode() for key, value in metadata.items()}
    codec = header.metadata.get("avro.codec", b"null").decode()
    return encode_records(header.schema, records, {**kept, **named}, codec)
