"""A Hive metastore by its own protocol (Thrift): tables of Hive, Iceberg and Paimon, with all that it records of them.

The client is the one that PyIceberg brings (`hive_metastore`), on Apache Thrift. The facts are those that a Spark session
gives of the same table under the same names: `columns`, `partition_columns`, `table`, `storage`, `properties`, `partitions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

from lakelens import options
from lakelens.catalogs.entry import CatalogEntry, Parts, find_missing, join_name, name_source, refusing
from lakelens.catalogs.trust import check_location, choose_storage_options
from lakelens.errors import Missing, Unsupported
from lakelens.io.redaction import find_secrets

#: what Spark calls tables that are files alone; any other provider is a format, which its driver opens if it is known
_FILE_PROVIDERS = ("", "hive", "parquet", "orc", "csv", "json", "text", "avro")
_INSTALL = "pip install 'pyiceberg[hive]'"
_DEFAULT = "__HIVE_DEFAULT_PARTITION__"
_MOST_PARTITIONS = 1_000
_VIEWS = ("VIRTUAL_VIEW", "MATERIALIZED_VIEW")
# characters that Hive writes as they are in the name of a partition
_PLAIN = " !$&()+,-.;<>@_`|~"


class MetastoreCatalog:
    """The databases and tables of a Hive metastore."""

    def __init__(self, name: str, properties: Mapping[str, Any]) -> None:
        self._properties = properties
        self._secrets = find_secrets(properties)
        self._uris = [one.strip() for one in str(properties.get("uri") or "").split(",") if one.strip()]
        self.source = name_source(name, "Hive metastore", ",".join(self._uris))
        self.connections = options.max_connections
        if not self._uris or any(urlsplit(one).scheme != "thrift" for one in self._uris):
            raise Unsupported(f"{self.source} has no address", hint="uri, for example thrift://host:9083")

    def locate(self, parts: Parts) -> CatalogEntry:
        """See `TableCatalog.locate`."""
        if len(parts) != 2:
            hint = "database.table"
            raise Unsupported(f"{join_name(parts)!r} is no name of a table in {self.source}", hint=hint)
        partitions: Sequence[Any] = ()
        count = 0
        try:
            with self._asking(join_name(parts)) as client:
                table = client.get_table(*parts)
                if table.partitionKeys and _find_format(table) == "hive":
                    count = len(client.get_partition_names(*parts, -1))
                    partitions = client.get_partitions(*parts, _MOST_PARTITIONS)
        except Missing:
            raise find_missing(self, parts) from None
        return self._describe(table, join_name(parts), partitions, count)

    def _describe(self, table: Any, name: str, partitions: Sequence[Any], count: int) -> CatalogEntry:
        parameters = dict(table.parameters or {})
        pointer = parameters.get("metadata_location")
        kind = _find_format(table)
        if table.tableType in _VIEWS and pointer is None:
            raise Unsupported(f"{self.source} knows a view of Hive here, which has no files", path=name)
        storage = choose_storage_options(self._properties)
        facts: dict[str, Any] = {"catalog": {**self.source.describe(), "table": name}}
        location = check_location(table.sd.location or parameters.get("path") or pointer, self.source, name)
        if kind == "iceberg" and pointer is not None:
            pointer = check_location(pointer, self.source, name)
            is_view = table.tableType in _VIEWS
            facts["table"] = _describe_table(table)
            return CatalogEntry(
                name, kind, pointer if is_view else location, pointer, facts, storage, is_view
            )
        facts |= {"table": _describe_table(table), "properties": parameters}
        if kind == "hive":
            for partition in partitions:
                if partition.sd and partition.sd.location:
                    check_location(partition.sd.location, self.source, name)
            facts |= _describe_hive(table, partitions, count)
        return CatalogEntry(name, kind, location, None, facts, storage)

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """See `TableCatalog.list_namespaces`: databases have none in them."""
        if parent:
            return []
        with self._asking(None) as client:
            return sorted((str(name),) for name in client.get_all_databases())

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """See `TableCatalog.list_names`."""
        with self._asking(join_name(namespace)) as client:
            found = sorted(str(name) for name in client.get_all_tables(join_name(namespace)))
        yield from ((*namespace, name) for name in found)

    @contextmanager
    def _asking(self, name: str | None) -> Iterator[Any]:
        """A connection of its own for each question: one may not be shared by threads."""
        with refusing(self.source, self._secrets, name):
            transport, client = self._open()
            try:
                yield client
            finally:
                transport.close()

    def _open(self) -> tuple[Any, Any]:
        """Open the first metastore that answers."""
        try:
            from hive_metastore.ThriftHiveMetastore import Client
            from thrift.protocol import TBinaryProtocol
            from thrift.transport import TSocket, TTransport
        except ImportError:
            message = f"{self.source} is asked by Thrift, which is not installed"
            raise Unsupported(message, hint=_INSTALL) from None
        for place, uri in enumerate(self._uris):
            address = urlsplit(uri)
            socket = TSocket.TSocket(address.hostname, address.port or 9083)
            socket.setTimeout(options.connect_timeout * 1_000)
            if str(self._properties.get("hive.kerberos-authentication", "")).lower() == "true":
                service = self._properties.get("hive.kerberos-service-name", "hive")
                transport = TTransport.TSaslClientTransport(socket, host=address.hostname, service=service)
            else:
                transport = TTransport.TBufferedTransport(socket)
            try:
                transport.open()
            except Exception:
                if place == len(self._uris) - 1:
                    raise
                continue
            socket.setTimeout(options.timeout * 1_000)
            client = Client(TBinaryProtocol.TBinaryProtocol(transport))
            if ugi := self._properties.get("ugi"):
                client.set_ugi(*str(ugi).split(":"))
            return transport, client
        raise AssertionError("there is at least one address")


def _find_format(table: Any) -> str:
    """Find which format a table is of: by its parameters, as its writers mark it."""
    parameters = {str(key).lower(): str(value).lower() for key, value in (table.parameters or {}).items()}
    marks = (
        parameters.get("table_type", ""),
        parameters.get("storage_handler", ""),
        str(table.sd.inputFormat).lower(),
    )
    if marks[0].startswith("iceberg"):
        return "iceberg"
    if marks[0] == "paimon" or "paimon" in marks[1] or "paimon" in marks[2]:
        return "paimon"
    provider = parameters.get("spark.sql.sources.provider", "")
    return "hive" if provider in _FILE_PROVIDERS else provider


def _describe_hive(table: Any, partitions: Sequence[Any], count: int) -> dict[str, Any]:
    keys = table.partitionKeys or ()
    facts: dict[str, Any] = {
        "columns": [_describe_column(column) for column in table.sd.cols or ()],
        "partition_columns": [_describe_column(column) for column in keys],
        "storage": _describe_storage(table.sd),
    }
    if keys:
        facts["partition_count"] = count
        facts["partitions"] = [
            _describe_partition(partition, [key.name for key in keys]) for partition in partitions
        ]
    return facts


def _describe_column(column: Any) -> dict[str, Any]:
    return {"name": column.name, "type": column.type, "comment": column.comment or None}


def _describe_table(table: Any) -> dict[str, Any]:
    facts = {
        "Database": table.dbName,
        "Table": table.tableName,
        "Owner": table.owner,
        "Created Time": _format_time(table.createTime),
        "Type": str(table.tableType or "").removesuffix("_TABLE"),
        "Num Buckets": str(table.sd.numBuckets),
        "Bucket Columns": f"[{', '.join(table.sd.bucketCols or ())}]",
    }
    return {key: value for key, value in facts.items() if value not in (None, "", "-1", "[]")}


def _describe_storage(storage: Any) -> dict[str, Any]:
    serde = storage.serdeInfo
    parameters = dict(getattr(serde, "parameters", None) or {})
    facts = {
        "Location": storage.location,
        "Serde Library": getattr(serde, "serializationLib", None),
        "InputFormat": storage.inputFormat,
        "OutputFormat": storage.outputFormat,
        "Storage Properties": f"[{', '.join(f'{key}={value}' for key, value in parameters.items())}]",
    }
    return {key: value for key, value in facts.items() if value not in (None, "", "[]")}


def _describe_partition(partition: Any, keys: Sequence[str]) -> dict[str, Any]:
    pairs = list(zip(keys, partition.values, strict=False))
    parameters = dict(partition.parameters or {})
    entry: dict[str, Any] = {
        "name": "/".join(f"{_escape(key)}={_escape(value)}" for key, value in pairs),
        "values": {key: None if value == _DEFAULT else value for key, value in pairs},
        "location": partition.sd.location if partition.sd else None,
        "facts": parameters,
    }
    for name, key in (("size_bytes", "totalSize"), ("record_count", "numRows")):
        if str(parameters.get(key, "")).isdecimal():
            entry[name] = int(parameters[key])
    return entry


def _escape(text: str) -> str:
    return quote(text, safe=_PLAIN)


def _format_time(seconds: int | None) -> str | None:
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ")
    except (ValueError, OverflowError, OSError):
        return None
