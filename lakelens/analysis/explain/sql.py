"""The parts of a predicate as sqlglot gives them: which is a column, where it stands, how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.codecs.temporal import timestamp_from_nanos
from lakelens.model.stats import Condition, Constant, Term, Test, join_parts

if TYPE_CHECKING:
    from sqlglot import exp

    from lakelens.model.schema import DataType


def load_dialect() -> Any:
    """SQL as all engines have it: names in double quotes (the standard's) or backticks (Spark's), bytes as X'00'."""
    global _dialect
    if _dialect is None:
        from sqlglot import tokens
        from sqlglot.dialects.dialect import Dialect

        class Predicate(Dialect):
            class Tokenizer(tokens.Tokenizer):
                IDENTIFIERS = ['"', "`"]  # noqa: RUF012 - sqlglot reads it so
                HEX_STRINGS = [("x'", "'"), ("X'", "'")]  # noqa: RUF012

        _dialect = Predicate
    return _dialect


_dialect: Any = None


def unwrap(node: exp.Expression) -> exp.Expression:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_column(node: exp.Expression) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Column) or (isinstance(node, exp.Dot) and is_column(unwrap(node.this)))


def is_null(node: exp.Expression) -> bool:
    from sqlglot import exp

    inner = unwrap(node)
    return isinstance(inner, exp.Null) or (isinstance(inner, exp.Cast) and is_null(inner.this))


def show_sql(node: exp.Expression, negated: bool, text: str = "") -> str:
    """Show a part as SQL; a comparison as it is in the `text`."""
    from sqlglot import exp

    if bool(node.args.get("negate")):
        node, negated = node.copy(), not negated
        node.set("negate", None)
    if isinstance(node, exp.Is) and isinstance(node.args["expression"], exp.Null) and negated:
        return f"{node.this.sql(load_dialect(), comments=False)} IS NOT NULL"
    begin, end = find_place(node)
    if isinstance(node, exp.Binary) and not negated and begin is not None and end is not None:
        shown, last = text[begin : end + 1], find_place(node.args["expression"])[0]
        if (
            last is not None
            and shown.count("(") == shown.count(")")
            and "\n" not in shown
            and "--" not in shown
        ):
            return shown
    return str((exp.not_(node) if negated else node).sql(load_dialect(), comments=False))


def find_place(node: exp.Expression) -> tuple[int | None, int | None]:
    """Find the first and the last character of a part, as far as it is known."""
    places = [(one.meta["start"], one.meta["end"]) for one in node.walk() if "start" in one.meta]
    if not places:
        return None, None
    return min(begin for begin, _ in places), max(end for _, end in places)


def split_pattern(pattern: str, escape: str) -> tuple[str, str]:
    """Split the text that a pattern begins with, and the rest from its first wildcard on.

    >>> split_pattern("a!%b%c", "!")
    ('a%b', '%c')
    """
    prefix: list[str] = []
    place = 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == escape and place + 1 < len(pattern):
            place += 1
        elif sign in "%_":
            return "".join(prefix), pattern[place:]
        prefix.append(pattern[place])
        place += 1
    return "".join(prefix), ""


# --- errors ------------------------------------------------------------------------------------------------------------

_SHOWN = 120
_OPEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|(?P<open>['"`]|/\*)""", re.S
)
_HEX = re.compile(r"""\b[xX]'(?![0-9a-fA-F]*')""")


def describe_place(begin: int | None) -> str:
    """Describe where a character is, for a message."""
    return "" if begin is None else f" at character {begin + 1}"


def cut_text(text: str, begin: int = 0) -> str:
    """Cut a text, of a long one what is around a place.

    >>> cut_text("id = 1"), len(cut_text("(" * 5_000))
    ('id = 1', 121)
    """
    if len(text) <= _SHOWN:
        return text
    first = max(0, min(begin - _SHOWN // 2, len(text) - _SHOWN))
    last = first + _SHOWN
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def describe_syntax(text: str, error: Exception) -> tuple[int | None, str]:
    """Describe the place of an error of the parser, and what is wrong there.

    >>> describe_syntax("name = 'a", ValueError())
    (7, 'a quote that is not closed')
    """
    details: Any = (getattr(error, "errors", None) or [{}])[0]
    before, here = str(details.get("start_context") or ""), str(details.get("highlight") or "")
    said = str(details.get("description") or "")
    if here:
        begin = max(text.find(f"{before}{here}{details.get('end_context') or ''}"), 0) + len(before)
        return begin, "something is missing" if said.startswith("Required") else said.rstrip(". ")
    opened = next((found.start() for found in _OPEN.finditer(text) if found["open"]), None)
    if opened is not None:
        return opened, "a comment that is not closed" if text[opened] == "/" else "a quote that is not closed"
    wrong = _HEX.search(text)
    return (None, "it cannot be split into words") if wrong is None else (wrong.start(), "not hexadecimal")


def balance(text: str, begin: int, end: int) -> tuple[int, int]:
    """A place in a text with the parentheses that belong to it.

    >>> text = "id = 1 AND abs(id) = (SELECT 1)"
    >>> begin, end = balance(text, 11, 29)
    >>> text[begin : end + 1]
    'abs(id) = (SELECT 1)'
    """
    depth = least = 0
    for sign in text[begin : end + 1]:
        depth += (sign == "(") - (sign == ")")
        least = min(least, depth)
    for _ in range(depth - least):  # those that are not closed
        place = end + 1 + len(text[end + 1 :]) - len(text[end + 1 :].lstrip())
        end = place if text[place : place + 1] == ")" else end
    for _ in range(-least):
        before = text[:begin].rstrip()
        if before.endswith("("):
            begin = len(before) - 1
            while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
                begin -= 1
    return begin, end


# Literals of SQL as values of a column: which value, whether the column can hold it exactly, and what follows if not.
#
# A literal between two values that a column can hold (1.5 for an integer, half a microsecond) becomes the one below it,
# and the comparison is turned so that it stays the same; one beyond all that a column can hold decides by itself.

_EPOCH = date(1970, 1, 1)
_EXACT = Context(prec=100)  # nothing that is compared here is rounded, whatever the context of the thread is
_MOMENT = re.compile(
    r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*"
    r"(Z|UTC|[+-]\d{2}(?::?\d{2})?)?)?)?)?\s*"
)
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "date": 32, "time": 64, "timestamp": 64}
_BITS["timestamptz"] = 64


class NoValue(ValueError):
    """A literal that is no value of a column's type; the message says what is expected."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as nanoseconds since 1970, `zone` saying whether it was written with one; of a date only the day."""

    nanos: int
    zone: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """Where a literal is among the values of a type: at `value`, or (not exact) between it and the next.

    `side` is -1 below all values of the type, 1 above all.
    """

    value: Any
    is_exact: bool = True
    side: int = 0


def read_moment(text: str) -> Moment:
    """Read a date or a time in ISO 8601, as SQL engines read it: `2024`, `2024-01`, `2024-01-05 10:30:00.5+02:00`.

    >>> read_moment("1970-01-01 00:00:01").nanos
    1000000000
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise NoValue("a date or a time, such as '2024-01-31' or '2024-01-31 12:00:00'")
    year, month, day, hour, minute, second = (int(part) if part else 0 for part in found.groups()[:6])
    try:
        days = (date(year, month or 1, day or 1) - _EPOCH).days
        clock = time(hour, minute, second)
    except ValueError as error:
        raise NoValue(f"a date or a time that there is ({error})") from error
    seconds = days * 86_400 + clock.hour * 3_600 + clock.minute * 60 + clock.second
    zone = found[8]
    if zone and zone[0] in "+-":
        away = int(zone[1:3]) * 3_600 + int(zone[-2:] if len(zone) > 3 else 0) * 60
        if away > 18 * 3_600 or int(zone[-2:]) > 59:
            raise NoValue("a zone of at most 18 hours, such as +02:00")
        seconds += -away if zone[0] == "+" else away
    return Moment(seconds * 1_000_000_000 + int((found[7] or "").ljust(9, "0")), bool(zone))


def read_number(text: str) -> Decimal:
    """Read a number as it is written."""
    try:
        return Decimal(text.strip().replace("_", "x"))
    except InvalidOperation as error:
        raise NoValue("a number") from error


def cut_fraction(number: Decimal) -> Decimal:
    """Cut a number as SQL casts it to an integer, towards zero; one beyond all integers as it is.

    >>> cut_fraction(Decimal("-1.5")), cut_fraction(Decimal("1e999999999"))
    (Decimal('-1'), Decimal('1E+999999999'))
    """
    if not number.is_finite() or number.adjusted() > 40:
        return number
    return Decimal(int(number))


def place_literal(raw: Any, kind: DataType) -> Point:
    """Place where a literal is among the values of a type. Raises `NoValue` for one that it has no place among.

    >>> from lakelens.model.schema import DataType
    >>> place_literal(Decimal("1.5"), DataType("int", "int32"))
    Point(value=1, is_exact=False, side=0)
    """
    place = _PLACES.get(kind.logical)
    if place is None:
        raise NoValue("nothing: values of this type have no order")
    return place(raw, kind)


def _place_count(count: Decimal | int, kind: DataType, show: Callable[[int], Any] = int) -> Point:
    """Place a number of whole units, which the type holds with its bits."""
    most = 1 << (_BITS[kind.logical] - 1)
    if not -most <= count < most:
        return Point(None, side=1 if count > 0 else -1)
    whole = int(Decimal(count).to_integral_value(ROUND_FLOOR, _EXACT))
    return Point(show(whole), whole == count)


def _place_integer(raw: Any, kind: DataType) -> Point:
    number = _need_number(raw, "a whole number")
    if not number.is_finite():
        return Point(None, side=1 if number > 0 else -1)
    return _place_count(number, kind)


def _place_decimal(raw: Any, kind: DataType) -> Point:
    number = _need_number(raw, "a number")
    limit = Decimal(f"1E{kind.precision - kind.scale}")
    if not number.is_finite() or number.copy_abs() >= limit:
        return Point(None, side=1 if number > 0 else -1)
    value = number.quantize(Decimal(f"1E{-kind.scale}"), ROUND_FLOOR, _EXACT)
    if value <= limit.copy_negate():  # between the least value and what would be below it
        return Point(None, side=-1)
    return Point(value, value == number)


def _place_float(raw: Any, kind: DataType) -> Point:
    return Point(float(_need_number(raw, "a number")))


def _place_date(raw: Any, kind: DataType) -> Point:
    moment = _need_moment(raw, "a date, such as '2024-01-31'")
    days, rest = divmod(moment.nanos, 86_400_000_000_000)
    return Point(_EPOCH + timedelta(days), rest == 0)


def _place_timestamp(raw: Any, kind: DataType) -> Point:
    moment = _need_moment(raw, "a time, such as '2024-01-31 12:00:00'")
    if moment.zone and kind.logical == "timestamp":
        raise NoValue("a time without a zone: the column has none")
    digits = 3 if kind.precision <= 3 else 6 if kind.precision <= 6 else 9
    unit = 10 ** (9 - digits)
    zone = UTC if kind.logical == "timestamptz" else None

    def show(ticks: int) -> Any:
        if digits == 9:
            return timestamp_from_nanos(ticks, utc=zone is not None)
        return datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=ticks * (unit // 1_000))

    ticks, rest = divmod(moment.nanos, unit)
    point = _place_count(ticks, kind, show)
    return Point(point.value, rest == 0, point.side)


def _place_time(raw: Any, kind: DataType) -> Point:
    if isinstance(raw, str):
        try:
            return Point(time.fromisoformat(raw.strip()))
        except ValueError:
            pass
    raise NoValue("a time of day, such as '12:30:00'")


def _place_text(raw: Any, kind: DataType) -> Point:
    if not isinstance(raw, str):
        raise NoValue("text in single quotes: the column holds text")
    return Point(raw)


def _place_bytes(raw: Any, kind: DataType) -> Point:
    if isinstance(raw, str) and kind.logical == "binary":
        raw = raw.encode()
    if not isinstance(raw, bytes):
        raise NoValue("bytes, such as X'00FF'")
    if kind.logical == "fixed" and kind.length and len(raw) != kind.length:
        raise NoValue(f"{kind.length} bytes: as many as the column has")
    return Point(raw)


def _place_uuid(raw: Any, kind: DataType) -> Point:
    try:
        return Point(UUID(bytes=raw) if isinstance(raw, bytes) else UUID(raw))
    except (ValueError, AttributeError, TypeError) as error:
        raise NoValue("a UUID in single quotes") from error


def _place_boolean(raw: Any, kind: DataType) -> Point:
    words = {"true": True, "false": False}
    if isinstance(raw, str):
        raw = words.get(raw.strip().lower())
    if not isinstance(raw, bool):
        raise NoValue("TRUE or FALSE")
    return Point(raw)


def _need_number(raw: Any, expected: str) -> Decimal:
    if isinstance(raw, str):
        try:
            raw = read_number(raw)
        except NoValue:
            raise NoValue(expected) from None
    if not isinstance(raw, Decimal) or raw.is_nan():  # NaN is found before this where a column may hold it
        raise NoValue(expected)
    return raw


def _need_moment(raw: Any, expected: str) -> Moment:
    if isinstance(raw, str):
        return read_moment(raw)
    if not isinstance(raw, Moment):
        raise NoValue(expected)
    return raw


_PLACES: dict[str, Callable[[Any, DataType], Point]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), _place_integer),
    **dict.fromkeys(("float32", "float64"), _place_float),
    "decimal": _place_decimal,
    "date": _place_date,
    "timestamp": _place_timestamp,
    "timestamptz": _place_timestamp,
    "time": _place_time,
    "string": _place_text,
    "binary": _place_bytes,
    "fixed": _place_bytes,
    "uuid": _place_uuid,
    "boolean": _place_boolean,
}


def is_nan(raw: Any, logical: str) -> bool:
    if logical not in ("float32", "float64"):
        return False
    return (isinstance(raw, Decimal) and raw.is_nan()) or (
        isinstance(raw, str) and raw.strip().lower() == "nan"
    )


def settle(term: Term, points: list[Point]) -> Condition:
    """A term with its literals, where they are values that the column can hold; else what is the same."""
    if term.test in ("in", "not in"):
        return _settle_list(term, points)
    (point,) = points
    if (isinstance(point.value, Decimal) and point.value.is_nan()) or (
        isinstance(point.value, str) and _is_float(term)
    ):
        return _settle_nan(term)
    if point.side:
        is_true = term.test == "!=" or (term.test in ("<", "<=")) == (point.side > 0)
        holds = is_true and term.test != "="
        return replace(term, test="is not null") if holds else Constant(term.text, False)
    if not point.is_exact:
        if term.test in ("=", "!="):
            return Constant(term.text, False) if term.test == "=" else replace(term, test="is not null")
        turned: dict[Test, Test] = {"<": "<=", ">=": ">"}
        return replace(term, test=turned.get(term.test, term.test), values=(point.value,))
    return replace(term, values=(point.value,))


def _settle_list(term: Term, points: list[Point]) -> Condition:
    is_nan = [not point.side and _is_float(term) and not isinstance(point.value, float) for point in points]
    values = tuple(
        point.value
        for point, nan in zip(points, is_nan, strict=True)
        if point.is_exact and not point.side and not nan
    )
    negated = term.test == "not in"
    parts: list[Condition] = (
        [_settle_nan(replace(term, test="!=" if negated else "="))] if any(is_nan) else []
    )
    if values:
        parts.append(replace(term, values=tuple(dict.fromkeys(values))))
    if not parts:
        return replace(term, test="is not null") if negated else Constant(term.text, False)
    return join_parts("and" if negated else "or", parts, term.text)


def _is_float(term: Term) -> bool:
    return term.type.logical in ("float32", "float64")


def _settle_nan(term: Term) -> Condition:
    """A comparison with NaN, which is above every number and equal to itself."""
    if term.test in ("=", ">="):
        return replace(term, test="is nan")
    if term.test in ("!=", "<"):
        return replace(term, test="is not nan")
    return replace(term, test="is not null") if term.test == "<=" else Constant(term.text, False)
