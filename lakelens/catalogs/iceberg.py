"""Catalogs that PyIceberg knows: REST, SQL, Glue, DynamoDB, BigQuery, and a class of the user's own.

PyIceberg finds the pointer, no more: the metadata file is not read by it, and no file system is opened. Where it would read
the file, in every catalog that is not REST, it is given a file system that stops it there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lakelens import options
from lakelens.catalogs.entry import CatalogEntry, CatalogSource, Parts, join_name, name_source
from lakelens.catalogs.failures import INSTALL, find_missing, refusing
from lakelens.catalogs.trust import check_location, choose_storage_options, is_near, split_answer
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.io.redaction import find_secrets

FORMAT = "iceberg"
_KINDS = {
    "RestCatalog": "REST catalog",
    "SqlCatalog": "SQL catalog",
    "InMemoryCatalog": "catalog in memory",
    "GlueCatalog": "Glue catalog",
    "DynamoDbCatalog": "DynamoDB catalog",
    "BigQueryMetastoreCatalog": "BigQuery catalog",
}
_ADDRESSES = {
    "GlueCatalog": "https://glue.amazonaws.com",
    "DynamoDbCatalog": "https://dynamodb.amazonaws.com",
    "BigQueryMetastoreCatalog": "https://bigquery.googleapis.com",
}
_TYPES = {"rest": "REST", "sql": "SQL", "glue": "Glue", "dynamodb": "DynamoDB", "bigquery": "BigQuery"}
# what a REST catalog's configuration may say beside how storage is reached: not whom to ask, with what, or by which class
_CONFIGURED = ("prefix", "warehouse", "namespace-separator", "view-endpoints-supported")


class PointerFound(Exception):
    """What stops PyIceberg before it reads a metadata file: where that is, and how its storage is reached."""

    def __init__(self, location: str, properties: Mapping[str, Any]) -> None:
        super().__init__(location)
        self.location, self.properties = location, properties


class PointerIO:
    """The file system that PyIceberg is given: it reads nothing."""

    def __init__(self, properties: Mapping[str, Any], location: str | None = None) -> None:
        self.properties = dict(properties)

    def new_input(self, location: str) -> Any:
        """Raises `PointerFound`."""
        raise PointerFound(location, self.properties)


class IcebergCatalog:
    """A catalog of PyIceberg. The object that the user gave stays as it is.

    `own` are the properties that the user gave; of an object they are those it has, whoever put them there.
    """

    def __init__(self, catalog: Any, own: Mapping[str, Any] | None = None) -> None:
        kind = next((k.__name__ for k in type(catalog).__mro__ if k.__name__ in _KINDS), "")
        properties = catalog.properties
        given = properties.get("uri") or properties.get("glue.endpoint") or _ADDRESSES.get(kind, "")
        self.source = name_source(catalog.name or "", _KINDS.get(kind, "catalog"), given)
        self._secrets, self._is_rest = find_secrets(properties), kind == "RestCatalog"
        self._properties, self._own = properties, properties if own is None else own
        self._catalog = _borrow(catalog, self.source)
        #: Questions that may be under way together: a database on this machine is asked one by one.
        self.connections = 1 if is_near(self.source.uri) and not self._is_rest else options.max_connections

    def locate(self, parts: Parts) -> CatalogEntry:
        """See `TableCatalog.locate`."""
        name = join_name(parts)
        if len(parts) < 2:
            raise find_missing(self, parts)
        try:
            with refusing(self.source, self._secrets, name):
                try:
                    table = self._catalog.load_table(parts)
                except PointerFound as found:
                    return self._describe(name, found.location, found.properties)
                return self._describe(name, table.metadata_location, getattr(table.io, "properties", {}))
        except Missing:
            view = self._load_view(parts, name)
            if view is None:
                raise find_missing(self, parts) from None
            return view

    def _load_view(self, parts: Parts, name: str) -> CatalogEntry | None:
        """The view of a name; None where there is none, or where the catalog knows no views."""
        try:
            with refusing(self.source, self._secrets, name):
                view = self._catalog.load_view(parts)
        except LakeError:
            return None
        pointer = getattr(view, "metadata_location", None)
        if pointer is None:
            return None
        return self._describe(name, pointer, {**self._properties, **view.config}, is_view=True)

    def _describe(
        self, name: str, pointer: Any, properties: Mapping[str, Any], *, is_view: bool = False
    ) -> CatalogEntry:
        pointer = check_location(pointer, self.source, name)
        folder, _, _ = pointer.rpartition("/")
        above, _, last = folder.rpartition("/")
        location = pointer if is_view or last != "metadata" else above
        facts = {"catalog": {**self.source.describe(), "table": name}}
        storage, answer = split_answer(properties, self._own)
        return CatalogEntry(name, FORMAT, location, pointer, facts, storage, is_view, answer)

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """See `TableCatalog.list_namespaces`."""
        with refusing(self.source, self._secrets, join_name(parent) or None):
            found = self._list(self._catalog.list_namespaces, parent)
            return sorted(
                {(*parent, str(one[-1])) for one in map(tuple, found) if len(one) == len(parent) + 1}
            )

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """See `TableCatalog.list_names`."""
        with refusing(self.source, self._secrets, join_name(namespace)):
            found = [*self._list(self._catalog.list_tables, namespace), *self._list_views(namespace)]
        yield from sorted({(*namespace, str(one[-1])) for one in found if len(one) > 0})

    def _list_views(self, namespace: Parts) -> list[Any]:
        try:
            return self._list(self._catalog.list_views, namespace)
        except (NotImplementedError, AttributeError):
            return []

    def _list(self, ask: Callable[[Parts], Iterable[Any]], parent: Parts) -> list[Any]:
        if not self._is_rest:
            return list(ask(parent))
        from lakelens.catalogs.rest_limits import limit_listing

        with limit_listing():
            return list(ask(parent))


def _borrow(catalog: Any, source: CatalogSource) -> Any:
    """A copy that gives pointers and reads no file: the catalog's connections are shared, its settings are not."""
    borrowed = copy.copy(catalog)
    borrowed.properties = {**catalog.properties, "py-io-impl": f"{__name__}.PointerIO"}

    def load_file_io(properties: Mapping[str, Any] | None = None, location: str | None = None) -> PointerIO:
        return PointerIO({**catalog.properties, **(properties or {})}, location)

    session = getattr(catalog, "_session", None)
    if session is not None:
        from lakelens.catalogs.rest_limits import limit_session

        borrowed._session = limit_session(copy.copy(session), source)
    # whatever class a server's answer names for reading files is not loaded
    borrowed._load_file_io = load_file_io
    borrowed._response_to_view = lambda name, response: (
        response
    )  # the pointer of a view is in the answer alone
    return borrowed


def load_configured(name: str) -> Mapping[str, Any] | None:
    """The properties of a catalog in `.pyiceberg.yaml` or the environment; None where there is none of that name."""
    found: Mapping[str, Any] | None = _load_config().get_catalog_config(name)
    return found


def list_configured() -> list[str]:
    """The names of the catalogs in `.pyiceberg.yaml` and the environment."""
    return sorted(_load_config().get_known_catalogs())


def _load_config() -> Any:
    try:
        from pyiceberg.utils.config import Config
    except ImportError:
        raise Unsupported(
            "the names of catalogs are PyIceberg's, which is not installed", hint=INSTALL
        ) from None
    try:
        return Config()
    except Exception as error:
        message = f"PyIceberg's configuration cannot be read ({type(error).__name__})"
        raise LakeError(message, hint=".pyiceberg.yaml and variables PYICEBERG_CATALOG__NAME__URI") from None


def connect_iceberg(name: str, properties: Mapping[str, Any]) -> IcebergCatalog:
    """The catalog that properties describe, as PyIceberg's `load_catalog` takes them.

    Raises `Unsupported` without PyIceberg, `Missing` for a database that is not there, `LakeError` for one that cannot be
    asked.
    """
    kind = str(properties.get("type") or "")
    source = name_source(name, f"{_TYPES.get(kind, kind)} catalog".strip(), properties.get("uri"))
    try:
        from pyiceberg.catalog import load_catalog
    except ImportError:
        raise Unsupported(f"{source} needs PyIceberg, which is not installed", hint=INSTALL) from None
    uri = str(properties.get("uri") or "")
    if is_rest := not properties.get("py-catalog-impl") and (
        kind == "rest" or (not kind and uri.startswith("http"))
    ):
        source = name_source(name, "REST catalog", uri)
    with refusing(source, find_secrets(properties)):
        if is_rest:
            return IcebergCatalog(_load_limited(source)(name or "default", **properties), properties)
        is_sql = kind == "sql" or (not kind and uri.startswith(("sqlite", "postgresql")))
        if not is_sql:
            return IcebergCatalog(load_catalog(name or None, **properties), properties)
        # SQLite would make the file that it does not find
        head, mark, path = uri.partition(":///")
        if head.startswith("sqlite") and mark and path not in ("", ":memory:"):
            place = path.removeprefix("file:").partition("?")[0]
            if not Path(place).exists():
                raise Missing(f"{source}: there is no such database", path=place)
        # nothing is written, so no table of a catalog is made where there is none
        loaded = load_catalog(name or "default", **{**properties, "init_catalog_tables": "false"})
        if not name:
            loaded.name = _choose_name(loaded, source)
        return IcebergCatalog(loaded, properties)


def _choose_name(catalog: Any, source: CatalogSource) -> str:
    """One database may keep several catalogs, each under its name: the only one, if no name was given."""
    from sqlalchemy import text

    with catalog.engine.connect() as connection:
        found = sorted(
            str(row[0])
            for row in connection.execute(text("SELECT DISTINCT catalog_name FROM iceberg_tables"))
        )
    if len(found) > 1:
        hint = f'{{"name": …}}, one of {", ".join(found[:10])}'
        raise Unsupported(f"{source} keeps {len(found)} catalogs, and none was named", hint=hint)
    return found[0] if found else "default"


def _load_limited(source: CatalogSource) -> Any:
    """PyIceberg's REST catalog, with limits, which the server's configuration sends nowhere else."""
    from pyiceberg.catalog.rest import RestCatalog

    from lakelens.catalogs.rest_limits import limit_session, stay_at

    class RestCatalogWithLimits(RestCatalog):
        """The same catalog."""

        def _create_session(self) -> Any:
            return limit_session(super()._create_session(), source)

        def _fetch_config(self) -> None:
            given = dict(self.properties)
            super()._fetch_config()
            answer = {name: value for name, value in self.properties.items() if given.get(name) != value}
            chosen = {name: value for name, value in answer.items() if name in _CONFIGURED}
            self.properties = {**given, **choose_storage_options(answer), **chosen}
            self.uri = stay_at(source, given["uri"], self.uri)

    RestCatalogWithLimits.__name__ = "RestCatalog"
    return RestCatalogWithLimits
