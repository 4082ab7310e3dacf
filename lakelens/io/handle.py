"""An object of a store as a seekable file, for libraries that want one (Parquet and ORC footers)."""

from __future__ import annotations

import io

from lakelens.io.store import Store


class StoreFile(io.RawIOBase):
    """Reads only the ranges that are asked for.

    >>> from lakelens.io.memory import MemoryStore
    >>> file = StoreFile(MemoryStore({"/a": b"hello"}), "/a")
    >>> _ = file.seek(-2, 2)
    >>> file.read()
    b'lo'
    """

    def __init__(self, store: Store, path: str) -> None:
        super().__init__()
        self._store = store
        self._path = path
        self._size = store.info(path).size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:  # lakelens: kept word
        return self._position

    def size(self) -> int:
        """Bytes in the object."""
        return self._size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:  # lakelens: kept word
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        base = bases[whence]  # lakelens: kept word
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._store.read_range(self._path, self._position, wanted) if wanted else b""
        self._position += len(data)
        return data

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
