"""The columns of a Paimon table under their new names, and what replaces their values.

A column is its field id, and its kind of values: where a column became one of another kind (a number a text), bounds of both
kinds are replaced apart. A bucket key of one column gets values of the same buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mmh3

from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.formats.paimon.metadata.schema import PaimonSchema
from lakelens.formats.paimon.metadata.types import describe_field
from lakelens.formats.paimon.skeleton.rows import (
    BYTES,
    TEXTS,
    TIMES,
    WIDTHS,
    Ordinal,
    encode_key,
    rewrite_row,
)
from lakelens.model.skeleton.calendar import NANO_YEARS, YEARS, count_days
from lakelens.model.skeleton.numbers import NumberScale, cut_by
from lakelens.model.skeleton.ordinals import FLOATS, count_digits
from lakelens.model.skeleton.redaction import RedactedColumn, Redaction
from lakelens.model.skeleton.texts import TextScale

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
        """The columns of a schema; the newest comes first."""
        for column in schema.columns:
            self._types.setdefault(column.id, []).append(column.type)
            self._names.setdefault(column.id, set()).add(column.name)
        self.redaction.names.reserve(_walk_names(schema.columns))
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
        """A number of buckets that files were divided into."""
        if isinstance(count, int) and count > 1:
            self._buckets.add(count)

    def name_all(self, schemas: Iterable[PaimonSchema]) -> None:
        """Give every column its name, those of the newest schema first."""
        for schema in schemas:
            for column in schema.columns:
                self._name(column)

    def _name(self, column: PaimonField) -> None:
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
        """Whether the values of a column stay by choice, or are the engine's own."""
        return column.id >= RESERVED or self.redaction.keeps_values(self._names.get(column.id, {column.name}))

    def scale(self, column: PaimonField) -> NumberScale | TextScale | None:
        """What replaces the values of a column of this type; None when they stay or have no order."""
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
            limits = _find_number_limits([one for one in types if _is_number(one)], digits)
            return NumberScale(*limits, cut_by(10**digits, *limits))
        same = [one for one in types if _find_kind(one) == kind]
        found = _find_limits(kind, same or [column.type])
        return None if found is None else NumberScale(*found, fits=fits)

    def _digits(self, number: int) -> int:
        """The digits after the point that any type of a column has."""
        return max(one.scale or 0 for one in self._types.get(number, ()) if _is_number(one))

    def _find_kind(self, column: PaimonField) -> str:
        """The kind of values: `number` where whole numbers became decimals, or decimals others."""
        numbers = {_find_kind(one) for one in self._types.get(column.id, ()) if _is_number(one)}
        return "number" if len(numbers) > 1 and _is_number(column.type) else _find_kind(column.type)

    def _factor(self, column: PaimonField) -> int:
        """What a value of this type is multiplied by among those of all types of the column."""
        if self._find_kind(column) != "number":
            return 1
        return int(10 ** (self._digits(column.id) - (column.type.scale or 0)))

    # --- rows ----------------------------------------------------------------------------------------------------------

    def note_row(self, data: bytes, columns: Sequence[PaimonField]) -> None:
        """Every value of a row."""
        rewrite_row(data, columns, self._note)

    def write_row(self, data: bytes, columns: Sequence[PaimonField]) -> bytes:
        """The row in place of one; zeros for what is no row of these columns."""
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
        return abs(int(mmh3.hash(encode_key([self._column], [ordinal]), _SEED)))


def _is_number(kind: PaimonType) -> bool:
    return kind.name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL")


def _find_number_limits(types: Sequence[PaimonType], digits: int) -> tuple[int, int]:
    """What new numbers may be, as whole numbers of the finest type."""
    most = min(
        10 ** ((one.precision or 10) + digits - (one.scale or 0))
        if one.name == "DECIMAL"
        else 2 ** (WIDTHS[one.name] * 8 - 1) * 10**digits
        for one in types
    )
    return -most + 1, most - 1


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
    """What new numbers may be."""
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
    """Every named field below a type."""
    for part in (kind.element, kind.key, kind.value):
        if part is not None:
            yield from _walk_fields(part)
    for field in kind.fields:
        yield field
        yield from _walk_fields(field.type)


def _walk_names(columns: Iterable[PaimonField]) -> Iterable[str]:
    for column in columns:
        yield column.name
        yield from (field.name for field in _walk_fields(column.type))


def _walk_paths(column: PaimonField) -> Iterable[tuple[tuple[str, ...], PaimonField]]:
    """The fields of a row by their paths: those that a predicate can name."""
    for field in column.type.fields:
        yield (column.name, field.name), field
        for path, inner in _walk_paths(field):
            yield (column.name, *path), inner
