"""The columns of a Paimon table under their new names, and what replaces their values.

A column is its field id, and its kind of values: where a column became one of another kind (a number a text), bounds of both
kinds are replaced apart. A bucket key of one column gets values of the same buckets.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence

from lakelens.codecs.hashes import hash_murmur3
from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.formats.paimon.metadata.logical_types import describe_field
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.model.skeleton.ordinals import FLOATS, count_digits, rank_float
from lakelens.model.skeleton.redaction import RedactedColumn, Redaction
from lakelens.model.skeleton.scales import NANO_YEARS, YEARS, NumberScale, TextScale, count_days, cut_by

# BinaryRows written again: partitions, keys and statistics with other values of the same types.
#
# The layout is that of `lakelens.codecs.paimon.binary_row`. Head, nulls and truth values stay; every other value is given
# away as what it is ordered by, and what is given back is encoded as Paimon's `BinaryRowWriter` does. Nested values and
# variants, which have no statistics, become null.

Ordinal = int | str
Give = Callable[[PaimonField, Ordinal], Ordinal]
WIDTHS = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8, "DATE": 4, "TIME": 4}
TEXTS = frozenset(("CHAR", "VARCHAR"))
BYTES = frozenset(("BINARY", "VARBINARY"))
TIMES = frozenset(("TIMESTAMP", "TIMESTAMP_LTZ"))
_INLINE = 7


def rewrite_row(data: bytes, columns: Sequence[PaimonField], give: Give) -> bytes | None:
    """A row with other values; None when these bytes are no row of these columns.

    >>> row = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    >>> columns = [PaimonField(0, "id", PaimonType("INT")), PaimonField(1, "name", PaimonType("VARCHAR"))]
    >>> rewrite_row(row, columns, lambda column, old: 7 if column.id == 0 else "z" * 9).hex()[40:]
    '09000000180000007a7a7a7a7a7a7a7a7a00000000000000'
    """
    arity = int.from_bytes(data[:4], "big", signed=True)
    row, head = data[4:], (len(columns) + 71) // 64 * 8
    if arity != len(columns) or len(row) < head + 8 * arity:
        return data if arity == 0 and len(data) <= 12 else None
    made, slots, variable = bytearray(row[:head]), bytearray(), bytearray()
    fixed = head + 8 * arity
    for number, column in enumerate(columns):
        slot = row[head + 8 * number : head + 8 * number + 8]
        is_null = bool(row[(number + 8) // 8] >> (number + 8) % 8 & 1)
        try:
            ordinal = None if is_null else _read(row, slot, column.type)
        except (ValueError, struct.error):
            return None
        new = None if ordinal is None else give(column, ordinal)
        # Whether a value without an order stays: a truth value, NaN, an infinity.
        if new is None and not is_null and column.type.name not in ("BOOLEAN", "FLOAT", "DOUBLE"):
            made[(number + 8) // 8] |= 1 << (number + 8) % 8
            is_null = True
        if new is None and not is_null:
            slots += slot
            continue
        stored, more = _write(column.type, new, fixed + len(variable))
        slots += stored.ljust(8, b"\0")
        variable += more + bytes(-len(more) % 8)
    return data[:4] + bytes(made + slots + variable)


def encode_key(columns: Sequence[PaimonField], ordinals: Sequence[Ordinal]) -> bytes:
    """Encode the row of a key, without the arity in front: what its bucket is a hash of."""
    fixed = (len(columns) + 71) // 64 * 8 + 8 * len(columns)
    slots, variable = bytearray(fixed - 8 * len(columns)), bytearray()
    for column, ordinal in zip(columns, ordinals, strict=True):
        stored, more = _write(column.type, ordinal, fixed + len(variable))
        slots += stored.ljust(8, b"\0")
        variable += more + bytes(-len(more) % 8)
    return bytes(slots + variable)


def _read(row: bytes, slot: bytes, kind: PaimonType) -> Ordinal | None:
    name = kind.name
    if name in WIDTHS:
        return int.from_bytes(slot[: WIDTHS[name]], "little", signed=True)
    if name in ("FLOAT", "DOUBLE"):
        (value,) = struct.unpack("<f" if name == "FLOAT" else "<d", slot[: 4 if name == "FLOAT" else 8])
        return rank_float(value) if math.isfinite(value) else None
    if name == "DECIMAL":
        if (kind.precision or 10) <= 18:
            return int.from_bytes(slot, "little", signed=True)
        length, begin = struct.unpack("<ii", slot)
        return int.from_bytes(_cut(row, begin, length), "big", signed=True)
    if name in TIMES:
        digits = count_digits(_precision(kind))
        if _precision(kind) <= 3:
            return int.from_bytes(slot, "little", signed=True)
        nanos, begin = struct.unpack("<ii", slot)
        (millis,) = struct.unpack("<q", _cut(row, begin, 8))
        return int(millis * 10 ** (digits - 3) + nanos // 10 ** (9 - digits))
    if name in TEXTS or name in BYTES:
        size = slot[7]
        content = slot[: size & 0x7F] if size & 0x80 else _cut(row, *struct.unpack("<ii", slot)[::-1])
        return content.decode("utf-8" if name in TEXTS else "latin-1")
    return None


def _cut(row: bytes, begin: int, length: int) -> bytes:
    if begin < 0 or length < 0 or begin + length > len(row):
        raise ValueError("a value outside of its row")
    return row[begin : begin + length]


def _precision(kind: PaimonType) -> int:
    return 6 if kind.precision is None else kind.precision


def _write(kind: PaimonType, ordinal: Ordinal | None, begin: int) -> tuple[bytes, bytes]:
    """Write the slot of a value, and what goes to the variable part, which begins at a byte."""
    name = kind.name
    if name == "DECIMAL" and (kind.precision or 10) > 18:
        number = 0 if ordinal is None else int(ordinal)
        size = (number + (number < 0)).bit_length() // 8 + 1
        data = b"" if ordinal is None else number.to_bytes(size, "big", signed=True)
        return struct.pack("<ii", len(data), begin), data.ljust(16, b"\0")
    if name in TIMES and _precision(kind) > 3:
        digits = count_digits(_precision(kind))
        millis, rest = divmod(0 if ordinal is None else int(ordinal), 10 ** (digits - 3))
        return struct.pack("<ii", rest * 10 ** (9 - digits), begin), struct.pack("<q", millis)
    if ordinal is None:
        return b"", b""
    if isinstance(ordinal, str):
        data = ordinal.encode("utf-8" if name in TEXTS else "latin-1")
        if len(data) <= _INLINE:
            return data.ljust(7, b"\0") + bytes([0x80 + len(data)]), b""
        return struct.pack("<ii", len(data), begin), data
    if name in ("FLOAT", "DOUBLE"):
        return struct.pack("<f" if name == "FLOAT" else "<d", float(ordinal)), b""
    return ordinal.to_bytes(WIDTHS.get(name, 8), "little", signed=True), b""


RESERVED = 2147480000  # ids above are columns that the engine adds
_SEED = 42
_DAY_MILLIS = 86_400_000


class _Scaled:
    """A scale whose numbers are literals' times one factor over another: milliseconds, digits of a decimal."""

    is_kept = keeps_rest = False

    def __init__(self, scale: NumberScale, times: int, over: int) -> None:
        self._scale, self._times, self._over = scale, times, over

    def map(self, value: int) -> int:
        return self._scale.map(value * self._times // self._over) * self._over // self._times


class ColumnBook:
    """Every column by id, and its scales."""

    def __init__(self, redaction: Redaction) -> None:
        self.redaction = redaction
        self._types: dict[int, list[PaimonType]] = {}
        self._names: dict[int, set[str]] = {}
        self._scales: dict[tuple[int, str], NumberScale | TextScale | None] = {}
        self._keys: dict[int, tuple[PaimonField, str]] = {}
        self._buckets: set[int] = set()

    def learn(self, schema: PaimonSchema) -> None:
        """Learn the columns of a schema; the newest comes first."""
        for column in schema.columns:
            self._types.setdefault(column.id, []).append(column.type)
            self._names.setdefault(column.id, set()).add(column.name)
            self.redaction.names.reserve([column.name, *(field.name for field in _walk_fields(column.type))])
        named = [one.strip() for one in schema.options.get("bucket-key", "").split(",") if one.strip()]
        keys = [schema.find_column(name) for name in named] if named else list(schema.key_columns)
        function = schema.options.get("bucket-function.type", "default").lower()
        if len(keys) == 1 and keys[0] is not None:
            self._keys[keys[0].id] = (keys[0], function)
        elif keys:
            self.redaction.note(
                "the bucket of a key of several columns is not that of the values in its place"
            )

    def learn_buckets(self, count: object) -> None:
        """Learn a number of buckets that files were divided into."""
        if isinstance(count, int) and count > 1:
            self._buckets.add(count)

    def name_all(self, schemas: Iterable[PaimonSchema]) -> None:
        """Give every column its name, those of the newest schema first."""
        for schema in schemas:
            for column in schema.columns:
                self.redaction.names.column(column.name, column.id)
                for inner in _walk_fields(column.type):
                    self.redaction.names.column(inner.name, inner.id)

    def publish(self, schemas: Iterable[PaimonSchema]) -> None:
        """Say which column is called what, so that a predicate can be translated."""
        names = self.redaction.names
        for schema in schemas:
            for column in schema.columns:
                kind = describe_field(column).type
                scale = self.scale(column)
                times, over = self._factor(column), 1_000 if column.type.name == "TIME" else 1
                shown = _Scaled(scale, times, over) if isinstance(scale, NumberScale) else scale
                new = names.column(column.name, column.id)
                found = RedactedColumn(new, kind, shown)  # type: ignore[arg-type]
                self.redaction.columns.setdefault(column.name, found)
                for path, inner in _walk_paths(column):
                    renamed = ".".join(names.find_column(part) or part for part in path)
                    field = RedactedColumn(renamed, describe_field(inner).type, None)
                    self.redaction.columns.setdefault(".".join(path), field)

    def settle(self) -> None:
        """All values are known."""
        for (number, _), scale in self._scales.items():
            if scale is not None:
                scale.settle(self.redaction.random)
                if scale.is_kept:
                    self.redaction.note(
                        f"the values of c{number} stay: its type has no room for others in order"
                    )
                elif scale.keeps_rest:
                    self.redaction.note(
                        f"of some values of c{number} it stays where they are in their group: there is no room for others"
                    )

    def keeps(self, column: PaimonField) -> bool:
        """Check whether the values of a column stay by choice, or are the engine's own."""
        return column.id >= RESERVED or self.redaction.keeps_values(self._names.get(column.id, {column.name}))

    def scale(self, column: PaimonField) -> NumberScale | TextScale | None:
        """Say what replaces the values of a column of this type; None when they stay or have no order."""
        key = (column.id, self._find_kind(column))
        if key not in self._scales:
            self._scales[key] = None if self.keeps(column) else self._make_scale(column, key[1])
        return self._scales[key]

    def _make_scale(self, column: PaimonField, kind: str) -> NumberScale | TextScale | None:
        known = self._keys.get(column.id)
        fits = None
        if known is not None and self._buckets and _find_kind(known[0].type) == kind:
            fits = _Fits(known[0], known[1], sorted(self._buckets))
        if kind in ("text", "bytes"):
            return TextScale(fits=fits)
        types = self._types.get(column.id, [column.type])
        if kind == "number":
            digits = self._digits(column.id)
            most = min(  # as a whole number of the finest type
                10 ** ((type_.precision or 10) + digits - (type_.scale or 0))
                if type_.name == "DECIMAL"
                else 2 ** (WIDTHS[type_.name] * 8 - 1) * 10**digits
                for type_ in types
                if _is_number(type_)
            )
            limits = -most + 1, most - 1
            return NumberScale(*limits, cut_by(10**digits, *limits))
        same = [one for one in types if _find_kind(one) == kind]
        found = _find_limits(kind, same or [column.type])
        return None if found is None else NumberScale(*found, fits=fits)

    def _digits(self, number: int) -> int:
        """The digits after the point that any type of a column has."""
        return max(one.scale or 0 for one in self._types.get(number, ()) if _is_number(one))

    def _find_kind(self, column: PaimonField) -> str:
        """Find the kind of values: `number` where whole numbers became decimals, or decimals others."""
        numbers = {_find_kind(one) for one in self._types.get(column.id, ()) if _is_number(one)}
        return "number" if len(numbers) > 1 and _is_number(column.type) else _find_kind(column.type)

    def _factor(self, column: PaimonField) -> int:
        """Say what a value of this type is multiplied by among those of all types of the column."""
        if self._find_kind(column) != "number":
            return 1
        return int(10 ** (self._digits(column.id) - (column.type.scale or 0)))

    # --- rows ----------------------------------------------------------------------------------------------------------

    def note_row(self, data: bytes, columns: Sequence[PaimonField]) -> None:
        """Note every value of a row."""
        rewrite_row(data, columns, self._note)

    def write_row(self, data: bytes, columns: Sequence[PaimonField]) -> bytes:
        """Write the row in place of one; zeros for what is no row of these columns."""
        made = rewrite_row(data, columns, self._give)
        if made is None:
            self.redaction.note("rows that do not decode are zeros of the same length")
            return bytes(len(data))
        return made

    def _note(self, column: PaimonField, ordinal: Ordinal) -> Ordinal:
        scale = self.scale(column)
        if isinstance(scale, NumberScale) and isinstance(ordinal, int):
            scale.add(ordinal * self._factor(column))
        elif scale is not None:
            scale.add(ordinal)  # type: ignore[arg-type]
        return ordinal

    def _give(self, column: PaimonField, ordinal: Ordinal) -> Ordinal:
        scale = self.scale(column)
        if isinstance(scale, NumberScale) and isinstance(ordinal, int):
            factor = self._factor(column)
            return scale.map(ordinal * factor) // factor
        return ordinal if scale is None else scale.map(ordinal)  # type: ignore[arg-type]


class _Fits:
    """Whether two values of a bucket key are in the same bucket, however many there are."""

    def __init__(self, column: PaimonField, function: str, buckets: Sequence[int]) -> None:
        self._column, self._function, self._buckets = column, function, buckets

    def __call__(self, old: Ordinal, new: Ordinal) -> bool:
        if self._function == "mod" and isinstance(old, int) and isinstance(new, int):
            return all(old % count == new % count for count in self._buckets)
        first, second = self._hash(old), self._hash(new)
        return all(first % count == second % count for count in self._buckets)

    def _hash(self, ordinal: Ordinal) -> int:
        if isinstance(ordinal, int) and self._column.type.name in WIDTHS:
            bits = WIDTHS[self._column.type.name] * 8 - 1
            if not -(2**bits) <= ordinal < 2**bits:
                return 0  # of a wider type that the column had once
        return abs(int(hash_murmur3(encode_key([self._column], [ordinal]), _SEED)))


def _is_number(kind: PaimonType) -> bool:
    return kind.name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL")


def _find_kind(kind: PaimonType) -> str:
    name = kind.name
    if name in ("DATE", "TIME"):
        return name.lower()
    if name in WIDTHS:
        return "int"
    if name in ("FLOAT", "DOUBLE"):
        return "float"
    if name == "DECIMAL":
        return f"decimal {kind.scale or 0}"
    if name in TIMES:
        return f"time {count_digits(6 if kind.precision is None else kind.precision)}"
    return "text" if name in TEXTS else "bytes" if name in BYTES else "other"


def _find_limits(kind: str, types: Sequence[PaimonType]) -> tuple[int, int] | None:
    """Find what new numbers may be."""
    if kind == "int":
        bits = min(WIDTHS[one.name] for one in types) * 8 - 1
        return -(2**bits), 2**bits - 1
    if kind == "float":
        return FLOATS
    if kind.startswith("decimal"):
        digits = min(one.precision or 10 for one in types)
        return -(10**digits) + 1, 10**digits - 1
    if kind == "time":
        return 0, _DAY_MILLIS - 1
    if kind == "date":
        return count_days(YEARS[0]), count_days(YEARS[1])
    if kind.startswith("time "):
        digits = int(kind[5:])
        first, last = NANO_YEARS if digits == 9 else YEARS
        day = 86_400 * 10**digits
        return count_days(first) * day, count_days(last) * day
    return None


def _walk_fields(kind: PaimonType) -> Iterable[PaimonField]:
    """Walk every named field below a type."""
    for part in (kind.element, kind.key, kind.value):
        if part is not None:
            yield from _walk_fields(part)
    for field in kind.fields:
        yield field
        yield from _walk_fields(field.type)


def _walk_paths(column: PaimonField) -> Iterable[tuple[tuple[str, ...], PaimonField]]:
    """Walk the fields of a row by their paths: those that a predicate can name."""
    for field in column.type.fields:
        yield (column.name, field.name), field
        for path, inner in _walk_paths(field):
            yield (column.name, *path), inner
