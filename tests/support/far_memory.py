"""Stores in memory that say that they are far: what is asked of them is counted, and some of it is refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import lakelens as ll
from lakelens.errors import AccessDenied, Missing
from lakelens.io.memory import MemoryStore
from lakelens.io.store import ObjectInfo
from lakelens.model.table import Table
from lakelens.opening import open_in_store

ROOT = "/lake/w/t"


class FarStore(MemoryStore):
    """Directories are listed one by one, as most stores do."""

    scheme = "s3"

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        super().__init__(objects)
        self.asked: list[tuple[str, str]] = []

    def info(self, path: str) -> ObjectInfo:
        self.asked.append(("info", path))
        return super().info(path)

    def list(self, path: str) -> list[ObjectInfo]:
        self.asked.append(("list", path))
        return [
            MemoryStore.info(self, child) for child in sorted(self._children.get(path.rstrip("/"), ()))
        ] or (super().list(path))

    def read(self, path: str) -> bytes:
        self.asked.append(("read", path))
        return super().read(path)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        self.asked.append(("range", path))
        data = MemoryStore.read(self, path)
        begin = max(0, len(data) + start) if start < 0 else start
        return data[begin : begin + max(0, length)]


class FlatStore(FarStore):
    """A whole prefix is listed at once, as S3 does."""

    def list_below(self, path: str, limit: int) -> Any:
        self.asked.append(("below", path))
        found = (one for one in sorted(self._objects) if one.startswith(f"{path.rstrip('/')}/"))
        return [ObjectInfo(one, len(self._objects[one])) for one in found][:limit]


class UnlistedStore(FarStore):
    """Objects may be read, and nothing may be listed: S3 then refuses what is not there, too."""

    def info(self, path: str) -> ObjectInfo:
        self.asked.append(("info", path))
        if path in self._objects:
            return MemoryStore.info(self, path)
        raise AccessDenied("the storage refused to look at this", path=path)

    def list(self, path: str) -> Any:
        self.asked.append(("list", path))
        raise AccessDenied("the storage refused to list this", path=path)

    def read(self, path: str) -> bytes:
        try:
            return super().read(path)
        except Missing:
            raise AccessDenied("the storage refused to read this", path=path) from None

    def read_range(self, path: str, start: int, length: int) -> bytes:
        self.read(path)
        return super().read_range(path, start, length)


def read_objects(folder: str | Path, root: str = ROOT) -> dict[str, bytes]:
    """The files of a directory of this machine, below a root."""
    home = Path(folder)
    files = (path for path in sorted(home.rglob("*")) if path.is_file())
    return {f"{root}/{path.relative_to(home).as_posix()}": path.read_bytes() for path in files}


def show(table: Table) -> tuple[str, str]:
    """The card of a table, in both of its forms."""
    return str(table), table._repr_html_()


def open_twins(
    folder: str | Path, kind: type[FarStore] = FlatStore, **options: Any
) -> tuple[Table, Table, FarStore]:
    """The same table in a near and in a far store, under the same path, and the far store."""
    objects = read_objects(folder)
    far = kind(objects)
    return open_in_store(MemoryStore(objects), ROOT, **options), open_in_store(far, ROOT, **options), far


def read_samples(format: str) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The name and the objects of each sample of a format that the package has."""
    tables = Path(ll.__file__).parent / "samples" / "tables"
    for path in sorted(tables.glob(f"{format}*.zip")):
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as packed:
            names = [name for name in packed.namelist() if not name.endswith("/")]
            yield path.stem, {f"{ROOT}/{name}": packed.read(name) for name in names}


def open_far(objects: dict[str, bytes], path: str = ROOT) -> Table:
    """The table of some objects, behind a network."""
    return open_in_store(FarStore(objects), path)


def open_near(objects: dict[str, bytes], path: str = ROOT) -> Table:
    """The same table without one."""
    return open_in_store(MemoryStore(objects), path)


def count_card(table: Table) -> int:
    """How often one waits for a table's text and card, opening included."""
    assert str(table) and table._repr_html_()
    return table.reads.waves
