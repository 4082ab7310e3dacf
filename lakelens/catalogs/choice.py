"""Which catalog is meant by what a user gives: an object, a name, an address, properties, or a directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lakelens.catalogs.entry import (
    CatalogEntry,
    Parts,
    TableCatalog,
    find_missing,
    join_name,
    name_source,
    split_name,
)
from lakelens.errors import Missing, Unsupported, list_nearest
from lakelens.io.local import open_source
from lakelens.io.redaction import redact
from lakelens.io.store import find_info, list_names

# A warehouse directory as a catalog: a name is a path in it, and nobody else has to be asked.
#
# Paimon's filesystem catalog and Hive keep `database.db/table`, Iceberg's Hadoop catalog `namespace/…/table`; tables of
# Hive's database `default` are right in the warehouse.

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
        """Find the directory of a namespace; that of the warehouse for none. Raises `Missing`."""
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


#: What a catalog may be, in an error about anything else.
KINDS = "a pyiceberg catalog, the name of one, its properties, its address, or the directory of a warehouse"
_ADDRESSES = {"http": "rest", "https": "rest", "thrift": "hive", "sqlite": "sql", "postgresql": "sql"}
_DIRECTORIES = ("filesystem", "hadoop", "directory")


def connect(catalog: Any, storage_options: Mapping[str, Any] | None = None) -> TableCatalog:
    """Connect the catalog that is meant.

    Parameters
    ----------
    catalog
        A catalog object of PyIceberg; the name of one in `.pyiceberg.yaml` or the environment; its properties; the address
        of a REST catalog, a Hive metastore or an SQL database; the path or URL of a warehouse.
    storage_options
        Options of the storage of a warehouse.

    Raises
    ------
    Unsupported
        It is nothing of these, or needs a library that is not installed.
    Missing
        There is no catalog of this name.
    LakeError
        It cannot be asked.

    Examples
    --------
    >>> import lakelens as ll
    >>> print(connect("/warehouse").source)
    warehouse at /warehouse
    """
    if isinstance(catalog, Mapping):
        return connect_properties(catalog, storage_options)
    if isinstance(catalog, os.PathLike):
        return DirectoryCatalog(catalog, storage_options)
    if isinstance(catalog, str):
        return _connect_text(catalog, storage_options)
    if hasattr(catalog, "load_table") and hasattr(catalog, "list_namespaces"):
        return _connect_object(catalog)
    raise Unsupported(f"cannot ask a {type(catalog).__name__} for tables", hint=KINDS)


def _connect_object(catalog: Any) -> TableCatalog:
    if any(kind.__name__ == "HiveCatalog" for kind in type(catalog).__mro__):
        from lakelens.catalogs.metastore import MetastoreCatalog

        return MetastoreCatalog(catalog.name, catalog.properties)  # it knows tables of Hive and Paimon too
    from lakelens.catalogs.iceberg import IcebergCatalog

    return IcebergCatalog(catalog)


def _connect_text(text: str, storage_options: Mapping[str, Any] | None) -> TableCatalog:
    scheme, mark, _ = text.partition("://")
    kind = _ADDRESSES.get(scheme.partition("+")[0].lower()) if mark else None
    if kind is not None:
        return connect_properties({"type": kind, "uri": text}, storage_options)
    if (
        mark
        or "/" in text
        or os.sep in text
        or text.startswith((".", "~"))
        or text.partition(":")[0] == "file"
    ):
        return DirectoryCatalog(text, storage_options)
    is_folder = Path(text).is_dir()
    try:
        from lakelens.catalogs.iceberg import list_configured, load_configured

        found = load_configured(text)
    except Unsupported:
        if is_folder:
            return DirectoryCatalog(text, storage_options)
        raise
    if found is not None:
        return connect_properties({"name": text, **found}, storage_options)
    if is_folder:
        return DirectoryCatalog(text, storage_options)
    known = list_configured()
    nearest = (
        list_nearest(text, known) if known else "none is configured in .pyiceberg.yaml or the environment"
    )
    message = f"there is no catalog {redact(text)!r}, and no such directory"
    raise Missing(message, hint=f"{nearest}; {KINDS}" if not known else nearest)


def connect_properties(
    properties: Mapping[str, Any], storage_options: Mapping[str, Any] | None = None
) -> TableCatalog:
    """Connect the catalog that properties describe: those of PyIceberg (`type`, `uri`), or of Paimon (`metastore`)."""
    given = {str(key): value for key, value in properties.items() if key != "name" and value is not None}
    name = str(properties.get("name") or "")
    kind = str(given.get("metastore") or given.get("type") or "").lower()
    uri = str(given.get("uri") or "")
    if kind in _DIRECTORIES or (not kind and not uri and given.get("warehouse")):
        from lakelens.catalogs.trust import choose_storage_options

        if not given.get("warehouse"):
            raise Unsupported("a catalog of directories has no warehouse", hint="its property warehouse")
        options = {**choose_storage_options(given), **(storage_options or {})}
        return DirectoryCatalog(str(given["warehouse"]), options, name)
    if kind == "hive" or (not kind and uri.startswith("thrift:")):
        from lakelens.catalogs.metastore import MetastoreCatalog

        return MetastoreCatalog(name, given)
    if "metastore" in given or kind == "jdbc":
        return _connect_paimon(kind, name, given)
    if not kind and not uri and "py-catalog-impl" not in given:
        raise Unsupported(
            "the properties of a catalog name neither its type nor its address", hint="type, uri"
        )
    from lakelens.catalogs.iceberg import connect_iceberg

    return connect_iceberg(name, given)


def _connect_paimon(kind: str, name: str, properties: Mapping[str, Any]) -> TableCatalog:
    from lakelens.catalogs.paimon import JdbcCatalog, RestCatalog

    if kind == "jdbc":
        return JdbcCatalog(name, properties)
    if kind == "rest":
        return RestCatalog(name, properties)
    known = ("filesystem", "jdbc", "rest", "hive")
    raise Unsupported(f"no metastore {kind!r} of Paimon is known", hint=list_nearest(kind, known))


def find_entry(catalog: TableCatalog, name: str) -> CatalogEntry:
    """Where the table of a name is; the catalog's own name may stand in front. Raises `Missing` with the nearest names."""
    parts = split_name(name)
    if len(parts) > 2 and parts[0] == catalog.source.name:
        try:
            return catalog.locate(parts[1:])
        except Missing as missing:
            try:
                return catalog.locate(parts)  # a namespace may be called as the catalog is
            except Missing:
                raise missing from None
    return catalog.locate(parts)
