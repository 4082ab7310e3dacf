"""Many BinaryRows at once, column by column: the fast path for the partitions and bounds of whole manifests.

The bytes are those of `row`; here each slot of all rows is taken at once::

    row k of the binary column:  starts[k] | 4 arity | null bits | slot 0 | slot 1 | ...
    heads                        arity, kind and null bits of every row, as one numpy matrix
    words                        the slots of some fields of every row: a matrix with a line for each field
    far items                    positions computed from the slots, checked, then gathered

Nothing is decoded differently from `decode_binary_row`: whatever does not pass a check here is handed to it, so that
the error is the same and names the same byte (of the row, with the number of the row). Values of nested types are
decoded row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lakelens.codecs.paimon.arrow import arrow_type, arrow_value
from lakelens.codecs.paimon.row import FieldLike, decode_binary_row, split_fields
from lakelens.codecs.paimon.row_kernels import Slots, decode_column, take_numbers, take_words
from lakelens.codecs.paimon.row_slots import count_null_bytes
from lakelens.codecs.paimon.types import PaimonType
from lakelens.errors import Corrupt, LakeError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

_GATHERED = 64  # slots of a row that are gathered at once


def decode_binary_rows(column: pa.Array, fields: Sequence[FieldLike]) -> pa.StructArray:
    """Decode a binary column of serialized rows to a struct column; a null row gives a null struct.

    Arrow types: TIMESTAMP(0..3) is `timestamp[ms]`, (4..6) `[us]`, (7..9) `[ns]`, with local zone tz UTC; a column that
    holds moments its unit cannot is `[ns]` for more digits, `[us]` or `[ms]` for years out of reach. DECIMAL is
    `decimal128`, TIME `time32[ms]`, DATE `date32`, texts `string`, bytes and BLOB `binary`, VARIANT a struct of value
    and metadata, MAP and MULTISET `map`, VECTOR `list`.

    Raises `Corrupt` with the byte of the row, and the number of the first damaged row in the message. Follows
    "BinaryRow" of the Paimon table specification.

    >>> import pyarrow as pa
    >>> rows = pa.array([bytes.fromhex("0000000100000000000000000a00000000000000"), None], pa.binary())
    >>> decode_binary_rows(rows, [("id", "INT")]).to_pylist()
    [{'id': 10}, None]
    """
    import pyarrow as pa

    names, types = split_fields(fields)
    rows = _Rows(_flatten(column), fields, len(types))
    rows.check_fixed_part()
    columns = [rows.decode(i, type_) for i, type_ in enumerate(types)]
    rows.check_spent()
    mask = pa.array(rows.missing) if rows.missing.any() else None
    arrow_fields = [pa.field(name, array.type) for name, array in zip(names, columns, strict=True)]
    if not columns:
        return _make_empty_structs(len(rows.starts), mask)
    return pa.StructArray.from_arrays(columns, fields=arrow_fields, mask=mask)


def _flatten(column: Any) -> Any:
    """One contiguous array of type `large_binary` of any binary column."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if pa.types.is_large_binary(column.type) else column.cast(pa.large_binary())


def _make_empty_structs(length: int, mask: Any) -> Any:
    import pyarrow as pa

    validity = None if mask is None else pa.compute.invert(mask).buffers()[1]
    return pa.Array.from_buffers(pa.struct([]), length, [validity])


class _Rows:
    """The bytes of all rows, where each starts and ends, and how much each has spent of its bytes."""

    def __init__(self, column: Any, fields: Sequence[FieldLike], arity: int) -> None:
        self.column = column
        self.fields = fields
        self.arity = arity
        buffers = column.buffers()
        offsets = np.zeros(1, np.int64)
        if len(column):
            offsets = np.frombuffer(buffers[1], np.int64, len(column) + 1, column.offset * 8)
        content = buffers[2] if buffers[2] is not None else b""
        self.content = np.frombuffer(content, np.uint8)
        self.missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)
        self.starts = offsets[:-1]
        self.lengths = np.diff(offsets)
        self.present = np.flatnonzero(~self.missing)
        self.present_starts = self.starts[self.present] if self.missing.any() else self.starts
        self.begins, self.sizes = self.starts + 4, self.lengths - 4
        self.null_bytes = count_null_bytes(arity)
        self.words: tuple[int, Any] = -1, None
        self.spent = np.full(len(column), self.null_bytes + 8 * arity, np.int64)

    def check_fixed_part(self) -> None:
        """Hand the first row that is too short, or has another arity or an unknown kind, to the row path to refuse."""
        self.refuse(self.lengths < 4 + self.null_bytes + 8 * self.arity)
        width = 4 + self.null_bytes
        heads = take_numbers(self.content, self.present_starts, f"V{width}").view(np.uint8).reshape(-1, width)
        self.refuse_at(self.present[(heads.view(">i4")[:, 0] != self.arity) | (heads[:, 4] > 3)])
        self.null_bits = heads[:, 4:]
        self.any_nulls = np.bitwise_or.reduce(self.null_bits, axis=0)

    def check_spent(self) -> None:
        """Refuse rows whose items overlap, as the row path does."""
        self.refuse(self.spent > self.lengths)

    def refuse(self, bad: Any) -> None:
        """Raise the error of the row path for the first bad row that is not null."""
        found = np.flatnonzero(bad & ~self.missing)
        if not len(found):
            return
        self.decode_row(int(found[0]))
        raise Corrupt(f"row {found[0]} does not decode by column")  # the row path would have raised

    def decode_row(self, index: int) -> Any:
        try:
            return decode_binary_row(self.column[index].as_py(), self.fields)
        except Corrupt as error:
            raise Corrupt(
                f"row {index}: {error.message}",
                offset=error.offset,
                expected=error.expected,
                seen=error.seen,
                hint=error.hint,
            ) from error
        except LakeError as error:
            raise type(error)(f"row {index}: {error.message}", hint=error.hint) from error

    def find_nulls(self, index: int) -> Any:
        """Which rows have no value of a field."""
        byte, bit = (index + 8) // 8, 1 << index % 8
        if not self.any_nulls[byte] & bit:
            return self.missing
        nulls = self.missing.copy()
        nulls[self.present] = self.null_bits[:, byte] & bit
        return nulls

    def find_words(self, index: int) -> Any:
        """The slots of a field, of every row that is there."""
        number = index // _GATHERED
        if self.words[0] != number:
            first, starts = number * _GATHERED, self.present_starts
            count = min(_GATHERED, self.arity - first)
            self.words = -1, None
            self.words = (
                number,
                take_words(self.content, starts + (4 + self.null_bytes + 8 * first), count),
            )
        return self.words[1][index % _GATHERED]

    def decode(self, index: int, type_: PaimonType) -> Any:
        import pyarrow as pa

        nulls = self.find_nulls(index)
        if type_.name in ("ARRAY", "MAP", "MULTISET", "ROW", "VARIANT", "VECTOR"):
            return self.decode_nested(index, type_, nulls)
        words, where = self.find_words(index), self.present
        if nulls is not self.missing:
            where, words = np.flatnonzero(~nulls), words[~nulls[self.present]]
        if not len(where):
            return pa.nulls(len(self.starts), arrow_type(type_))
        at = self.null_bytes + 8 * index
        slots = Slots(self.content, words, where, nulls, self.begins, self.sizes, at)
        kernel = decode_column(type_, slots)
        if kernel.bad.any():
            self.refuse_at(where[kernel.bad])
        if np.any(kernel.spent):
            self.spent[where] += kernel.spent
        return kernel.array

    def refuse_at(self, indices: Any) -> None:
        bad = np.zeros(len(self.starts), np.bool_)
        bad[indices] = True
        self.refuse(bad)

    def decode_nested(self, index: int, type_: PaimonType, nulls: Any) -> Any:
        """Nested values, row by row: their statistics are null in all but made-up rows."""
        import pyarrow as pa

        values = [None if null else self.decode_row(row)[index] for row, null in enumerate(nulls)]
        try:
            return pa.array([arrow_value(type_, value) for value in values], arrow_type(type_))
        except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
            raise Unsupported(f"a value of type {type_} does not fit into Arrow: {error}") from error
