"""Manifests, manifest lists and index manifests in the container that they were in, with other records."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakelens.codecs.avro.encoding import encode_records
from lakelens.codecs.avro.records import decode_header
from lakelens.formats.paimon.manifests.containers import decode_container, sniff_container

_STATS = "_MIN_VALUES _MAX_VALUES _NULL_COUNTS"
_LIST = """_VERSION _FILE_NAME _FILE_SIZE _NUM_ADDED_FILES _NUM_DELETED_FILES _PARTITION_STATS _SCHEMA_ID _MIN_BUCKET
_MAX_BUCKET _MIN_LEVEL _MAX_LEVEL _MIN_ROW_ID _MAX_ROW_ID"""
_FILE = """_KIND _PARTITION _BUCKET _TOTAL_BUCKETS _FILE _ROW_COUNT _MIN_KEY _MAX_KEY _KEY_STATS _VALUE_STATS
_MIN_SEQUENCE_NUMBER _MAX_SEQUENCE_NUMBER _LEVEL _EXTRA_FILES _CREATION_TIME _DELETE_ROW_COUNT _EMBEDDED_FILE_INDEX
_FILE_SOURCE _VALUE_STATS_COLS _EXTERNAL_PATH _FIRST_ROW_ID _WRITE_COLS _WRITE_COLS_SEQUENCES"""
_INDEX = """_INDEX_TYPE _DELETIONS_VECTORS_RANGES f0 f1 f2 _CARDINALITY _GLOBAL_INDEX _ROW_RANGE_START _ROW_RANGE_END
_INDEX_FIELD_ID _EXTRA_FIELD_IDS _INDEX_META _SOURCE_META"""
#: every field that Paimon gives a record
FIELDS = frozenset(f"{_STATS} {_LIST} {_FILE} {_INDEX}".split())


@dataclass(frozen=True)
class Container:
    """One file of records: how it is written, and what is in it. `schema` is Avro's JSON, or an Arrow schema."""

    kind: str
    schema: Any
    codec: str
    records: list[dict[str, Any]] = field(repr=False)

    def keep(self, records: list[dict[str, Any]]) -> Container:
        """The same file with other records."""
        return replace(self, records=records)

    def encode(self, records: list[dict[str, Any]]) -> bytes:
        """The bytes of the file with these records."""
        if self.kind == "avro":
            return encode_records(self.schema, records, {}, self.codec)
        import pyarrow as pa

        table, sink = pa.Table.from_pylist(records, schema=self.schema), io.BytesIO()
        if self.kind == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, sink, compression=self.codec, store_schema=False)
        else:
            from pyarrow import orc

            codec = "uncompressed" if self.codec == "none" else self.codec
            orc.write_table(table, sink, compression=codec)
        return sink.getvalue()


def read_container(data: bytes, path: str) -> Container:
    """A file of records; fields that Paimon does not have are left out. Raises `LakeError`."""
    kind, records = sniff_container(data, path), decode_container(data, path)
    if kind == "avro":
        header = decode_header(data, path)
        return Container(kind, _clean(header.schema), header.codec, [_filter(one) for one in records])
    import pyarrow as pa

    if kind == "parquet":
        import pyarrow.parquet as pq

        stored = pq.ParquetFile(io.BytesIO(data))
        schema, codec = stored.schema_arrow, "zstd"
        if stored.metadata.num_row_groups and stored.metadata.row_group(0).num_columns:
            codec = stored.metadata.row_group(0).column(0).compression.lower()
    else:
        from pyarrow import orc

        found = orc.ORCFile(io.BytesIO(data))
        schema, codec = found.schema, str(found.compression).lower()
    kept = pa.schema([one for one in schema.remove_metadata() if one.name in FIELDS])
    return Container(
        kind, kept, "none" if codec == "uncompressed" else codec, [_filter(one) for one in records]
    )


def _filter(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key in FIELDS}


def _clean(schema: Any) -> Any:
    """An Avro schema without comments, and without fields that Paimon does not have."""
    if isinstance(schema, list):
        return [_clean(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key not in ("doc", "aliases")}
    for key in ("type", "items", "values"):
        if isinstance(made.get(key), dict | list):
            made[key] = _clean(made[key])
    if "fields" in made:
        made["fields"] = [_clean(one) for one in made["fields"] if one.get("name") in FIELDS]
    return made
