"""What data files say of themselves: row counts, columns, bounds. Reads the tail of a file, never its data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of one file: rows, columns, and the `footer` (Parquet, ORC) or header (Avro) they were taken from.

    `own_columns` are the columns as the file's format words them, in storage order; `columns` are those with the types
    that Spark recorded, where it did.
    """

    record_count: int | None
    columns: tuple[Field, ...]
    own_columns: tuple[Field, ...]
    footer: Any


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
    own = _from_arrow_schema(footer.schema_arrow)
    recorded = _parse_spark_schema(footer.key_values)
    return FileFacts(footer.num_rows, recorded or own, own, footer)


def _parse_spark_schema(key_values: Mapping[str, str | bytes]) -> tuple[Field, ...] | None:
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
    columns = _from_arrow_schema(footer.schema_arrow)
    return FileFacts(footer.num_rows, columns, columns, footer)


def _read_avro(store: Store, path: str) -> FileFacts:
    """Avro has no footer: the columns are in the header, the rows are counted block by block."""
    from lakelens.codecs.avro_container import decode_header, iter_blocks
    from lakelens.formats.hive.avro_types import parse_avro_fields

    data = store.read(path)
    header = decode_header(data, path)
    columns = number_fields(parse_avro_fields(header.record))
    rows = sum(block.count for block in iter_blocks(data, header, path))
    return FileFacts(rows, columns, columns, header)


def _from_arrow_schema(schema: pa.Schema) -> tuple[Field, ...]:
    return number_fields(Field(0, f.name, from_arrow(f.type), f.nullable) for f in schema)
