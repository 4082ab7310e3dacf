"""The facts in the footers of data files: row counts and columns. Reads the tail of a file, never its data."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.codecs.magic import sniff
from lakelens.errors import LakeError
from lakelens.formats import contents
from lakelens.formats.hive.types import from_arrow, number_fields, parse_avro_fields, parse_json_fields
from lakelens.io.store import Store
from lakelens.model.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
_HADOOP = ((b"SEQ", "sequencefile"), (b"RCF", "rcfile"), (b"BZh", "bzip2"))


Fields = tuple[Field, ...]


class FileFacts:
    """The facts of one file: `record_count`, its columns, and the `footer` or the Avro facts they come from."""

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
        """The columns by the file's own format, in storage order."""
        return self._load_own()

    @cached_property
    def columns(self) -> Fields:
        """The columns with the types that Spark recorded, where it did; else the file's own."""
        return self._load_recorded() or self.own_columns


class FactsCache:
    """The facts of the files that were read last: those of a whole large table would fill the memory."""

    def __init__(self, size: int = 200) -> None:
        self._size = size
        self._kept: OrderedDict[str, FileFacts | None] = OrderedDict()

    def get(self, path: str, load: Callable[[], FileFacts | None]) -> FileFacts | None:
        """The facts of a file, loaded when they are not kept."""
        if path not in self._kept:
            self._kept[path] = load()
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        self._kept.move_to_end(path)
        return self._kept[path]


def read_format(store: Store, path: str) -> str:
    """The format of a file by its first bytes; `text` for readable ones, `gzip`, `zstd` or `json` by their magic.

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

    Raises `Corrupt`, naming the file, when it is empty, cut off or of another format.
    """
    describe = {"parquet": _describe_parquet, "orc": _describe_orc, "avro": _describe_avro}.get(file_format)
    return None if describe is None else describe(contents.read_facts(store, path, file_format))


def _describe_parquet(footer: Any) -> FileFacts:
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


def _describe_orc(footer: Any) -> FileFacts:
    return FileFacts(footer.num_rows, footer, lambda: _from_arrow_schema(footer.schema_arrow))


def _describe_avro(facts: Any) -> FileFacts:
    return FileFacts(facts.num_rows, facts, lambda: number_fields(parse_avro_fields(facts.record)))


def _from_arrow_schema(schema: pa.Schema) -> Fields:
    return number_fields(Field(0, f.name, from_arrow(f.type), f.nullable) for f in schema)
