"""The records of manifest lists, manifests and index manifests with every name and value replaced."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakelens.codecs.avro.records import decode_header, encode_records
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.containers import decode_container, sniff_container
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.formats.paimon.skeleton.column_book import ColumnBook
from lakelens.model.skeleton.redaction import Names
from lakelens.model.skeleton.walk import LEFT_OUT, MARK, Pen, Spot, Walk, Within, keep, of_text, one_of

# Names of files in place of others; the prefixes that say what a file is for, and its endings, stay.
#
# snapshot/snapshot-N  schema/schema-N  tag/tag-t1  branch/branch-b1/…  consumer/consumer-consumer-1
# manifest/manifest-list-f000001-0  manifest/manifest-f000002-0  manifest/index-manifest-f000003-0  index/index-f000004-0
# data-f000005-0.parquet

_ENDINGS = frozenset(
    (
        *(
            "parquet",
            "orc",
            "avro",
            "csv",
            "json",
            "text",
            "txt",
            "row",
            "blob",
            "lance",
            "mosaic",
            "vortex",
            "video",
            "managed",
            "vector",
            "index",
            "blobref",
        ),
        *("gz", "gzip", "zst", "zstd", "lz4", "snappy", "bz2", "deflate", "lzo", "br", "xz", "zlib"),
    )
)


class PlaceBook:
    """The names of one table's files and those in their place."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def list(self, name: str) -> str:
        """Give a manifest list."""
        return f"manifest-list-{self._names.file(name)}-0"

    def manifest(self, name: str) -> str:
        """A manifest."""
        return f"manifest-{self._names.file(name)}-0"

    def index_manifest(self, name: str) -> str:
        """An index manifest."""
        return f"index-manifest-{self._names.file(name)}-0"

    def index(self, name: str) -> str:
        """An index file."""
        ending = ".index" if name.endswith(".index") else ""
        return f"index-{self._names.file(name)}-0{ending}"

    def data(self, name: str) -> str:
        """A data file, a changelog file, or one beside it."""
        prefix = "changelog" if name.startswith("changelog") else "data"
        endings = [part for part in name.split(".")[1:] if part.lower() in _ENDINGS]
        return ".".join([f"{prefix}-{self._names.file(name)}-0", *endings])

    def external(self, path: str) -> str:
        """A file that is outside of the table's directory."""
        return f"{MARK}/external/{self.data(path.rpartition('/')[2])}"


_KNOWN_TYPES = """HASH DELETION_VECTORS btree bitmap multivalue full-text lumina ivf-flat ivf-pq ivf-sq ivf-rq diskann
es-index"""
_INDEX_TYPES = frozenset(_KNOWN_TYPES.split())


class RecordWalk:
    """Walks over records: `is_noting` gathers values and names, else they are replaced."""

    def __init__(
        self,
        book: ColumnBook,
        places: PlaceBook,
        partition: Sequence[PaimonField],
        find_schema: Callable[[int], PaimonSchema | None],
    ) -> None:
        self._book, self._places, self._partition = book, places, partition
        self._find_schema = find_schema
        self.is_noting = False
        #: names of data and index files
        self.files: dict[str, None] = {}
        data, external = self._name(places.data), of_text(places.external)
        self._walk = Walk(
            {
                "line": {
                    "*": keep,
                    "_FILE_NAME": of_text(lambda name: name if self.is_noting else places.manifest(name)),
                    "_PARTITION_STATS": lambda stats: self._stats(stats, partition),
                },
                "entry": {"*": keep, "_PARTITION": lambda data: self._row(data, partition), "_FILE": "file"},
                "file": {
                    "*": keep,
                    "_FILE_NAME": data,
                    **dict.fromkeys(
                        ("_MIN_KEY", "_MAX_KEY"),
                        Within(lambda row, file: self._row(row, self._list_keys(file))),
                    ),
                    "_KEY_STATS": Within(lambda stats, file: self._stats(stats, self._list_keys(file))),
                    "_VALUE_STATS": Within(self._write_value_stats),
                    **dict.fromkeys(("_VALUE_STATS_COLS[]", "_WRITE_COLS[]"), self._name_column),
                    "_EXTRA_FILES[]": lambda name: (
                        self._leave_index(LEFT_OUT) if str(name).endswith(".index") else data(name)
                    ),
                    "_EMBEDDED_FILE_INDEX": lambda index: self._leave_index(None),
                    "_EXTERNAL_PATH": external,
                },
                "index": {
                    "*": keep,
                    "_PARTITION": lambda data: self._row(data, partition),
                    "_FILE_NAME": self._name(places.index),
                    "_INDEX_TYPE": one_of(_INDEX_TYPES, "other"),
                    "_DELETIONS_VECTORS_RANGES[].*": keep,
                    "_DELETIONS_VECTORS_RANGES[].f0": data,
                    "_EXTERNAL_PATH": external,
                    "_GLOBAL_INDEX.*": keep,
                    **dict.fromkeys(
                        ("_GLOBAL_INDEX._INDEX_META", "_GLOBAL_INDEX._SOURCE_META"), lambda data: None
                    ),
                },
            }
        )

    def write(self, record: Mapping[str, Any], kind: str) -> Any:
        """Write a `line` of a manifest list, an `entry` of a manifest, or one of an index manifest (`index`)."""
        return self._walk.write(record, kind)

    def _name(self, place: Callable[[str], str]) -> Pen:
        def write(name: str) -> str:
            self.files[name] = None
            return name if self.is_noting else place(name)

        return of_text(write)

    def _name_column(self, column: Any) -> str:
        name = str(column)
        return name if name.startswith("_") else self._book.redaction.names.refer(name)

    def _leave_index(self, instead: Any) -> Any:
        self._book.redaction.note("file indexes, which hold values or hashes of them, are left out")
        return instead

    def _row(self, data: Any, columns: Sequence[PaimonField] | None) -> Any:
        if not isinstance(data, bytes):
            return data
        if columns is None:
            self._book.redaction.note("rows whose schema cannot be read are zeros of the same length")
            return bytes(len(data))
        if self.is_noting:
            self._book.note_row(data, columns)
            return data
        return self._book.write_row(data, columns)

    def _stats(self, stats: Any, columns: Sequence[PaimonField] | None) -> Any:
        if not isinstance(stats, Mapping):
            return stats
        return {
            **stats,
            **{name: self._row(stats.get(name), columns) for name in ("_MIN_VALUES", "_MAX_VALUES")},
        }

    def _list_keys(self, file: Spot) -> Sequence[PaimonField] | None:
        schema = self._find_schema(file.holder.get("_SCHEMA_ID") or 0)
        return None if schema is None else schema.key_columns

    def _write_value_stats(self, stats: Any, file: Spot) -> Any:
        schema = self._find_schema(file.holder.get("_SCHEMA_ID") or 0)
        try:
            columns = None if schema is None else schema.find_stats_columns(file.holder)
        except LakeError:
            columns = None
        return self._stats(stats, columns)


# Manifests, manifest lists and index manifests in the container that they were in, with other records.

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
        """Keep the same file with other records."""
        return replace(self, records=records)

    def encode(self, records: list[dict[str, Any]]) -> bytes:
        """Encode the bytes of the file with these records."""
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
    """Read a file of records; fields that Paimon does not have are left out. Raises `LakeError`."""
    kind, records = sniff_container(data, path), decode_container(data, path)
    if kind == "avro":
        header = decode_header(data, path)
        return Container(kind, _clean(header.schema), header.codec, [_filter(record) for record in records])
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
        kind, kept, "none" if codec == "uncompressed" else codec, [_filter(record) for record in records]
    )


def _filter(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key in FIELDS}


def _clean(schema: Any) -> Any:
    """Clean an Avro schema without comments, and without fields that Paimon does not have."""
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
