"""What rows weigh: by the footers of some files, and by how much better or worse columns compress in another order.

footers    at most 8: the bytes of a row before compression, of a file beside its columns, the share of each column
growth     the sampled columns encoded as Parquet in the order that they have and in the new one, a row group a file
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.explain.files import FileFacts
    from lakelens.analysis.layout.known import KnownRows, Ranks
    from lakelens.model.fileset import FileSet
    from lakelens.model.storage import Storage

_MOST_FOOTERS = 8
_CODECS = ("snappy", "gzip", "zstd", "brotli", "lz4")


@dataclass(frozen=True)
class Weights:
    """What footers say of files: `raw_row` bytes of a row before compression, `overhead` of a file beside its columns.

    `shares` are the columns' shares of all bytes, `codec` is how they are compressed.
    """

    raw_row: float = 0.0
    overhead: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    codec: str = "none"


def read_weights(files: FileSet, facts: FileFacts, storage: Storage) -> Weights:
    """Read the footers of at most 8 files; what is no Parquet says nothing of it."""
    import numpy as np

    chosen = np.unique(
        np.linspace(0, len(facts) - 1, min(_MOST_FOOTERS, len(facts))).round().astype(np.int64)
    )
    rows = raw = total = 0
    beside: list[int] = []
    sizes: dict[str, int] = {}
    codec = "none"
    for file in files.take(facts.places[chosen].tolist()):
        try:
            footer = storage.read_footer(file.path, file.file_format)
        except LakeError:
            continue
        columns = list(footer.columns) if footer.format == "parquet" else []
        if not columns or not footer.num_rows or file.size_bytes is None:
            continue
        rows, total = rows + footer.num_rows, total + file.size_bytes
        raw += sum(column.uncompressed_size or 0 for column in columns)
        for column in columns:
            sizes[column.path] = sizes.get(column.path, 0) + (column.compressed_size or 0)
            codec = next((str(name).lower() for name in column.compression), codec)
        beside.append(max(file.size_bytes - sum(column.compressed_size or 0 for column in columns), 0))
    if not rows:
        return Weights()
    shares = {name: size / max(total, 1) for name, size in sizes.items()}
    return Weights(raw / rows, float(np.mean(beside)), shares, codec)


def measure_growth(rows: KnownRows, order: NDArray[Any], files: int, weights: Weights) -> float:
    """Measure how many bytes the columns take in another order, of what all take today; 1 where rows were not read."""
    if rows.source != "sample" or weights.codec not in (*_CODECS, "none", "uncompressed"):
        return 1.0
    before, after = max(len(rows) // max(len(set(rows.file.tolist())), 1), 1), max(len(order) // files, 1)
    growth = 1.0
    for name, column in rows.columns.items():
        share = weights.shares.get(name, 0.0)
        old = _encode(column, None, before, weights.codec) if share else 0
        if old:
            growth += share * (_encode(column, order, after, weights.codec) / old - 1)
    return growth


def _encode(column: Ranks, order: NDArray[Any] | None, group: int, codec: str) -> int:
    """Encode a column as Parquet, and count the bytes of its chunks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = column.codes if order is None else column.codes[order]
    values: pa.Array = column.values.take(pa.array(codes, mask=codes < 0))
    sink = pa.BufferOutputStream()
    named = codec if codec in _CODECS else "none"
    try:
        pq.write_table(
            pa.table({"c": values}), sink, row_group_size=group, compression=named, store_schema=False
        )
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return 0
    facts = pq.read_metadata(pa.BufferReader(sink.getvalue()))
    return sum(
        facts.row_group(number).column(0).total_compressed_size for number in range(facts.num_row_groups)
    )
