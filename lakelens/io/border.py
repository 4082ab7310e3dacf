"""Where the bytes of a table may come from: below its directory. What is read elsewhere is reported, `..` is refused.

A recorded location is whatever somebody wrote into the metadata, and a link leads wherever somebody let it lead. Data that
is kept elsewhere is no mistake, so it is read; but nobody should look at bytes of another place without knowing it.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from lakelens.errors import LakeError

_MOST_FOLDERS = 100


class Border:
    """The border of a table's directory. `report` is called with a folder outside of it, once for each of the first 100.

    >>> found = []
    >>> border = Border("/wh/t", "memory", found.append)
    >>> for path in ("/wh/t/data/a", "/etc/passwd", "/etc/group"):
    ...     border.note(path)
    >>> found
    ['/etc']
    """

    def __init__(self, root: str, scheme: str, report: Callable[[str], None]) -> None:
        self._root = root
        self._inside = root.strip("/") + "/"
        self._has_links = scheme == "file"
        self._report = report
        self._reported: set[str] = set()
        self._real: dict[str, str] = {}

    def refuse(self, path: str) -> None:
        """Raises `LakeError` for a path that climbs: no format writes one, and it may lead anywhere."""
        if ".." in path and ".." in (path.removeprefix(self._root) if self._holds(path) else path).split("/"):
            raise LakeError("leads out of the table: a recorded location may not hold '..'", path=path)

    def note(self, path: str) -> None:
        """Report the folder of a file that was read, if that is outside."""
        folder = self._find_outside(path)
        if folder is not None and self.is_new(folder):
            self._report(folder)

    def is_new(self, folder: str) -> bool:
        """Whether a folder was not reported yet, and still may be; from now on it is."""
        if folder in self._reported or len(self._reported) >= _MOST_FOLDERS:
            return False
        self._reported.add(folder)
        return True

    def _holds(self, path: str) -> bool:
        return (path.strip("/") + "/").startswith(self._inside) or self._inside == "/"

    def _find_outside(self, path: str) -> str | None:
        """The folder of a path, behind its links; None where that is inside."""
        folder = path.rpartition("/")[0] or "/"
        if not self._has_links:
            return None if self._holds(path) else folder
        real = self._resolve(folder)
        if os.path.islink(path):  # noqa: PTH114
            real = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
        home = self._resolve(self._root)
        is_inside = real == home or real.startswith(home.rstrip("/") + "/")
        return None if is_inside or (path == self._root and folder == real) else real

    def _resolve(self, folder: str) -> str:
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return self._real[folder]
