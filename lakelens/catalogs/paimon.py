"""Paimon's catalogs with a server of their own: JDBC, which is a plain SQL database, and REST.

The database of a JDBC catalog is read by ourselves (`paimon_tables`, `paimon_database_properties`); REST is asked by the
client of Paimon's own package. A table's location says everything else: Paimon keeps no pointer outside of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from lakelens import options
from lakelens.catalogs.entry import (
    INSTALL,
    CatalogEntry,
    Parts,
    find_missing,
    join_name,
    name_source,
    refusing,
)
from lakelens.catalogs.trust import check_location, choose_storage_options
from lakelens.errors import Missing, Unsupported
from lakelens.io.redaction import find_secrets

FORMAT = "paimon"
_SUFFIX = ".db"
_DRIVERS = {"mysql": "mysql+pymysql", "postgresql": "postgresql+psycopg2"}
# properties of Alibaba's storage, by the names that its file system has for them
_OF_OSS = {
    "fs.oss.endpoint": "endpoint",
    "fs.oss.accessKeyId": "key",
    "fs.oss.accessKeySecret": "secret",
    "fs.oss.securityToken": "token",
}
Query = Callable[..., list[tuple[Any, ...]]]


class _PaimonCatalog:
    """What the two have in common: names of two parts."""

    connections = 1

    def __init__(self, name: str, kind: str, properties: Mapping[str, Any]) -> None:
        self.source = name_source(name, kind, properties.get("uri"))
        self._properties = properties
        self._secrets = find_secrets(properties)

    def _check(self, parts: Parts) -> str:
        name = join_name(parts)
        if len(parts) != 2 or any("/" in part or part in ("", ".", "..") for part in parts):
            hint = "database.table"
            raise Unsupported(f"{name!r} is no name of a table in {self.source}", hint=hint)
        return name

    def _describe(self, name: str, location: Any, storage: Mapping[str, Any]) -> CatalogEntry:
        checked = check_location(location, self.source, name)
        facts = {"catalog": {**self.source.describe(), "table": name}}
        own = _translate(self._properties)
        return CatalogEntry(name, FORMAT, checked, None, facts, own, answer=_translate(storage))


class JdbcCatalog(_PaimonCatalog):
    """The names in a database, and the directories that follow from them."""

    def __init__(self, name: str, properties: Mapping[str, Any]) -> None:
        super().__init__(name, "Paimon JDBC catalog", properties)
        self._warehouse = str(properties.get("warehouse") or "").rstrip("/")
        self._key = str(properties.get("catalog-key") or "jdbc")
        if not self._warehouse:
            raise Unsupported(f"{self.source} has no warehouse", hint="its property warehouse, a path or URL")

    def locate(self, parts: Parts) -> CatalogEntry:
        """See `TableCatalog.locate`."""
        name = self._check(parts)
        with refusing(self.source, self._secrets, name), self._open() as query:
            of_table = "WHERE catalog_key = :key AND database_name = :database"
            known = query(
                f"SELECT 1 FROM paimon_tables {of_table} AND table_name = :name",
                database=parts[0],
                name=parts[1],
            )
            places = query(
                "SELECT property_value FROM paimon_database_properties "
                f"{of_table} AND property_key = 'location'",
                database=parts[0],
            )
        if not known:
            raise find_missing(self, parts)
        database = str(places[0][0]).rstrip("/") if places else f"{self._warehouse}/{parts[0]}{_SUFFIX}"
        return self._describe(name, f"{database}/{parts[1]}", {})

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """See `TableCatalog.list_namespaces`."""
        if parent:
            return []
        with refusing(self.source, self._secrets), self._open() as query:
            found = [
                row
                for table in ("paimon_tables", "paimon_database_properties")
                for row in query(f"SELECT DISTINCT database_name FROM {table} WHERE catalog_key = :key")
            ]
        return sorted({(str(row[0]),) for row in found})

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """See `TableCatalog.list_names`."""
        asked = "SELECT table_name FROM paimon_tables WHERE catalog_key = :key AND database_name = :database"
        with refusing(self.source, self._secrets), self._open() as query:
            found = query(asked, database=join_name(namespace))
        yield from ((*namespace, str(row[0])) for row in sorted(found))

    def _open(self) -> Any:
        """Open what runs a query in the database, which is never written to."""
        uri = str(self._properties.get("uri") or "").removeprefix("jdbc:")
        kind, _, rest = uri.partition(":")
        if kind == "sqlite":
            path = Path(rest.removeprefix("file:").partition("?")[0])
            if not path.exists():
                raise Missing(f"{self.source}: there is no such database", path=str(path))
            return _Database(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True), self._key)
        if kind not in _DRIVERS:
            known = ", ".join(("sqlite", *_DRIVERS))
            raise Unsupported(f"{self.source}: no database of this kind is read", hint=f"one of {known}")
        try:
            from sqlalchemy import URL, create_engine
        except ImportError:
            raise Unsupported(
                f"{self.source} needs SQLAlchemy, which is not installed", hint=INSTALL
            ) from None
        address = urlsplit(uri)
        given = {key: values[0] for key, values in parse_qs(address.query).items()}
        given |= {
            key.removeprefix("jdbc."): v for key, v in self._properties.items() if key.startswith("jdbc.")
        }
        user, password = given.get("user") or address.username, given.get("password") or address.password
        place = (address.hostname, address.port, address.path.lstrip("/") or given.get("database"))
        engine = create_engine(URL.create(_DRIVERS[kind], user, password, *place))
        return _Database(engine.connect(), self._key)


class _Database:
    """A connection while it is needed; of SQLite's own module or of SQLAlchemy."""

    def __init__(self, connection: Any, key: str) -> None:
        self._connection, self._key = connection, key

    def __enter__(self) -> Query:
        return self._ask

    def __exit__(self, *raised: object) -> None:
        self._connection.close()

    def _ask(self, sql: str, **values: str) -> list[tuple[Any, ...]]:
        given = {"key": self._key, **values}
        if isinstance(self._connection, sqlite3.Connection):
            with closing(self._connection.execute(sql, given)) as cursor:
                return list(cursor.fetchall())
        from sqlalchemy import text

        return [tuple(row) for row in self._connection.execute(text(sql), given)]


class RestCatalog(_PaimonCatalog):
    """Paimon's REST catalog, asked by `pypaimon`; credentials for a table's storage are those that the server vends."""

    def __init__(self, name: str, properties: Mapping[str, Any]) -> None:
        super().__init__(name, "Paimon REST catalog", properties)
        self.connections = options.max_connections
        try:
            from pypaimon.api.rest_api import RESTApi
            from pypaimon.common.identifier import Identifier
        except ImportError:
            hint = "pip install pypaimon"
            raise Unsupported(f"{self.source} needs pypaimon, which is not installed", hint=hint) from None
        with refusing(self.source, self._secrets):
            self._api = RESTApi({key: str(value) for key, value in properties.items()})
        self._identify: Callable[[str, str], Any] = partial(Identifier)

    def locate(self, parts: Parts) -> CatalogEntry:
        """See `TableCatalog.locate`."""
        name = self._check(parts)
        asked = self._identify(*parts)
        try:
            with refusing(self.source, self._secrets, name):
                location = self._api.get_table(asked).path
                is_vended = str(self._properties.get("data-token.enabled", "")).lower() == "true"
                token = dict(self._api.load_table_token(asked).token or {}) if is_vended else {}
        except Missing:
            raise find_missing(self, parts) from None
        return self._describe(name, location, token)

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """See `TableCatalog.list_namespaces`."""
        if parent:
            return []
        with refusing(self.source, self._secrets):
            return sorted((str(name),) for name in self._api.list_databases())

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """See `TableCatalog.list_names`."""
        with refusing(self.source, self._secrets):
            found = sorted(str(name) for name in self._api.list_tables(join_name(namespace)))
        yield from ((*namespace, name) for name in found)


def _translate(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Translate how storage is reached, in the words that a store takes.

    >>> _translate({"s3.access-key": "AKIA", "uri": "jdbc:sqlite:a.db"}), _translate({"fs.oss.accessKeyId": "LTAI"})
    ({'s3.access-key': 'AKIA'}, {'key': 'LTAI'})
    """
    of_oss = {_OF_OSS[key]: value for key, value in properties.items() if key in _OF_OSS}
    return {**choose_storage_options({k: v for k, v in properties.items() if k not in _OF_OSS}), **of_oss}
