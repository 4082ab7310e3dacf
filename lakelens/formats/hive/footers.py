"""What data files say of themselves: row counts, columns, bounds. Reads the tail of a file, never its data."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, cast

from lakelens.codecs.magic import sniff
from lakelens.errors import LakeError, Unsupported
from lakelens.formats.hive.types import from_arrow, number_fields, parse_json_fields
from lakelens.io.handle import StoreFile
from lakelens.io.store import Store
from lakelens.model.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
_HADOOP = ((b"SEQ", "sequencefile"), (b"RCF", "rcfile"), (b"BZh", "bzip2"))


Fields = tuple[Field, ...]


class FileFacts:
    """The facts of one file: `record_count`, its columns, and the `footer` or Avro header they come from."""

    def __init__(
        self,
        record_count: int | None,
        footer: Any,
        own_columns: Callable[[], Fields],
        recorded_columns: Callable[[], Fields | None] = lambda: None,
    ) -> None:
        self.record_count = record_count
        self.footer = footer
        self._load_own, self._load_recorded = own_columns, recorded_columns

    @cached_property
    def own_columns(self) -> Fields:
        """The columns as the file's format words them, in storage order."""
        return self._load_own()

    @cached_property
    def columns(self) -> Fields:
        """The columns with the types that Spark recorded, where it did; else the file's own."""
        return self._load_recorded() or self.own_columns


class FactsCache:
    """The facts of the files that were looked at last: those of a whole large table would fill the memory."""

    def __init__(self, size: int = 200) -> None:
        self._size = size
        self._kept: OrderedDict[str, FileFacts | None] = OrderedDict()

    def get(self, path: str, load: Callable[[], FileFacts | None]) -> FileFacts | None:
        """The facts of a file, loaded when they are not at hand."""
        if path not in self._kept:
            self._kept[path] = load()
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        self._kept.move_to_end(path)
        return self._kept[path]


def read_format(store: Store, path: str) -> str:
    """The format of a file by its first bytes; `text` for readable ones, `gzip`, `zstd` or `json` where they say so.

    >>> from lakelens.io.memory import MemoryStore
    >>> read_format(MemoryStore({"/t/000000_0": b"PAR1..."}), "/t/000000_0")
    'parquet'
    """
    head = store.read_range(path, 0, 256)
    for magic, name in _HADOOP:
        if head.startswith(magic):
            return name
    return str(sniff(head)).removesuffix("-encrypted")


def read_facts(store: Store, path: str, file_format: str) -> FileFacts | None:
    """The facts of a Parquet, ORC or Avro file; None for formats that do not describe themselves.

    Raises `Corrupt`, naming the file, when it is empty, cut off or not what its name says.
    """
    readers: dict[str, Callable[[Store, str], FileFacts]] = {
        "parquet": _read_parquet,
        "orc": _read_orc,
        "avro": _read_avro,
    }
    return readers[file_format](store, path) if file_format in readers else None


def read_footer(store: Store, path: str, file_format: str) -> Any:
    """What a file says of itself: a `ParquetFooter`, an `OrcFooter`, an `AvroHeader`.

    Raises `Corrupt` as `read_facts` does, and `Unsupported` for text, which says nothing.
    """
    facts = read_facts(store, path, file_format)
    if facts is None:
        raise Unsupported(f"a {file_format} file has no footer", path=path, hint="preview() shows its lines")
    return facts.footer


def open_file(store: Store, path: str) -> IO[bytes]:
    """A file of the store, as the libraries that read footers want it."""
    return cast(IO[bytes], StoreFile(store, path))


def _read_parquet(store: Store, path: str) -> FileFacts:
    from lakelens.codecs.parquet import decode_footer

    footer = decode_footer(open_file(store, path), path)
    return FileFacts(
        footer.num_rows,
        footer,
        lambda: _from_arrow_schema(footer.schema_arrow),
        lambda: _parse_spark_schema(footer.key_values),
    )


def _parse_spark_schema(key_values: Mapping[str, str | bytes]) -> Fields | None:
    text = key_values.get(SPARK_SCHEMA)
    if text is None:
        return None
    try:
        return number_fields(parse_json_fields(json.loads(text)))
    except (ValueError, LakeError):  # the columns themselves are in the footer too
        return None


def _read_orc(store: Store, path: str) -> FileFacts:
    from lakelens.codecs.orc import decode_footer

    footer = decode_footer(open_file(store, path), path)
    return FileFacts(footer.num_rows, footer, lambda: _from_arrow_schema(footer.schema_arrow))


def _read_avro(store: Store, path: str) -> FileFacts:
    """Avro has no footer: the columns are in the header, the rows are counted block by block."""
    from lakelens.codecs.avro_container import decode_header, iter_blocks
    from lakelens.formats.hive.avro_types import parse_avro_fields

    data = store.read(path)
    header = decode_header(data, path)
    rows = sum(block.count for block in iter_blocks(data, header, path))
    return FileFacts(rows, header, lambda: number_fields(parse_avro_fields(header.record)))


def _from_arrow_schema(schema: pa.Schema) -> Fields:
    return number_fields(Field(0, f.name, from_arrow(f.type), f.nullable) for f in schema)
