"""A warehouse directory as a catalog: a name is a path in it, and nobody else has to be asked.

Paimon's filesystem catalog and Hive keep `database.db/table`, Iceberg's Hadoop catalog `namespace/…/table`; tables of Hive's
database `default` are right in the warehouse.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from lakelens.catalogs.entry import CatalogEntry, Parts, join_name, name_source
from lakelens.catalogs.failures import find_missing
from lakelens.errors import Missing, Unsupported
from lakelens.io.local import open_source
from lakelens.io.store import find_info, list_names

_DEFAULT = "default"
_SUFFIX = ".db"


class DirectoryCatalog:
    """The directories of a warehouse by the names of what is in them."""

    connections = 1

    def __init__(
        self, root: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None, name: str = ""
    ) -> None:
        self.storage_options = dict(storage_options or {})
        self._store, self.root = open_source(root, self.storage_options)
        self.source = name_source(name, "warehouse", self.root)

    def locate(self, parts: Parts) -> CatalogEntry:
        """See `TableCatalog.locate`."""
        if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
            raise Unsupported(f"{join_name(parts)!r} is the name of no directory", hint="database.table")
        for place in self._list_places(parts):
            info = find_info(self._store, place)
            if info is not None and info.is_dir:
                # the directory is all that is known: what is in it says what it is
                return CatalogEntry(join_name(parts), "", place, storage_options=self.storage_options)
        if find_info(self._store, self.root) is None:
            raise Missing("there is no such warehouse", path=self.root)
        raise find_missing(self, parts)

    def _list_places(self, parts: Parts) -> Iterator[str]:
        root = self.root.rstrip("/")
        *spaces, table = parts
        if len(spaces) == 1:
            yield f"{root}/{spaces[0]}{_SUFFIX}/{table}"
        yield "/".join([root, *spaces, table])
        if spaces == [_DEFAULT]:
            yield f"{root}/{table}"

    def find_place(self, namespace: Parts) -> str:
        """The directory of a namespace; that of the warehouse for none. Raises `Missing`."""
        if not namespace:
            return self.root
        *above, last = namespace
        places = ["/".join([self.root.rstrip("/"), *above, name]) for name in (f"{last}{_SUFFIX}", last)]
        for place in places:
            if find_info(self._store, place) is not None:
                return place
        raise find_missing(self, (*namespace, "*"))

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """See `TableCatalog.list_namespaces`."""
        found = {name.removesuffix(_SUFFIX) for name in self._list_folders(parent)}
        return [(*parent, name) for name in sorted(found)]

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """See `TableCatalog.list_names`."""
        for name in sorted(self._list_folders(namespace)):
            yield (*namespace, name)

    def _list_folders(self, namespace: Parts) -> set[str]:
        root = self.root.rstrip("/")
        places = [
            "/".join([root, *namespace]),
            *([f"{root}/{namespace[0]}{_SUFFIX}"] if len(namespace) == 1 else ()),
        ]
        return {
            name
            for place in places
            for name, info in list_names(self._store, place).items()
            if info.is_dir and not name.startswith(("_", "."))
        }
