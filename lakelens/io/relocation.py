"""Recorded locations and where they are now.

Metadata records absolute locations; nearly every table seen in practice has been moved since. All mapping happens here,
on text alone (no request is made), in this order:

1. a location below a recorded root is taken below the directory that was opened;
2. a location that is already below the opened directory stays as it is;
3. a location that holds the opened directory's own name as a component is taken from there on;
4. a location that holds one of the format's own folders (`metadata`, `data`, `bucket-0`, …) is taken from there on;
5. anything else stays where it was recorded, and is named in `unmapped`.

Of a table that was moved or copied a file may be where it was recorded and not here. Where it was recorded below a `home`,
a directory in which the table itself has stood, it belongs to the table and is missing here; recorded elsewhere (files that
were imported, a `write.data.path` in another bucket) it was never in the table's directory, and nothing is missing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(.*)$", re.DOTALL)
#: Characters. No store has a longer name; what is longer is compared with nothing and taken apart nowhere.
_LONGEST = 1 << 16
_ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb", "local": "file"}


def split_location(location: str) -> tuple[str, str]:
    """Scheme (lower case, aliases folded, empty for a plain path) and path of a recorded location.

    A `file:` location loses its slashes' count and its host; other schemes keep their authority as first component.

    >>> split_location("file:///wh/t"), split_location("file:/wh/t"), split_location("file://host/wh/t")
    (('file', '/wh/t'), ('file', '/wh/t'), ('file', '/wh/t'))
    >>> split_location("s3a://bucket/t/"), split_location("/wh//t")
    (('s3', '/bucket/t'), ('', '/wh/t'))
    """
    if len(location) > _LONGEST:
        return "", location
    matched = _SCHEME.match(location)
    if not matched:
        return "", _clean(location)
    scheme = matched[1].lower()
    scheme = _ALIASES.get(scheme, scheme)
    rest = matched[2]
    if scheme == "file" and rest.startswith("//") and not rest.startswith("///"):
        host, _, path = rest[2:].partition("/")
        rest = "/" + path if path or "." in host or host == "localhost" or host else "/"
    if scheme not in ("file",):
        rest = "/" + rest.lstrip("/")
    return scheme, _clean(rest)


def _clean(path: str) -> str:
    collapsed = re.sub(r"/{2,}", "/", path) if "//" in path else path
    return collapsed.rstrip("/") if len(collapsed) > 1 else collapsed


class Locator:
    """Maps recorded locations onto the directory that was opened.

    >>> locator = Locator("/now/t", ["file:/was/t"], folders=("metadata", "data"))
    >>> locator.locate("file:/was/t/data/f.parquet")
    '/now/t/data/f.parquet'
    >>> locator.locate("/elsewhere/t/metadata/v1.metadata.json")
    '/now/t/metadata/v1.metadata.json'
    >>> locator.locate("/mnt/other.parquet"), locator.unmapped
    ('/mnt/other.parquet', ['/mnt/other.parquet'])

    A table that `stands_still` is where it was recorded: then locations elsewhere are those of other places.

    >>> Locator("/wh/t", ["file:/wh/t"], folders=("data",), stands_still=True).locate("/mnt/t/data/f.parquet")
    '/mnt/t/data/f.parquet'
    """

    def __init__(
        self,
        root: str,
        recorded_roots: Iterable[str] = (),
        *,
        folders: Iterable[str] = (),
        scheme: str = "file",
        stands_still: bool = False,
    ) -> None:
        head, mark, rest = root.partition("://")
        self.root = head + mark + _clean(rest) if mark else _clean(root)
        #: the root as recorded locations are compared: without a scheme
        self.place = "/" + split_location(self.root)[1].strip("/")
        self.scheme = scheme
        self._folders = tuple(folders)
        self._stands_still = stands_still
        given = list(recorded_roots)
        #: what relative locations may begin with
        self._base = split_location(given[0])[1].lstrip("/") if given else ""
        self._roots: list[tuple[str, str]] = []  # (recorded, normalised), longest first
        #: the directories in which the table has stood, as recorded
        self.homes: list[str] = []
        self._unmapped: dict[str, None] = {}
        self._used: dict[str, str] = {}
        for recorded in given:
            self.add_root(recorded, is_home=True)

    def add_root(self, recorded: str, *, is_home: bool = False) -> None:
        """Another location below which files of the table were recorded; a home is where the table has once stood."""
        _, path = split_location(recorded)
        if is_home and path not in ("", "/") and recorded not in self.homes:
            self.homes.append(recorded)
        if len(path) > _LONGEST:
            return
        if path in ("", "/") or any(path == known for _, known in self._roots):
            return
        self._roots.append((recorded, path))
        self._roots.sort(key=lambda pair: -len(pair[1]))

    def locate(self, recorded: str) -> str:
        """Locate the path, in the store's name space, at which a recorded location is now."""
        if len(recorded) > _LONGEST:
            self._unmapped.setdefault(recorded)
            return recorded
        path = split_location(recorded)[1]
        if not path.startswith("/"):
            return self._locate_relative(path)
        if self._stands_still and not self._lies_below(path.strip("/"), self.place.strip("/")):
            return self.in_store(path)
        below = self._below_root(path)
        if below is None and self._lies_below(path, self.place):
            return self.in_store(path)
        if below is None:
            below = self._by_component(path)
        if below is not None:
            return f"{self.root}/{below}" if below else self.root
        self._unmapped.setdefault(recorded)
        return self.in_store(path)

    def _locate_relative(self, path: str) -> str:
        """Locate a relative location, of a draft of Iceberg v4 or by a writer's mistake.

        It is below the table's location when it begins with that itself, else from one of the format's folders on.
        """
        if self._base and self._lies_below(path, self._base):
            return f"{self.root}/{path[len(self._base) :].lstrip('/')}".rstrip("/")
        parts = path.split("/")
        names = (posixpath.basename(self.root), posixpath.basename(self._base))
        for index, part in enumerate(parts[:-1]):
            if part in self._folders and (index == 0 or parts[index - 1] in names):
                return "/".join([self.root, *parts[index:]])
        return f"{self.root}/{path}"

    def keep_unmapped(self, recorded: str) -> None:
        """Keep a recorded location whose file is not where the rules place it, but still where it was recorded."""
        self._unmapped.setdefault(recorded)

    @property
    def mapping(self) -> list[tuple[str, str]]:
        """Recorded prefixes that were found, each with the place it stands for now; the identity is left out."""
        used = (
            (recorded, split_location(recorded)[1].strip("/"), now) for recorded, now in self._used.items()
        )
        return [(recorded, now) for recorded, path, now in used if path != self.place.strip("/")]

    @property
    def roots(self) -> list[str]:
        """The paths at which the table stands or has stood, without their schemes."""
        return [self.place, *(path for _, path in self._roots)]

    def was_at_home(self, recorded: str) -> bool:
        """Check whether a location was recorded below a home, so that its file is missing where it is not below the root.

        >>> locator = Locator("/now/t", ["file:/was/t"])
        >>> locator.was_at_home("file:/was/t/data/f.parquet"), locator.was_at_home("file:/import/data/f.parquet")
        (True, False)
        """
        if self._stands_still:
            return False
        path = split_location(recorded)[1]
        homes = (split_location(home)[1] for home in self.homes)
        return any(self._lies_below(path, home) and home != self.place for home in homes)

    @property
    def unmapped(self) -> list[str]:
        """Recorded locations that no rule could place."""
        return list(self._unmapped)

    def _below_root(self, path: str) -> str | None:
        for recorded, root in self._roots:
            if self._lies_below(path, root):
                self._used.setdefault(recorded, self.root)
                return path[len(root) :].lstrip("/")
        return None

    def _by_component(self, path: str) -> str | None:
        parts = path.split("/")
        name = posixpath.basename(self.root)
        for index in range(len(parts) - 2, 0, -1):
            if parts[index] == name:
                self._used.setdefault("/".join(parts[: index + 1]), self.root)
                return "/".join(parts[index + 1 :])
        for index, part in enumerate(parts[:-1]):
            if part in self._folders and index > 0:
                self._used.setdefault("/".join(parts[:index]), self.root)
                return "/".join(parts[index:])
        return None

    @staticmethod
    def _lies_below(path: str, root: str) -> bool:
        return path == root or path.startswith(root + "/")

    def in_store(self, path: str) -> str:
        """A path without a scheme as the store of the table knows it: with the scheme of the directory that was opened.

        >>> Locator("s3://bucket/t").in_store("/bucket/t/data"), Locator("/wh/t").in_store("/wh/t/data")
        ('s3://bucket/t/data', '/wh/t/data')
        """
        scheme, mark, rest = self.root.partition("://")
        if mark and scheme in ("http", "https"):  # of another host nothing is asked for
            host, name = rest.partition("/")[0], path.strip("/")
            return f"{scheme}://{name}" if name.startswith(host + "/") else f"{scheme}://{host}/{name}"
        if mark:
            return f"{scheme}://{path.lstrip('/')}"
        return path if self.root.startswith("/") else path.lstrip("/")
