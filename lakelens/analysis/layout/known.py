"""What is known of the rows of a table: drawn from the bounds of its files, or read from some of them.

    bounds    of each file a few points, evenly between its bounds; columns go with each other only from file to file
    sample    rows of files that are spread evenly over the table, evenly within each file

Either is a list of rows, each of which stands for many; `source` says which. A column that bounds say nothing of is
left out, and one whose bounds are so wide that what is between them is a guess is in `wide`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.arrow import arrow_type, to_array

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.explain.files import FileFacts
    from lakelens.model.fileset import FileSet
    from lakelens.model.schema import Field
    from lakelens.model.storage import Storage

#: Bounds that span more of a column than this say nothing of what is between them.
TOO_WIDE = 0.5
_POINTS = 300_000
_MOST_POINTS = 61
_PRIMES = (61, 31, 17, 7, 5, 3)
_MOST_FILES = 64
_MOST_OF_A_FILE = 400_000


@dataclass(frozen=True)
class Ranks:
    """The values of a column: the different ones in order, and the number of each row's among them (-1: null).

    `is_nan` are the rows that hold NaN, whose number is -1 too.
    """

    values: pa.Array
    codes: NDArray[np.int64]
    is_nan: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class KnownRows:
    """Rows that stand for all rows of a table.

    `rows` and `sizes` are how many rows and bytes each stands for, `file` is the number of the file that it is of.
    `is_whole` says that they are all rows. `wide` is how much of a column the bounds of a file span, where that is too much.
    """

    columns: Mapping[str, Ranks]
    rows: NDArray[np.float64]
    sizes: NDArray[np.float64]
    file: NDArray[np.int64]
    source: str
    is_whole: bool = False
    read_files: int = 0
    wide: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def find_ends(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find for each row the least and the greatest number that a column has in the row's file."""
        import numpy as np

        codes = self.columns[name].codes
        is_first = np.diff(self.file, prepend=-1) != 0
        starts, number = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        least = np.minimum.reduceat(np.where(codes < 0, np.iinfo(np.int64).max, codes), starts)
        return least[number], np.maximum.reduceat(codes, starts)[number]


def make_column(values: pa.Array) -> Ranks:
    """Number the values of a column in their order."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    values = getattr(values, "storage", values)
    is_nan = None
    if pa.types.is_floating(values.type):
        nan = pc.fill_null(pc.is_nan(values), False)
        if pc.any(nan).as_py():
            is_nan = nan.to_numpy(zero_copy_only=False)
            values = pc.if_else(nan, pa.scalar(None, values.type), values)
    coded = values.dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    numbers = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    codes = np.where(numbers < 0, -1, ranks[numbers]) if len(ranks) else np.full(len(numbers), -1)
    return Ranks(coded.dictionary.take(pa.array(order)), codes.astype(np.int64), is_nan)


# --- from bounds -------------------------------------------------------------------------------------------------------


def draw_rows(facts: FileFacts, fields: Mapping[str, Field]) -> KnownRows:
    """Draw points of each file between its bounds: of every column that has any."""
    import numpy as np

    counts = np.maximum(facts.numpy("record_count"), 0).astype(np.float64)
    sizes = np.maximum(facts.numpy("size_bytes"), 0).astype(np.float64)
    files = len(facts)
    points = next((prime for prime in _PRIMES if prime * files <= _POINTS), 3)
    file = np.repeat(np.arange(files), points)
    step = np.tile(np.arange(points), files)
    columns, wide = {}, {}
    for number, name in enumerate(fields):
        lower, upper = facts.stat("lower_bounds", name), facts.stat("upper_bounds", name)
        if lower is None or upper is None or lower.null_count == len(lower):
            continue
        # each column of a file meets its points in another order, and no two files in the same
        turn = (file * (2_654_435_761 + 2 * number) >> 7) % points
        # the bounds themselves are values of rows
        share = ((step * (number % (points - 1) + 1) + turn) % points) / (points - 1)
        nulls = _share_nulls(facts, name, counts)
        is_null = ((step * 2 + turn) % points + 0.5) / points < nulls[file]
        drawn, span = _draw_between(lower, upper, share, file, is_null)
        if drawn is None:
            continue
        columns[name] = make_column(drawn)
        if span > TOO_WIDE and files > 1:
            wide[name] = span
    return KnownRows(columns, counts[file] / points, sizes[file] / points, file, "bounds", wide=wide)


def _share_nulls(facts: FileFacts, name: str, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np
    import pyarrow.compute as pc

    nulls = facts.stat("null_counts", name)
    if nulls is None:
        return np.zeros(len(counts))
    known = pc.fill_null(nulls, 0).to_numpy(zero_copy_only=False).astype(np.float64)
    share: NDArray[np.float64] = known / np.maximum(counts, 1)
    return share


def _draw_between(
    lower: pa.Array, upper: pa.Array, share: Any, file: Any, is_null: Any
) -> tuple[pa.Array | None, float]:
    """Draw values between bounds, and say how much of the column the bounds of a file span on average."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    lower, upper = (getattr(end, "storage", end) for end in (lower, upper))
    kind = lower.type
    shift = None
    if pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind):
        ends, shift = _number_texts(lower, upper)
    elif pa.types.is_date32(kind):
        ends = [end.view(pa.int32()).cast(pa.float64()) for end in (lower, upper)]
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        ends = [end.view(pa.int64()).cast(pa.float64(), safe=False) for end in (lower, upper)]
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        ends = [end.cast(pa.float64(), safe=False) for end in (lower, upper)]
    else:  # decimals, booleans: one of both
        chosen = pa.array(np.where(share < 0.5, 0, 1) * len(lower) + file)
        drawn = pa.concat_arrays([lower, upper]).take(chosen)
        return pc.if_else(pa.array(is_null), pa.scalar(None, kind), drawn), 1.0
    low, high = (pc.fill_null(end, np.nan).to_numpy(zero_copy_only=False).astype(np.float64) for end in ends)
    known = ~(np.isnan(low) | np.isnan(high))
    if not known.any():
        return None, 1.0
    least, most = low[known].min(), high[known].max()
    low, high = np.where(known, low, least), np.where(known, high, most)
    span = float(np.mean((high - low) / (most - least))) if most > least else 0.0
    values = low[file] + (high - low)[file] * share
    return _make_values(values, kind, is_null, shift), span


def _make_values(values: Any, kind: pa.DataType, is_null: Any, shift: bytes | None) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if shift is not None:
        words = np.round(values).astype(np.uint64).astype(">u8").tobytes()
        texts = [shift + words[place : place + 7 + 1].rstrip(b"\0") for place in range(0, len(words), 8)]
        return pa.array(texts, pa.binary(), mask=is_null)
    if pa.types.is_floating(kind):
        return pa.array(values, kind, mask=is_null)
    width = np.int32 if pa.types.is_date32(kind) else np.int64
    if pa.types.is_integer(kind):
        return pa.array(np.round(values).astype(np.int64), pa.int64(), mask=is_null).cast(kind, safe=False)
    stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array(np.round(values).astype(width), stored, mask=is_null).view(kind)


def _number_texts(lower: pa.Array, upper: pa.Array) -> tuple[list[Any], bytes]:
    """Number texts by the six bytes after what all of them begin with."""
    import pyarrow as pa

    ends = [end.cast(pa.binary()).to_pylist() for end in (lower, upper)]
    known = [
        text
        for end in ends
        for text in (min(filter(None, end), default=b""), max(filter(None, end), default=b""))
    ]
    first, last = min(known), max(known)
    alike = next(
        (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None
    )
    begin = first[: min(len(first), len(last)) if alike is None else alike]
    numbers = [
        pa.array(
            [
                None if text is None else float(int.from_bytes(text[len(begin) :][:6].ljust(8, b"\0"), "big"))
                for text in end
            ],
            pa.float64(),
        )
        for end in ends
    ]
    return numbers, begin


# --- from rows ---------------------------------------------------------------------------------------------------------


def read_rows(
    files: FileSet, facts: FileFacts, fields: Mapping[str, Field], storage: Storage, most: int
) -> KnownRows:
    """Read some columns of at most `most` rows, of at most 64 files; what a file lacks is known of its partition alone."""
    import numpy as np
    import pyarrow as pa

    if most <= 0:
        raise LakeError(f"sample={most}: how many rows are read at most", hint="sample=100_000")
    count = len(facts)
    chosen = np.unique(np.linspace(0, count - 1, min(_MOST_FILES, count)).round().astype(np.int64))
    names = list(fields)
    counts, sizes = facts.numpy("record_count"), facts.numpy("size_bytes")
    share = max(1, most // max(len(chosen), 1))
    pieces: dict[str, list[pa.Array]] = {name: [] for name in names}
    rows, weights, owner, is_whole = [], [], [], len(chosen) == count
    for place, file in zip(chosen.tolist(), files.take(facts.places[chosen].tolist()), strict=True):
        read = _read_file(storage, file, names)
        if read is None or not read.num_rows:
            is_whole = False
            continue
        taken = np.unique(
            np.linspace(0, read.num_rows - 1, min(share, read.num_rows)).round().astype(np.int64)
        )
        is_whole &= len(taken) == counts[place]
        for name in names:
            piece = _cast_piece(read, name, fields[name], taken)
            if piece is None and name in file.partition and name not in read.column_names:
                # not among the rows: each has the file's value
                piece = to_array([file.partition[name]] * len(taken), arrow_type(fields[name].type))
                piece = getattr(piece, "storage", piece)
            pieces[name].append(piece)
        rows.append(np.full(len(taken), max(counts[place], 0) / len(taken)))
        weights.append(np.full(len(taken), max(sizes[place], 0) / len(taken)))
        owner.append(np.full(len(taken), place))
    if not rows:
        first = files[0].path if len(files) else None
        raise LakeError(
            "no row could be read: a layout is foretold from bounds alone", path=first, hint="sample=None"
        )
    columns = {
        name: make_column(pa.concat_arrays(arrays))
        for name, arrays in pieces.items()
        if all(a is not None for a in arrays)
    }
    known, large = np.concatenate(rows), np.concatenate(weights)
    known *= max(float(np.maximum(counts, 0).sum()), 1) / max(known.sum(), 1)
    large *= max(float(np.maximum(sizes, 0).sum()), 1) / max(large.sum(), 1)
    return KnownRows(columns, known, large, np.concatenate(owner), "sample", is_whole, len(rows))


def _read_file(storage: Storage, file: Any, names: Sequence[str]) -> pa.Table | None:
    """Read some columns of the first rows of a file; None where they cannot be read."""
    import pyarrow as pa

    pieces, count = [], 0
    tops = list(dict.fromkeys(name.split(".")[0] for name in names))
    try:
        for piece in storage.read_columns(file.path, file.file_format, tops):
            pieces.append(piece.select([name for name in tops if name in piece.column_names]))
            count += piece.num_rows
            if count >= _MOST_OF_A_FILE:
                break
        return pa.concat_tables(pieces) if pieces else None
    except (LakeError, KeyError):
        return None


def _cast_piece(read: pa.Table, name: str, held: Field, taken: Any) -> pa.Array | None:
    import pyarrow as pa

    top, *steps = name.split(".")
    if read.column_names.count(top) != 1:
        return None
    column = read[top].combine_chunks()
    for step in steps:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(step) < 0:
            return None
        column = column.field(step)
    kind = arrow_type(held.type)
    kind = getattr(kind, "storage_type", kind)
    column = column.take(pa.array(taken))
    column = getattr(column, "storage", column)
    try:
        return column if column.type == kind else column.cast(kind, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
