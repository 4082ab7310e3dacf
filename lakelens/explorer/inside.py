"""What may be asked for: the files of a table, below the root of an explorer; nothing that climbs, nothing behind a link."""

from __future__ import annotations

import os
import re

from lakelens.errors import Missing
from lakelens.model.table import Table

_LONGEST = 8_192  # characters of a path
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:")


class Inside:
    """The border of an explorer's root, as the pages of a table see it.

    >>> inside = Inside("/wh")
    >>> inside.name_table("/wh/shop.db/orders"), inside.name_table("/etc")
    (('shop.db', 'orders'), None)
    >>> inside.leads("data/a.parquet"), inside.leads("data/../../secret")
    (True, False)
    """

    def __init__(self, root: str, table: Table | None = None) -> None:
        self.root = root.rstrip("/")
        self._table = table

    def name_table(self, path: str) -> tuple[str, ...] | None:
        """The names from the root to the directory of a table, which is absolute or below the root; None for another's."""
        place = path.rstrip("/")
        if place == self.root:
            return ()
        if place.startswith(self.root + "/"):
            place = place[len(self.root) + 1 :]
        elif place.startswith("/") or "://" in place:
            return None
        return tuple(place.split("/")) if _is_plain(place) else None

    def leads(self, recorded: str) -> bool:
        """Say whether a page may be asked for what the metadata calls this; nothing is read to know it.

        Not for a path that climbs, nor for one that is recorded elsewhere and is not below the root today.
        """
        if not recorded or len(recorded) > _LONGEST or not _is_plain(recorded, absolute=True):
            return False
        if self._table is None or recorded.startswith(self.root + "/"):
            return True
        path = recorded.removeprefix("file://").removeprefix("file:")
        return recorded not in self._table.relocation.unmapped or path.startswith(self.root + "/")

    def shorten(self, path: str) -> str:
        """The path of a file as an address has it: below the table's directory where it is there, so on every machine."""
        if self._table is None:
            return path
        home = self._table.location.rstrip("/") + "/"
        relocation = self._table.relocation
        # a relative location is mapped by the format, and is no place that the table was moved from
        own = ((relocation.recorded_location, relocation.location),) if relocation.recorded_location else ()
        for recorded, actual in () if path.startswith(home) else (*relocation.mapping, *own):
            if path.startswith(f"{recorded.rstrip('/')}/"):
                path = actual.rstrip("/") + path[len(recorded.rstrip("/")) :]
                break
        inner = path[len(home) :]
        is_short = path.startswith(home) and _is_plain(inner) and not _SCHEME.match(inner)
        return inner if is_short else path

    def expand(self, path: str) -> str:
        """Expand the path of a file that an address has; see `shorten`."""
        if self._table is None or path.startswith("/") or _SCHEME.match(path) or not _is_plain(path):
            return path
        return f"{self._table.location.rstrip('/')}/{path}"

    def holds(self, path: str) -> bool:
        """Check whether a file, where it is now, is below the root as its path is written, and no step of it is a link."""
        if not path.startswith(self.root + "/"):
            return False
        steps = path[len(self.root) + 1 :]
        if not _is_plain(steps):
            return False
        if "://" in self.root:
            return True
        try:
            home = os.path.realpath(self.root or "/")
            return os.path.realpath(path) == os.path.join(home, steps)  # noqa: PTH118
        except (OSError, ValueError):  # a name that no file can have
            return False

    def check(self, path: str) -> None:
        """Raises `Missing` for a file that is not below the root, or is not there: where it was recorded nobody looks."""
        if not self.holds(path):
            raise Missing("is outside of what is served: nothing of it is read", path=path)
        if "://" not in self.root and self.root and not os.path.isfile(path):  # noqa: PTH113
            raise Missing("the file is not there", path=path, hint="it has expired, or was not copied")


def _is_plain(path: str, *, absolute: bool = False) -> bool:
    """Check whether no step of a path is empty or climbs; before the first one of an absolute path there may be a scheme."""
    steps = path.split("/")
    if absolute:
        steps = [step for step in steps if step]
    return "\0" not in path and bool(steps) and not any(step in ("", ".", "..") for step in steps)
