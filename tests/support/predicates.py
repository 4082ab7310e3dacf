"""Predicates made from the values of a table, each in lakelens' SQL and in DuckDB's, which is the referee over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.schema import DataType
from lakelens.model.stats import Condition, Constant, Group, Term
from tests.support.stored_rows import Column

_TESTS = ("=", "!=", "<", "<=", ">", ">=")
_UNITS = {"ms": 1_000_000, "us": 1_000, "ns": 1}
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the seconds that have four digits of a year
_FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class Literal:
    """A literal in both dialects; `column` is what DuckDB compares it with, where that is not the column itself."""

    text: str
    duck: str
    column: str = "{}"


@dataclass(frozen=True)
class Predicate:
    """A predicate for lakelens, and the same for DuckDB."""

    text: str
    duck: str


# --- rows for DuckDB -----------------------------------------------------------------------------------------------------


def to_duck(array: pa.Array, kind: DataType) -> pa.Array:
    """A column as DuckDB takes it exactly: times without zones, UUIDs as text."""
    array = getattr(array, "storage", array)
    if pa.types.is_timestamp(array.type):
        unit = "ns" if array.type.unit == "ns" else "us"
        return array.cast(pa.timestamp(array.type.unit)).cast(pa.timestamp(unit))
    if pa.types.is_time(array.type):
        return array.cast(pa.time64("us"), safe=False)
    if kind.logical == "uuid":
        return pa.array([None if v is None else str(UUID(bytes=v)) for v in array.to_pylist()], pa.string())
    if pa.types.is_fixed_size_binary(array.type):
        return array.cast(pa.binary())
    return array


def write_value(value: Any, kind: DataType, *, single: bool = True) -> str:
    """A value of a type in DuckDB's SQL; of a 32-bit float as that, or as the double that was written."""
    if kind.logical in _FLOATS:
        return f"'{value!r}'::{'FLOAT' if kind.logical == 'float32' and single else 'DOUBLE'}"
    if kind.logical in ("timestamp", "timestamptz", "date", "time"):
        array = getattr(to_array([value], arrow_type(kind)), "storage", None) or to_array(
            [value], arrow_type(kind)
        )
        return _write_ticks(to_duck(array, kind))
    if kind.logical == "decimal":
        return f"{value:f}::DECIMAL({max(kind.precision, 1)}, {kind.scale})"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, bytes):
        return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
    if isinstance(value, str | UUID):
        return "'" + str(value).replace("'", "''") + "'"
    return f"{value}::HUGEINT"


def _write_ticks(array: pa.Array) -> str:
    unit = "D" if pa.types.is_date(array.type) else array.type.unit
    if pa.types.is_time(array.type):
        return f"TIME '{array.to_pylist()[0]}'"
    ticks = array.view(pa.int32() if unit == "D" else pa.int64())[0].as_py()
    text = _show_ticks(ticks, unit)
    name = "DATE" if unit == "D" else "TIMESTAMP_NS" if unit == "ns" else "TIMESTAMP"
    return f"{name} '{text}'"


def _show_ticks(ticks: int, unit: str) -> str:
    return str(np.datetime64(ticks, unit)).replace("T", " ")


def write_condition(condition: Condition, name: Callable[[str], str]) -> str:
    """A condition that was understood, in DuckDB's SQL."""
    if isinstance(condition, Constant):
        return str(condition.value).upper()
    if isinstance(condition, Group):
        return (
            "("
            + f" {condition.kind} ".join(f"({write_condition(part, name)})" for part in condition.parts)
            + ")"
        )
    return _write_term(condition, name(condition.column))


def _write_term(term: Term, column: str) -> str:
    if term.test in ("is null", "is not null"):
        return f"{column} {term.test}"
    if "nan" in term.test:
        return f"{'NOT ' if 'not' in term.test else ''}isnan({column})"
    values = [write_value(value, term.type) for value in term.values]
    if "starts" in term.test:
        return f"{'NOT ' if 'not' in term.test else ''}starts_with({column}, {values[0]})"
    if term.test in ("in", "not in"):
        return f"{column} {term.test} ({', '.join(values)})"
    return f"{column} {term.test} {values[0]}"


# --- literals ------------------------------------------------------------------------------------------------------------


def list_literals(kind: DataType, values: pa.Array, random: Random) -> list[Literal]:
    """Literals for a column: some of its values, their neighbours, values beyond, values between two."""
    distinct = values.drop_null()
    if len(distinct) > 200:
        distinct = distinct.take(pa.array(sorted(random.sample(range(len(distinct)), 200))))
    make = _MAKERS.get(kind.logical)
    return list(dict.fromkeys(make(kind, distinct))) if make is not None else []


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _list_integers(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    known = set(values.to_pylist())
    near = known | {value + step for value in known for step in (-1, 1)} | {0, 10**7, -(10**12), 2**70}
    for value in sorted(near):
        yield Literal(str(value), f"{value}::HUGEINT")
    for value in sorted(known)[:20]:
        yield Literal(f"{value}.5", f"{value}.5::DECIMAL(38, 1)")
        yield Literal(f"'{value}'", f"{value}::HUGEINT")
        yield Literal(f"CAST({value} AS BIGINT)", f"{value}::HUGEINT")


def _list_floats(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    known = {value for value in values.to_pylist() if value == value}
    width = np.float32 if kind.logical == "float32" else np.float64
    with np.errstate(over="ignore"):
        near = {float(np.nextafter(width(value), width(end))) for value in known for end in ("inf", "-inf")}
    for value in sorted({*known, *near, 0.0, -0.0, 0.1, 1e300, -1e300}):
        text = repr(value)
        if "inf" in text:
            yield Literal(f"CAST('{text.replace('inf', 'Infinity')}' AS DOUBLE)", f"'{text}'::DOUBLE")
        else:
            yield Literal(text, f"'{text}'::DOUBLE")
    yield Literal("'NaN'", "'nan'::DOUBLE")
    yield Literal("CAST('NaN' AS DOUBLE)", "'nan'::DOUBLE")


def _list_decimals(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    step = Decimal(1).scaleb(-kind.scale)
    known = set(values.to_pylist())
    limit = Decimal(10) ** (kind.precision - kind.scale)
    near = {*known, Decimal(0)} | {value + sign * step for value in known for sign in (-1, 1)}
    for value in sorted(one for one in near if abs(one) < limit):
        yield Literal(f"{value:f}", f"{value:f}::DECIMAL({kind.precision}, {kind.scale})")
    if kind.precision < 37:
        wide = kind.precision + 1, kind.scale + 1
        for value in sorted(known)[:20]:
            between = f"{value + (step / 2).copy_sign(value):f}"
            yield Literal(between, f"{between}::DECIMAL({wide[0]}, {wide[1]})")
        yield Literal(f"{limit * 5:f}", f"{limit * 5:f}::DECIMAL({kind.precision + 1}, {kind.scale})")
        yield Literal(f"-{limit:f}", f"-{limit:f}::DECIMAL({kind.precision + 1}, {kind.scale})")


def _list_dates(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    days = set(values.view(pa.int32()).to_pylist())
    for day in sorted({*days, 0, -719162, 2932896} | {day + step for day in days for step in (-1, 1)}):
        if -719162 <= day <= 2932896:
            text = _show_ticks(day, "D")
            yield Literal(f"'{text}'", f"DATE '{text}'")
            yield Literal(f"DATE '{text}'", f"DATE '{text}'")
    for day in sorted(days)[:10]:
        if -719162 <= day <= 2932896:
            text = _show_ticks(day, "D")
            yield Literal(f"TIMESTAMP '{text} 11:00:00'", f"TIMESTAMP '{text} 11:00:00'")


def _list_timestamps(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    unit = "ns" if pa.types.is_timestamp(values.type) and values.type.unit == "ns" else "us"
    size = _UNITS[unit]
    name, epoch = ("TIMESTAMP_NS", "epoch_ns") if unit == "ns" else ("TIMESTAMP", "epoch_us")
    known = set(to_duck(values, kind).view(pa.int64()).to_pylist())
    near = {*known, 0, 1_000_000_000_000} | {
        tick + step for tick in known for step in (-1, 1, 86_400 * 10**6)
    }
    is_zoned = kind.logical == "timestamptz"
    for tick in sorted(near):
        if not _FIRST < tick * size / 1e9 < _LAST or (unit == "ns" and abs(tick) > 2**62):
            continue
        text = _show_ticks(tick, unit)
        yield Literal(f"'{text}'", f"{name} '{text}'")
        yield Literal(f"TIMESTAMP '{text}'", f"{name} '{text}'")
        if is_zoned:
            shown = _show_ticks(tick + 7_200 * 10**9 // size, unit)
            yield Literal(f"'{shown}+02:00'", f"{name} '{text}'")
        whole = _show_ticks(tick // (10**9 // size), "s")
        yield Literal(f"'{whole[:10]}'", f"{name} '{whole[:10]} 00:00:00'")
        if unit == "us":
            between = tick * 1_000 + 500
            yield Literal(
                f"'{text.ljust(26, '0') if '.' in text else text + '.000000'}500'",
                f"{between}::HUGEINT",
                f"({epoch}({{}})::HUGEINT * 1000)",
            )


def _list_times(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    known = {time.fromisoformat(str(value)) for value in to_duck(values, kind).to_pylist()}
    for value in sorted({*known, time(0), time(12, 30), time(23, 59, 59)}):
        yield Literal(f"'{value.isoformat()}'", f"TIME '{value.isoformat()}'")


def _list_texts(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    known = {value for value in values.to_pylist() if "\0" not in value}
    near = {*known, "", "zz", "a"}
    for value in known:
        near |= {value + "a", value[:-1], value[:2], value.upper(), value[:-1] + _next_sign(value[-1:])}
    for value in sorted(near):
        yield Literal(_quote(value), _quote(value))


def _next_sign(sign: str) -> str:
    code = ord(sign) + 1 if sign else 97
    return chr(0xE000 if 0xD800 <= code < 0xE000 else min(code, 0x10FFFF))


def _list_bytes(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    known = set(values.to_pylist())
    near = {*known} | {value[:-1] + b"\x01" for value in known}
    if kind.logical == "binary":
        near |= {b"", b"\xff\xff", *(value + b"\0" for value in known), *(value[:1] for value in known)}
    for value in sorted(near):
        yield Literal(f"X'{value.hex()}'", write_value(value, kind))


def _list_uuids(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    for value in sorted(
        {*(UUID(bytes=one) for one in values.to_pylist()), UUID(int=7), UUID(int=2**127 + 9)}
    ):
        yield Literal(f"'{value}'", f"'{value}'")


def _list_booleans(kind: DataType, values: pa.Array) -> Iterable[Literal]:
    yield from (Literal("TRUE", "TRUE"), Literal("FALSE", "FALSE"), Literal("'true'", "TRUE"))


_MAKERS: Mapping[str, Callable[[DataType, pa.Array], Iterable[Literal]]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), _list_integers),
    **dict.fromkeys(_FLOATS, _list_floats),
    "decimal": _list_decimals,
    "date": _list_dates,
    **dict.fromkeys(("timestamp", "timestamptz"), _list_timestamps),
    "time": _list_times,
    "string": _list_texts,
    **dict.fromkeys(("binary", "fixed"), _list_bytes),
    "uuid": _list_uuids,
    "boolean": _list_booleans,
}


# --- predicates ----------------------------------------------------------------------------------------------------------


class Maker:
    """Makes predicates over some columns, the same ones for the same seed."""

    def __init__(
        self, columns: Sequence[Column], values: Mapping[str, pa.Array], seed: str, *, is_plain: bool = False
    ) -> None:
        """With `is_plain` literals are of the precision that columns have: Spark cuts those that are finer."""
        self._random = Random(seed)
        self._columns = list(columns)
        found = {one.name: list_literals(one.kind, values[one.name], self._random) for one in columns}
        self._literals = {
            name: [one for one in literals if one.column == "{}" or not is_plain]
            for name, literals in found.items()
        }

    def make(self) -> Predicate:
        """One predicate: of one to four comparisons, put together in some way."""
        return self._join(self._random.choice((0, 0, 1, 1, 2)))

    def _join(self, depth: int) -> Predicate:
        if depth == 0:
            return self._compare(self._random.choice(self._columns))
        parts = [self._join(self._random.randrange(depth)) for _ in range(self._random.choice((2, 2, 3)))]
        word = self._random.choice((" AND ", " AND ", " OR "))
        found = Predicate(
            word.join(f"({part.text})" for part in parts), word.join(f"({part.duck})" for part in parts)
        )
        if self._random.random() < 0.2:
            return Predicate(f"NOT ({found.text})", f"NOT ({found.duck})")
        return found

    def _compare(self, column: Column) -> Predicate:
        name, referee = column.sql, f'"{column.name}"'
        literals = self._literals[column.name]
        if not literals or self._random.random() < 0.08:
            word = self._random.choice(("IS NULL", "IS NOT NULL"))
            return Predicate(f"{name} {word}", f"{referee} {word}")
        kind = self._random.choice(_KINDS[column.kind.logical == "string"])
        found = getattr(self, f"_make_{kind}")(name, referee, literals, column)
        if self._random.random() < 0.15:
            return Predicate(f"NOT ({found.text})", f"NOT ({found.duck})")
        return found

    def _make_plain(self, name: str, referee: str, literals: Sequence[Literal], column: Column) -> Predicate:
        literal, test = self._random.choice(literals), self._random.choice(_TESTS)
        if self._random.random() < 0.1:
            turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(test, test)
            return Predicate(
                f"{literal.text} {turned} {name}", f"{literal.column.format(referee)} {test} {literal.duck}"
            )
        return Predicate(
            f"{name} {test} {literal.text}", f"{literal.column.format(referee)} {test} {literal.duck}"
        )

    def _make_in(self, name: str, referee: str, literals: Sequence[Literal], column: Column) -> Predicate:
        usable = [one for one in literals if one.column == "{}"]
        chosen = self._random.sample(usable, min(len(usable), self._random.choice((1, 2, 3, 5))))
        word = self._random.choice(("IN", "IN", "NOT IN"))
        more = ["NULL"] if self._random.random() < 0.08 else []
        return Predicate(
            f"{name} {word} ({', '.join([one.text for one in chosen] + more)})",
            # one by one: a list has one type in DuckDB, which some of its values may not fit
            _write_in(referee, word, [*(one.duck for one in chosen), *more]),
        )

    def _make_between(
        self, name: str, referee: str, literals: Sequence[Literal], column: Column
    ) -> Predicate:
        low, high = sorted(self._random.sample(range(len(literals)), 2)) if len(literals) > 1 else (0, 0)
        one, other = literals[low], literals[high]
        word = self._random.choice(("BETWEEN", "BETWEEN", "NOT BETWEEN"))
        duck = (
            f"({one.column.format(referee)} >= {one.duck} AND {other.column.format(referee)} <= {other.duck})"
        )
        return Predicate(
            f"{name} {word} {one.text} AND {other.text}", f"NOT {duck}" if "NOT" in word else duck
        )

    def _make_distinct(
        self, name: str, referee: str, literals: Sequence[Literal], column: Column
    ) -> Predicate:
        literal = self._random.choice([one for one in literals if one.column == "{}"])
        word = self._random.choice(("IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
        return Predicate(f"{name} {word} {literal.text}", f"{referee} {word} {literal.duck}")

    def _make_like(self, name: str, referee: str, literals: Sequence[Literal], column: Column) -> Predicate:
        text = self._random.choice(literals).text[1:-1].replace("''", "'")
        prefix = text[: self._random.choice((0, 1, 2, 3, 20))]
        escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        tail = self._random.choice(("%", "%", "%", "_%", "", "%a%"))
        word = self._random.choice(("LIKE", "LIKE", "NOT LIKE"))
        pattern = _quote(escaped + tail)
        return Predicate(f"{name} {word} {pattern}", f"{referee} {word} {pattern} ESCAPE '\\'")


_KINDS = {
    True: ("plain", "plain", "in", "between", "distinct", "like", "like"),
    False: ("plain", "plain", "plain", "in", "between", "distinct"),
}


def _write_in(referee: str, word: str, values: Sequence[str]) -> str:
    found = " OR ".join(f"{referee} = {value}" for value in values)
    return f"NOT ({found})" if "NOT" in word else f"({found})"
