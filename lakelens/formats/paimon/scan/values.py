"""Decoded columns of old types as columns of today's: what `promotion` does to one value, done to all of them.

Where a cast is simple it is Arrow's; elsewhere each different value goes through the record path's own function; where even
a value may differ from what the record path decodes (moments beyond a unit, nested values) each row does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.types import PaimonField, PaimonType, make_nullable
from lakelens.errors import LakeError
from lakelens.formats.paimon.metadata.logical_types import Promotion
from lakelens.formats.paimon.scan.columns import to_unit
from lakelens.model.arrow import map_distinct, to_array
from lakelens.model.scan.columnar import NotColumnar

if TYPE_CHECKING:
    import pyarrow as pa

_INTEGERS = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
_TEXTS = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
# types whose values Arrow gives back as the record path decodes them
_EQUAL = _INTEGERS | _TEXTS | {"BOOLEAN", "DECIMAL", "FLOAT", "DOUBLE", "DATE"}
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST_DAY, _PAST_DAY = -719_162, 2_932_897  # the years 1 to 9999


class ValueColumns:
    """The fields of serialized rows by column, as columns of today's types. Raises `NotColumnar` on damage."""

    def __init__(self, stored: pa.Array, columns: Sequence[PaimonField]) -> None:
        from lakelens.codecs.paimon.row_columns import decode_binary_rows

        self._stored = stored
        self._columns = columns
        try:
            self.decoded = decode_binary_rows(stored, columns)
        except LakeError as error:
            raise NotColumnar(str(error)) from error
        self._records: list[Any] | None = None

    def find(self, position: int) -> pa.Array:
        """A field as it is stored."""
        return self.decoded.field(position)

    def convert(
        self, position: int, today: PaimonType | None, promote: Promotion | None, kind: pa.DataType
    ) -> pa.Array:
        """A field as a column of an Arrow type; `today` is the type it has now, None where the value stays as it is."""
        import pyarrow as pa

        column, old = self.find(position), self._columns[position].type
        if promote is None or column.null_count == len(column):
            return pa.nulls(len(column), kind)
        try:
            found = _convert(column, old, today or old, kind)
            if found is not None:
                return found
            if old.name in _EQUAL and (old.name != "DATE" or _is_in_years(column)):
                return map_distinct(column, promote, kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, NotColumnar):
            pass  # a value that a column of this type cannot hold: each value by itself
        values = (None if record is None else record[position] for record in self.list_records())
        return to_array([None if value is None else promote(value) for value in values], kind)

    def is_plain(self, position: int, kind: pa.DataType) -> bool:
        """Whether a struct of Python values would hold a field just as its column does."""
        import pyarrow as pa

        column = self.find(position)
        if self._columns[position].type.name in _EQUAL - {"DATE"} or column.null_count == len(column):
            return True
        return column.type == kind and (pa.types.is_time(kind) or _is_in_years(column))

    def list_records(self) -> list[Any]:
        """The rows one by one, as the record path decodes them."""
        if self._records is None:
            decode: Callable[[bytes], Any] = lambda data: decode_binary_row(data, self._columns)  # noqa: E731
            self._records = [None if data is None else decode(data) for data in self._stored.to_pylist()]
        return self._records


def _convert(column: pa.Array, old: PaimonType, new: PaimonType, kind: pa.DataType) -> pa.Array | None:
    """By Arrow's own casts; None where there is none that says the same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if make_nullable(old, True) == make_nullable(new, True) or (old.name, new.name) == ("FLOAT", "DOUBLE"):
        return _keep(column, kind)
    if old.name in _INTEGERS and new.name in _INTEGERS and pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        if bits < column.type.bit_width - 1:
            inside = pc.and_(pc.greater_equal(column, -(2**bits)), pc.less(column, 2**bits))
            column = pc.if_else(inside, column, pa.scalar(None, column.type))
        return column.cast(kind)
    if old.name in _TEXTS and new.name in _TEXTS and column.type == kind:
        length = pc.utf8_length(column) if pa.types.is_string(kind) else pc.binary_length(column)
        return pc.if_else(pc.less_equal(length, new.length or 0), column, pa.scalar(None, kind))
    if old.name == new.name and old.name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _keep(column, kind)
    return None


def _keep(column: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The same values in the type of the contract."""
    import pyarrow as pa

    if column.type == kind:
        return column
    if pa.types.is_timestamp(column.type) and pa.types.is_timestamp(kind):
        return to_unit(column, kind)
    same = (
        (pa.types.is_time(column.type) and pa.types.is_time(kind))
        or (pa.types.is_float32(column.type) and pa.types.is_float64(kind))
        or (pa.types.is_large_string(column.type) and pa.types.is_string(kind))
        or (pa.types.is_large_binary(column.type) and pa.types.is_binary(kind))
    )
    return column.cast(kind) if same else None


def _is_in_years(column: pa.Array) -> bool:
    """Whether all dates or timestamps are in the years 1 to 9999."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type)):
        return False
    per_day = 1 if pa.types.is_date32(column.type) else _PER_DAY[column.type.unit]
    ends = pc.min_max(column.view(pa.int32() if per_day == 1 else pa.int64())).as_py()
    return bool(_FIRST_DAY * per_day <= ends["min"] and ends["max"] < _PAST_DAY * per_day)
