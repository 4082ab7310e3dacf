"""What rows weigh: by the footers of some files, and by how much better or worse columns compress in another order.

footers    at most 8: the bytes of a row before compression, of a row group beside its columns, the share of each column
growth     the sampled columns encoded as Parquet in the order that they have and in the new one, in row groups of as many
           rows as full ones have, else one a file
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.measures.laying import PAGE_ROWS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.explain.files import FileFacts
    from lakelens.analysis.layout.known import KnownRows, Ranks
    from lakelens.model.fileset import FileSet
    from lakelens.model.storage import Storage

_MOST_FOOTERS = 8
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}
#: A decimal of that many digits is stored as a whole number.
_WHOLE = 18
#: Java's writers compress so; Arrow's own levels are others.
_LEVELS = {"zstd": 3, "gzip": 6}
_CODECS = ("snappy", "gzip", "zstd", "brotli", "lz4")


@dataclass(frozen=True)
class Weights:
    """What footers say of files: `raw_row` bytes of a row before it is encoded, `overhead` of a row group beside
    its columns.

    What a file has beside its columns is taken to be of its row groups alone, of which each file has `groups`. `shares` are
    the columns' shares of all bytes, `codec` is how they are compressed, `full_group` is how many rows a row group has that
    another one follows in its file, 0 where each file has one.
    """

    raw_row: float = 0.0
    overhead: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    codec: str = "none"
    full_group: float = 0.0
    groups: float = 1.0

    def expect_group_rows(self, limit: int, stored: float) -> float:
        """Expect how many rows a writer puts into a row group: as many as into those that are full, else by its limit.

        A writer begins another one when what it holds reaches `limit` bytes: pages of 20,000 rows as they are `stored`, and
        the one that it fills, not compressed yet. 0 where no footer says how large a row is.

        >>> Weights(raw_row=20.0).expect_group_rows(1_000_000, 5.0), Weights(full_group=9.0).expect_group_rows(1, 5.0)
        (200000.0, 9.0)
        """
        if self.full_group or not self.raw_row:
            return self.full_group
        pages, rest = divmod(limit, max(stored * PAGE_ROWS, 1e-9))
        return float(pages * PAGE_ROWS + min(rest / max(self.raw_row, stored), PAGE_ROWS))


def read_weights(files: FileSet, facts: FileFacts, storage: Storage) -> Weights:
    """Read the footers of at most 8 files; what is no Parquet says nothing of it."""
    import numpy as np

    chosen = np.unique(
        np.linspace(0, len(facts) - 1, min(_MOST_FOOTERS, len(facts))).round().astype(np.int64)
    )
    rows = total = 0
    raw = 0.0
    beside: list[int] = []
    sizes: dict[str, int] = {}
    codec, full, groups = "none", list[int](), list[int]()
    for file in files.take(facts.places[chosen].tolist()):
        try:
            footer = storage.read_footer(file.path, file.file_format)
        except LakeError:
            continue
        columns = list(footer.columns) if footer.format == "parquet" else []
        if not columns or not footer.num_rows or file.size_bytes is None:
            continue
        rows, total = rows + footer.num_rows, total + file.size_bytes
        raw += sum(_measure_raw(chunk) for group in footer.row_groups for chunk in group.columns)
        for column in columns:
            sizes[column.path] = sizes.get(column.path, 0) + (column.compressed_size or 0)
            codec = next((str(name).lower() for name in column.compression), codec)
        groups.append(len(footer.row_groups))
        full += [group.num_rows for group in footer.row_groups[:-1]]
        beside.append(max(file.size_bytes - sum(column.compressed_size or 0 for column in columns), 0))
    if not rows:
        return Weights()
    shares = {name: size / max(total, 1) for name, size in sizes.items()}
    overhead, most = sum(beside) / sum(groups), float(np.mean(full)) if full else 0.0
    return Weights(raw / rows, overhead, shares, codec, most, float(np.mean(groups)))


def _measure_raw(chunk: Any) -> float:
    """Measure what the values of a chunk take before they are encoded: of texts by the length of the bounds."""
    encoded = float(chunk.uncompressed_size or 0)
    ends = [len(end) for end in (chunk.min_raw, chunk.max_raw) if end is not None]
    width: float | None = _WIDTHS.get(chunk.physical_type)
    if width is None and ends:
        width = sum(ends) / len(ends) + 4
    return encoded if width is None else max(encoded, width * (chunk.num_values - (chunk.null_count or 0)))


def measure_growth(rows: KnownRows, order: NDArray[Any], files: int, weights: Weights) -> float:
    """Measure how many bytes the columns take in another order, of what all take today; 1 where rows were not read."""
    if rows.source != "sample" or weights.codec not in (*_CODECS, "none", "uncompressed"):
        return 1.0
    before, after = max(len(rows) // max(len(set(rows.file.tolist())), 1), 1), max(len(order) // files, 1)
    if weights.full_group:  # of the rows of a row group those that are known
        most = max(int(weights.full_group * len(order) / max(float(rows.rows.sum()), 1)), 1)
        before, after = min(before, most), min(after, most)
    growth = 1.0
    for name, column in rows.columns.items():
        share = weights.shares.get(name, 0.0)
        old = _encode(column, None, before, weights.codec) if share else 0
        if old:
            growth += share * (_encode(column, order, after, weights.codec) / old - 1)
    return growth


def _encode(column: Ranks, order: NDArray[Any] | None, group: int, codec: str) -> int:
    """Encode a column as Parquet, and count the bytes of its chunks."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = column.codes if order is None else column.codes[order]
    values: pa.Array = column.values.take(pa.array(codes, mask=codes < 0))
    if pa.types.is_decimal128(values.type) and values.type.precision <= _WHOLE:
        low = np.frombuffer(values.buffers()[1], np.int64)[values.offset * 2 :: 2][: len(values)]
        values = pa.array(low, mask=codes < 0).cast(pa.int32() if values.type.precision <= 9 else pa.int64())
    sink = pa.BufferOutputStream()
    named = codec if codec in _CODECS else "none"
    try:
        pq.write_table(
            pa.table({"c": values}),
            sink,
            row_group_size=group,
            compression=named,
            compression_level=_LEVELS.get(named),
            use_dictionary=_pays_dictionary(values, codes[:group]),
            store_schema=False,
        )
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return 0
    facts = pq.read_metadata(pa.BufferReader(sink.getvalue()))
    return sum(
        facts.row_group(number).column(0).total_compressed_size for number in range(facts.num_row_groups)
    )


def _pays_dictionary(values: pa.Array, codes: NDArray[Any]) -> bool:
    """Whether a dictionary and the numbers of its values are smaller than values: Java's writer leaves one that is not."""
    import numpy as np

    width = max(values.nbytes / max(len(values), 1), 0.125)
    different = max(len(np.unique(codes)), 1)
    return bool(different * width + len(codes) * (different - 1).bit_length() / 8 < len(codes) * width)
