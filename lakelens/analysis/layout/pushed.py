"""The filters that a Spark plan says were pushed down into a scan, as predicates in SQL.

    Iceberg    [filters=user_id IS NOT NULL, user_id = 5, groupedBy=]       `Spark3Util.describe`: almost SQL
    others     PushedFilters: [IsNotNull(user_id),EqualTo(user_id,5)]       Spark's `sources.Filter`, Paimon's `Predicate`

Neither escapes a text: one that looks like what is around it is not read, and counted so. That a column is not null
is left out where something else is asked of it, which no null fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from lakelens.analysis.explain.sql import load_dialect
from lakelens.model.scan.engines import parse_sql

if TYPE_CHECKING:
    from sqlglot import exp

    from lakelens.model.schema import DataType, Schema

_NAME = re.compile(r"[\w.`]+")
_CALL = re.compile(r"(?P<word>\w+)\((?P<inner>.*)\)", re.DOTALL)
_NOT_NULL = re.compile(r"(?P<column>\S+) IS NOT NULL")
_TESTS = {
    "equalto": "=",
    "equal": "=",
    "equalnullsafe": "=",
    "notequal": "!=",
    "greaterthan": ">",
    "greaterthanorequal": ">=",
    "greaterorequal": ">=",
    "lessthan": "<",
    "lessthanorequal": "<=",
    "lessorequal": "<=",
}
_LIKES = {
    "stringstartswith": "{}%",
    "startswith": "{}%",
    "stringendswith": "%{}",
    "endswith": "%{}",
    "stringcontains": "%{}%",
    "contains": "%{}%",
}


_NUMBERS = ("int", "uint", "float", "decimal")
_TEXTS = ("string", "binary", "uuid")


class UnreadFilter(Exception):
    """A filter that is not understood."""


def split_parts(text: str) -> Iterator[str]:
    """Split at commas that are outside of brackets and quotes.

    >>> list(split_parts("a = 1, b IN (1, 2), c = 'x, y'"))
    ['a = 1', 'b IN (1, 2)', "c = 'x, y'"]
    """
    depth, start, quoted = 0, 0, False
    for place, letter in enumerate(text):
        if letter == "'":
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    if quoted or depth:
        raise UnreadFilter(text)
    yield text[start:].strip()


def join_filters(filters: Sequence[str]) -> str:
    """Join filters that all hold, in their order.

    >>> join_filters(["a IS NOT NULL", "a = 1", "b IS NOT NULL"])
    'a = 1 AND b IS NOT NULL'
    """
    kept = []
    for said in filters:
        alone = _NOT_NULL.fullmatch(said)
        column = re.compile(rf"(?<![\w.`]){re.escape(alone['column'])}(?![\w.`])") if alone else None
        if column is None or not any(column.search(other) for other in filters if other != said):
            kept.append(said)
    return " AND ".join(f"({said})" if len(kept) > 1 and " OR " in said else said for said in kept)


def read_described(text: str) -> str:
    """Read the filters of an Iceberg scan. Raises `UnreadFilter`.

    >>> read_described("user_id IS NOT NULL, user_id = 5")
    'user_id = 5'
    """
    return join_filters([part for part in split_parts(text) if part and part != "true"])


def read_pushed(text: str) -> str:
    """Read pushed filters as Spark and Paimon write them. Raises `UnreadFilter`.

    >>> read_pushed("IsNotNull(user_id),In(user_id, [1,2])")
    "user_id IN ('1', '2')"
    """
    return join_filters([_read_filter(part) for part in split_parts(text) if part])


def _read_filter(text: str) -> str:
    call = _CALL.fullmatch(text)
    if call is None:
        raise UnreadFilter(text)
    word, inner = call["word"].lower(), call["inner"]
    parts = list(split_parts(inner))
    if word in {**_TESTS, **_LIKES} and len(parts) > 2:  # a text with commas
        parts = [parts[0], inner.partition(",")[2].strip()]
    if word in ("and", "or") and len(parts) == 1 and parts[0].startswith("["):
        parts = list(split_parts(parts[0].removeprefix("[").removesuffix("]")))
    if word in ("and", "or") and len(parts) >= 2:
        return f" {word.upper()} ".join(f"({_read_filter(part)})" for part in parts)
    if word == "not" and len(parts) == 1:
        return f"NOT ({_read_filter(parts[0])})"
    if not _NAME.fullmatch(parts[0]):
        raise UnreadFilter(text)
    if word in ("isnull", "isnotnull") and len(parts) == 1:
        return f"{parts[0]} IS {'NOT ' if word == 'isnotnull' else ''}NULL"
    if word in _TESTS and len(parts) == 2:
        return f"{parts[0]} {_TESTS[word]} {_quote(parts[1])}"
    if word in _LIKES and len(parts) == 2 and not set("%_\\") & set(parts[1]):
        return f"{parts[0]} LIKE {_quote(_LIKES[word].format(parts[1]))}"
    if word in ("in", "notin") and len(parts) == 2 and parts[1].startswith("["):
        values = split_parts(parts[1].removeprefix("[").removesuffix("]"))
        negated = "NOT " if word == "notin" else ""
        return f"{parts[0]} {negated}IN ({', '.join(map(_quote, values))})"
    raise UnreadFilter(text)


def _quote(value: str) -> str:
    if value == "null" or "'" in value:
        raise UnreadFilter(value)
    return f"'{value}'"


_LISTS = re.compile(r"PushedFilters: \[")
_DESCRIBED = re.compile(r"\[filters=(?P<text>.*), groupedBy=[^\]]*\]", re.DOTALL)


def find_pushed(said: str) -> str:
    """Find what the line of a scan in a plan says was pushed down; empty where nothing was. Raises `UnreadFilter`.

    >>> find_pushed("BatchScan c.db.t[id#1L] c.db.t (branch=null) [filters=id = 5, groupedBy=] RuntimeFilters: []")
    'id = 5'
    >>> find_pushed("BatchScan t[id#1L] PaimonScan: [t], PushedFilters: [IsNotNull(id),Equal(id, 5)] RuntimeFilters: []")
    "id = '5'"
    """
    described = _DESCRIBED.search(said)
    if described is not None:
        return read_described(described["text"])
    begun = _LISTS.search(said)
    if begun is None:
        return ""
    depth = 1
    for place in range(begun.end(), len(said)):
        depth += {"[": 1, "]": -1}.get(said[place], 0)
        if depth == 0:
            return read_pushed(said[begun.end() : place])
    raise UnreadFilter(said)


def adapt_predicate(text: str, schema: Schema) -> str:
    """Give the literals of a predicate the types of their columns; a predicate that is no SQL stays as it is.

    A log has times as microseconds, days as numbers, and all values of some scans as text.
    """
    import sqlglot
    from sqlglot import exp

    dialect = load_dialect()
    try:
        tree = parse_sql(lambda: sqlglot.parse_one(text, dialect=dialect))
    except (sqlglot.errors.SqlglotError, ValueError, RecursionError):
        return text
    kinds = {name.lower(): field.type for name, field in schema.leaves()}
    for literal in [*tree.find_all(exp.Literal)]:
        test = literal.find_ancestor(exp.Binary, exp.In, exp.Like)
        column = None if test is None else test.this
        if not isinstance(column, exp.Column | exp.Dot) or isinstance(literal.parent, exp.Neg):
            continue
        kind = kinds.get(".".join(part.name for part in column.parts).lower())
        if kind is not None:
            literal.replace(_cast_literal(literal.this, kind, bool(literal.is_string)))
    return tree.sql(dialect=dialect)


def _cast_literal(value: str, kind: DataType, is_text: bool) -> exp.Expression:
    """Write a literal as its column has it."""
    from sqlglot import exp

    is_whole = value.lstrip("-").isdigit()
    if is_whole and kind.logical in ("timestamp", "timestamptz"):
        moment = datetime(1970, 1, 1) + timedelta(
            microseconds=int(value) // (1_000 if kind.precision > 6 else 1)
        )
        return exp.Literal.string(moment.isoformat(sep=" "))
    if is_whole and kind.logical == "date":
        return exp.Literal.string((date(1970, 1, 1) + timedelta(days=int(value))).isoformat())
    is_number = re.fullmatch(r"-?\d+(\.\d+)?([eE]-?\d+)?", value) is not None
    if is_number and kind.logical.startswith(_NUMBERS):
        return exp.Literal.number(value)
    return exp.Literal.string(value) if is_text or kind.logical in _TEXTS else exp.Literal.number(value)
