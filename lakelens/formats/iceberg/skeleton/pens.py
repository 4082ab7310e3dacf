"""What is done with each name and value that a walk over manifests meets: first all are noted, then each is replaced."""

from __future__ import annotations

import posixpath
import re
from typing import Any, Protocol

from lakelens.formats.iceberg.metadata.document import parse_snapshot_id
from lakelens.formats.iceberg.skeleton.column_book import RESERVED, ColumnBook, PartitionMap
from lakelens.io.relocation import split_location
from lakelens.model.skeleton.redaction import Names
from lakelens.model.skeleton.walk import MARK

# Where the files of a skeleton are: every recorded path in place of another, below one mark that stands for the location.
#
#     metadata/vN.metadata.json            metadata/snap-SNAPSHOT-1-f000001.avro      metadata/f000002-m0.avro
#     data/f000003.parquet                 numbers are given in the order of the recorded paths
#
# Directories of partitions are not kept: they are no part of the format. Two spellings of a scheme stay two (`file:/…` and
# `file:///…` are different paths to readers that compare text), but all are of this machine, as the skeleton is.

_SPELLINGS = ("", "file:", "file://")
_ENDINGS = frozenset(("avro", "parquet", "orc", "puffin", "stats", "metadata", "json", "gz", "zst", "snappy"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(/*)")


class PlaceBook:
    """The recorded paths of one table and those in their place."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._spellings: dict[str, str] = {"": ""}
        #: of each recorded path of a manifest list or manifest where it is below the skeleton
        self.metadata: dict[str, str] = {}

    def spell(self, recorded: str) -> str:
        """Give the table's location, spelled as a recorded one: with or without scheme."""
        found = _SCHEME.match(recorded)
        key = "" if found is None else f"{found[1].lower()}:{'//' if len(found[2]) > 1 else ''}"
        if key not in self._spellings:
            usual = {"file:": "file:", "file://": "file://"}.get(key)
            taken = self._spellings.values()
            free = next((one for one in ("file:", "file://") if one not in taken), "file://")
            self._spellings[key] = usual or free
        return self._spellings[key] + MARK

    def name_list(self, recorded: str, snapshot_id: object) -> str:
        """Name a manifest list: the snapshot id in its name stays, which shows an id that was rounded."""
        number = parse_snapshot_id(posixpath.basename(recorded))
        if number is None:
            number = snapshot_id if isinstance(snapshot_id, int) else 0
        return self._place(recorded, f"metadata/snap-{number}-1-{self._names.file(recorded)}.avro")

    def name_manifest(self, recorded: str) -> str:
        """Name a manifest."""
        ending = "parquet" if recorded.endswith(".parquet") else "avro"
        return self._place(recorded, f"metadata/{self._names.file(recorded)}-m0.{ending}")

    def _place(self, recorded: str, relative: str) -> str:
        self.metadata.setdefault(recorded, relative)
        return f"{self.spell(recorded)}/{self.metadata[recorded]}"

    def name_file(self, recorded: str) -> str:
        """Name a data or delete file."""
        word = posixpath.basename(recorded).rpartition(".")[2].lower()
        ending = f".{word}" if word in _ENDINGS else ""
        return f"{self.spell(recorded)}/data/{self._names.file(_locate(recorded))}{ending}"

    def name_cut(self, recorded: str) -> str:
        """Name a path that may be cut short: a known one as it is named, any other where it stands among the known ones."""
        if self._names.knows_file(_locate(recorded)):
            return self.name_file(recorded)
        return f"{self.spell(recorded)}/data/{self._names.stand(_locate(recorded))}"


def list_key(recorded: str) -> str:
    """List what a data file's path is numbered by: its path without scheme and host."""
    return _locate(recorded)


def _locate(recorded: str) -> str:
    return split_location(recorded)[1]


PATH_COLUMN = 2147483546  # file_path of position delete files


class Pen(Protocol):
    """What a walk gives names and values to; it gives what stands in their place."""

    def bound(self, column: int, data: bytes) -> bytes | None: ...
    def partition(self, field: PartitionMap, stored: Any) -> Any: ...
    def partition_bound(self, field: PartitionMap, data: bytes) -> bytes: ...
    def file(self, recorded: str) -> str: ...
    def manifest(self, recorded: str) -> str: ...


class NotingPen:
    """Notes every value and path; nothing is replaced yet."""

    def __init__(self, book: ColumnBook) -> None:
        self._book = book
        #: the paths of data and delete files without their schemes, and of manifests as recorded
        self.files: set[str] = set()
        self.manifests: dict[str, None] = {}
        self.vectors: dict[str, None] = {}

    def bound(self, column: int, data: bytes) -> bytes:
        if column <= RESERVED:
            self._book.add_bound(column, data)
        return data

    def partition(self, field: PartitionMap, stored: Any) -> Any:
        field.add(stored)
        return stored

    def partition_bound(self, field: PartitionMap, data: bytes) -> bytes:
        field.add_bound(data)
        return data

    def file(self, recorded: str) -> str:
        self.files.add(list_key(recorded))
        if recorded.endswith(".puffin"):
            self.vectors[recorded] = None
        return recorded

    def manifest(self, recorded: str) -> str:
        self.manifests[recorded] = None
        return recorded


class WritingPen:
    """Gives what stands in the place of each."""

    def __init__(self, book: ColumnBook, places: PlaceBook) -> None:
        self._book, self._places = book, places

    def bound(self, column: int, data: bytes) -> bytes | None:
        if column == PATH_COLUMN:
            return self._places.name_cut(data.decode("utf-8", "replace")).encode()
        if self._book.type_of(column).name in ("variant", "unknown") and column <= RESERVED:
            self._book.redaction.note("bounds of variants, and of columns that no schema has, are left out")
            return None
        return self._book.map_bound(column, data)

    def partition(self, field: PartitionMap, stored: Any) -> Any:
        return field.map(stored)

    def partition_bound(self, field: PartitionMap, data: bytes) -> bytes:
        return field.map_bound(data)

    def file(self, recorded: str) -> str:
        return self._places.name_file(recorded)

    def manifest(self, recorded: str) -> str:
        return self._places.name_manifest(recorded)
