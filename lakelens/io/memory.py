"""A store held in memory: for tests, and for tables that came as bytes."""

from __future__ import annotations

from collections.abc import Mapping

from lakelens.errors import LakeError, Missing
from lakelens.io.store import ObjectInfo


class MemoryStore:
    """Objects by absolute path; directories are whatever the paths imply.

    >>> MemoryStore({"/t/data/a": b"1"}).list("/t")[0].is_dir
    True
    """

    scheme = "memory"

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self._objects = {"/" + path.strip("/"): bytes(data) for path, data in objects.items()}
        self._children: dict[str, set[str]] = {"/": set()}
        for path in self._objects:
            while path != "/":
                parent = path.rsplit("/", 1)[0] or "/"
                self._children.setdefault(parent, set()).add(path)
                path = parent

    def info(self, path: str) -> ObjectInfo:
        key = _normalise(path)
        if key in self._objects:
            return ObjectInfo(key, len(self._objects[key]))
        if key in self._children:
            return ObjectInfo(key, 0, is_dir=True)
        raise Missing("no such object", path=path)

    def list(self, path: str) -> list[ObjectInfo]:
        key = _normalise(path)
        if key not in self._children:
            raise Missing("no such directory", path=path)
        return [self.info(child) for child in sorted(self._children[key])]

    def read(self, path: str) -> bytes:
        key = _normalise(path)
        if key in self._children:
            raise LakeError("is a directory, a file was expected", path=path)
        if key not in self._objects:
            raise Missing("no such object", path=path)
        return self._objects[key]

    def read_range(self, path: str, start: int, length: int) -> bytes:
        data = self.read(path)
        if start < 0:
            start = max(0, len(data) + start)
        return data[start : start + max(0, length)]


def _normalise(path: str) -> str:
    return "/" + path.strip("/")
