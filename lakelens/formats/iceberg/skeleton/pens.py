"""What is done with each name and value that a walk over manifests meets: first all are noted, then each is replaced."""

from __future__ import annotations

from typing import Any, Protocol

from lakelens.formats.iceberg.skeleton.columns import RESERVED, ColumnBook, PartitionMap
from lakelens.formats.iceberg.skeleton.places import PlaceBook, list_key

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
