"""The content of a data file: its format, row count and columns, the bounds in a Parquet footer, the first rows.

Footers are read from the tail of a file. A column has bounds only if every row group that holds a value of it has them
(Parquet `Statistics`); INT96 timestamps never do. Partition columns are not in the rows, hidden columns are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.compression import decompress_start
from lakelens.codecs.kinds import sniff
from lakelens.errors import LakeError, Unsupported
from lakelens.formats import contents
from lakelens.formats.hive.type_texts import from_arrow, number_fields, parse_avro_fields, parse_json_fields
from lakelens.io.store import Store
from lakelens.model.bytes_view import Source
from lakelens.model.schema import Field
from lakelens.model.stats import Bounds, ColumnBounds

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.parquet.structure import ColumnChunk

SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
_HADOOP = ((b"SEQ", "sequencefile"), (b"RCF", "rcfile"), (b"BZh", "bzip2"))
_TEXT = ("text", "csv", "json", "gzip", "bzip2")
_LINE_LIMIT = 1 << 20  # bytes of a text file that are read for its first lines


class FileFacts:
    """The facts of one file: `footer` is a `ParquetFooter` or an `OrcFooter`, or the `AvroFacts`."""

    def __init__(self, footer: Any) -> None:
        self.footer = footer
        self.record_count: int | None = footer.num_rows

    @cached_property
    def own_columns(self) -> tuple[Field, ...]:
        """The columns by the file's own format, in storage order."""
        if self.footer.format == "avro":
            return number_fields(parse_avro_fields(self.footer.record))
        schema = self.footer.schema_arrow
        return number_fields(Field(0, f.name, from_arrow(f.type), f.nullable) for f in schema)

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns with the types that Spark recorded, where it did; else the file's own."""
        text = self.footer.key_values.get(SPARK_SCHEMA)
        try:
            recorded = None if text is None else number_fields(parse_json_fields(json.loads(text)))
        except (ValueError, LakeError):  # the columns themselves are in the footer too
            recorded = None
        return recorded or self.own_columns


def read_format(store: Store, path: str) -> str:
    """Read the format of a file by its first bytes; `text` for readable ones, `gzip`, `zstd` or `json` by their magic.

    >>> from lakelens.io.memory import MemoryStore
    >>> read_format(MemoryStore({"/t/000000_0": b"PAR1..."}), "/t/000000_0")
    'parquet'
    """
    head = store.read_range(path, 0, 256)
    known = next((name for magic, name in _HADOOP if head.startswith(magic)), None)
    return known or str(sniff(head)).removesuffix("-encrypted")


def read_facts(store: Store, path: str, file_format: str) -> FileFacts | None:
    """Read the facts of a Parquet, ORC or Avro file; None for formats that do not describe themselves.

    Raises `Corrupt`, naming the file, when it is empty, cut off or of another format.
    """
    if file_format not in contents.FORMATS:
        return None
    return FileFacts(contents.read_facts(store, path, file_format))


def collect_bounds(facts: FileFacts, names: Mapping[str, str], source: Source | None = None) -> Bounds:
    """Collect the bounds of every leaf column of a Parquet file; `source` finds their bytes.

    Top-level columns are spelled as in `names`, by case-folded name. Raises `Corrupt` for statistics that cannot be read.
    """
    footer = facts.footer
    leaves = _list_leaves(facts.columns, names)
    if len(leaves) != footer.num_columns:  # Spark recorded other columns than are stored
        leaves = _list_leaves(facts.own_columns, names)
    columns: dict[str, ColumnBounds] = {}
    for index, (name, column) in enumerate(leaves[: footer.num_columns]):
        chunks: list[ColumnChunk] = [group.columns[index] for group in footer.row_groups]
        filled = [
            chunk for chunk in chunks if chunk.null_count is None or chunk.null_count < chunk.num_values
        ]
        lower, lower_raw = _choose([(chunk.min, chunk.min_raw) for chunk in filled], min)
        upper, upper_raw = _choose([(chunk.max, chunk.max_raw) for chunk in filled], max)
        nulls = [chunk.null_count for chunk in chunks]
        columns[name] = ColumnBounds(
            name,
            column.type,
            lower=lower,
            upper=upper,
            nulls=None if None in nulls else sum(count or 0 for count in nulls),
            values=sum(chunk.num_values for chunk in chunks),
            size=sum(chunk.compressed_size for chunk in chunks),
            lower_raw=lower_raw,
            upper_raw=upper_raw,
            _source=source,
        )
    return Bounds(columns)


def _choose(stored: Sequence[tuple[Any, bytes | None]], choose: Any) -> tuple[Any, bytes | None]:
    """Choose the least or greatest value over the row groups, with its bytes; None where one of them has none."""
    if not stored or any(value is None for value, _ in stored):
        return None, None
    try:
        found: tuple[Any, bytes | None] = choose(stored, key=lambda pair: pair[0])
    except TypeError:  # values that do not compare
        return None, None
    return found


def _list_leaves(fields: Iterable[Field], names: Mapping[str, str]) -> list[tuple[str, Field]]:
    """List the leaves of a file's columns with their full names, in Parquet's order."""
    return [
        (names.get(column.name.casefold(), column.name) + path[len(column.name) :], leaf)
        for column in fields
        for path, leaf in column.leaves()
    ]


def read_rows(store: Store, path: str, file_format: str, n: int) -> pa.Table:
    """Read the first `n` rows as an Arrow table; the lines of a text file as one column `line`.

    Raises `Corrupt` for damage, `Unsupported` for formats whose rows lakelens does not read.
    """
    import pyarrow as pa

    kind = contents.choose_kind(contents.read_kind(store, path), file_format)
    if kind not in _TEXT:
        return contents.read_rows_as(store, path, kind, n)
    data = store.read_range(path, 0, _LINE_LIMIT)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        raise Unsupported("text compressed with zstd is not read", path=path)
    codec = "gzip" if data.startswith(b"\x1f\x8b") else "bzip2" if data.startswith(b"BZh") else None
    if codec is not None:  # the compressed bytes may be cut, the lines before the cut are wanted
        data = decompress_start(codec, data, path)
    lines = data.split(b"\n", n)  # a little compressed text may be millions of lines
    if lines and not lines[-1]:
        lines.pop()
    texts = [line.decode("utf-8", "replace") for line in lines[:n]]
    return pa.table({"line": pa.array(texts, pa.string())})
