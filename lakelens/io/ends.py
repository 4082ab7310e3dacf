"""What is known of far files before they are read: their first and last bytes, and the listings of a whole directory."""

from __future__ import annotations

import posixpath
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lakelens.io.store import ObjectInfo

# what is read of a file at its beginning (magics), and at its end (a footer, usually)
_HEAD, _END = 256, 64 << 10
_MOST_KEPT = 32 << 20
#: A part of a file: "end", its path, where it begins and how long it is, the file's size, and its line of a listing.
Part: TypeAlias = tuple[str, str, int, int, int, ObjectInfo | None]


def list_ends(path: str, size: int, info: ObjectInfo | None = None) -> list[Part]:
    """The parts of a file that are read ahead of its footer; of a small one all of it.

    >>> [part[2:4] for part in list_ends("/t/a", 100)], [part[2:4] for part in list_ends("/t/a", 100_000)]
    ([(0, 100)], [(0, 256), (34464, 65536)])
    """
    if size <= _END:
        return [("end", path, 0, size, size, info)] if size > 0 else []
    return [("end", path, 0, _HEAD, size, info), ("end", path, size - _END, _END, size, info)]


@dataclass(slots=True)
class _Ends:
    size: int
    info: ObjectInfo | None
    parts: dict[int, bytes] = field(default_factory=dict)


class FileEnds:
    """The parts of files that were read last, up to 32 MiB. A file of which no listing said the size is asked for it, too:
    where that is another one, its parts are of no use.

    >>> ends = FileEnds()
    >>> ends.keep(list_ends("/t/a", 5, ObjectInfo("/t/a", 5))[0], b"12345")
    >>> ends.find_range("/t/a", -2, 2), ends.find_range("/t/b", 0, 2)
    (b'45', None)
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Ends] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def expect(self, part: Part) -> None:
        """This part is being asked for."""
        _, path, _, _, size, info = part
        with self._lock:
            known = self._kept.get(path)
            if known is None or known.size != size:
                self._drop(path)
                self._kept[path] = _Ends(size, info)

    def confirm(self, info: ObjectInfo) -> None:
        """What the store says of a file that was asked for its size."""
        with self._lock:
            known = self._kept.get(info.path)
            if known is not None:
                known.info = info
                if info.size != known.size:
                    self._drop(info.path)

    def keep(self, part: Part, data: bytes) -> None:
        """This part was read."""
        _, path, start, length, size, info = part
        with self._lock:
            known = self._kept.get(path)
            if len(data) != length or (known is not None and known.size != size):
                return
            if known is None:
                known = self._kept[path] = _Ends(size, info)
            self._total += len(data) - len(known.parts.get(start, b""))
            known.parts[start] = data
            self._kept.move_to_end(path)
            while self._total > _MOST_KEPT:
                self._drop(next(iter(self._kept)))

    def has(self, part: Part) -> bool:
        """Whether this part is known."""
        _, path, start, length, _, _ = part
        return self.find_range(path, start, length) is not None

    def find_info(self, path: str) -> ObjectInfo | None:
        """What a listing or the store said of a file with known parts."""
        with self._lock:
            known = self._kept.get(path)
            return None if known is None or not known.parts else known.info

    def find_whole(self, path: str) -> bytes | None:
        """All bytes of a file, where it is so small that its ends are all of it."""
        with self._lock:
            known = self._kept.get(path)
            whole = None if known is None or known.info is None else known.parts.get(0)
            return whole if known is not None and whole is not None and len(whole) == known.size else None

    def find_range(self, path: str, start: int, length: int) -> bytes | None:
        """These bytes of a file; None where they are not known."""
        with self._lock:
            known = self._kept.get(path)
            if known is None or known.info is None:
                return None
            self._kept.move_to_end(path)
            begin = max(0, known.size + start) if start < 0 else start
            stop = min(known.size, begin + max(0, length))
            for at, data in known.parts.items():
                if at <= begin and stop <= at + len(data):
                    return data[begin - at : max(begin, stop) - at]
            return None

    def _drop(self, path: str) -> None:
        known = self._kept.pop(path, None)
        if known is not None:
            self._total -= sum(map(len, known.parts.values()))


def divide_listing(path: str, found: Sequence[ObjectInfo], *, is_whole: bool) -> dict[str, list[ObjectInfo]]:
    """What the listing of each directory below `path` gives, by the files below it, which are in order.

    Where these are not all, the directories that the last one is in are left out.

    >>> listed = divide_listing("/t", [ObjectInfo("/t/a/b/c", 1), ObjectInfo("/t/d", 2)], is_whole=True)
    >>> {folder: [child.name for child in children] for folder, children in listed.items()}
    {'/t': ['a', 'd'], '/t/a/b': ['c'], '/t/a': ['b']}
    """
    listings: dict[str, dict[str, ObjectInfo]] = {path: {}}
    for info in found:
        child = info
        if info.is_dir:
            listings.setdefault(info.path, {})
        while child.path.startswith(f"{path}/"):
            folder = posixpath.dirname(child.path)
            children = listings.setdefault(folder, {})
            if child.path in children:
                break
            children[child.path] = child
            child = ObjectInfo(folder, 0, is_dir=True)
    last = found[-1].path if found and not is_whole else ""
    return {
        folder: sorted(children.values(), key=lambda child: child.path)
        for folder, children in listings.items()
        if not last.startswith(f"{folder}/")
    }
