"""A predicate over a table as the same predicate over its skeleton."""

from __future__ import annotations

from collections.abc import Mapping

from lakelens.analysis.explain.conditions import parse_condition
from lakelens.errors import Unsupported
from lakelens.model.predicate import Condition, Constant, Group, Term
from lakelens.model.schema import Schema
from lakelens.model.skeleton.ordinals import NUMBERS, TEXTS, quote, to_ordinal, write_literal
from lakelens.model.skeleton.redaction import RedactedColumn


def translate_predicate(where: str, schema: Schema, columns: Mapping[str, RedactedColumn]) -> str:
    """The predicate with the columns and values of the skeleton. Raises what `explain` raises, and `Unsupported`."""
    return _write(parse_condition(where, schema), columns)


def _write(condition: Condition, columns: Mapping[str, RedactedColumn]) -> str:
    if isinstance(condition, Constant):
        return "TRUE" if condition.value else "FALSE"
    if isinstance(condition, Group):
        word = f" {condition.kind.upper()} "
        return word.join(f"({_write(part, columns)})" for part in condition.parts)
    return _write_term(condition, columns[condition.column])


def _write_term(term: Term, column: RedactedColumn) -> str:
    name = ".".join(f'"{part}"' for part in column.name.split("."))
    if term.test in ("is null", "is not null"):
        return f"{name} {term.test.upper()}"
    if "nan" in term.test:
        return f"{'NOT ' if 'not' in term.test else ''}isnan({name})"
    if "starts" in term.test:
        return _write_prefix(term, column, name)
    values = [_write_value(value, term, column) for value in term.values]
    if term.test in ("in", "not in"):
        return f"{name} {term.test.upper()} ({', '.join(values)})"
    return f"{name} {term.test} {values[0]}"


def _write_value(value: object, term: Term, column: RedactedColumn) -> str:
    logical = term.type.logical
    if isinstance(value, bool):
        return str(value).upper()
    if logical not in NUMBERS | TEXTS:
        raise Unsupported(f"{term.text}: values of {logical} columns are not translated")
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS DOUBLE)"
    if column.scale is None:
        if logical in ("float32", "float64"):
            return repr(value)
        return write_literal(to_ordinal(value, term.type), term.type)
    return write_literal(column.scale.map(to_ordinal(value, term.type)), term.type)  # type: ignore[arg-type]


def _write_prefix(term: Term, column: RedactedColumn, name: str) -> str:
    """What begins with a text, as all between two texts: beginnings are not kept, order is."""
    (prefix,) = term.values
    if column.scale is None:
        word = "NOT " if "not" in term.test else ""
        return f"{word}starts_with({name}, {quote(prefix)})"
    if "not" in term.test:
        raise Unsupported(f"{term.text}: what does not begin with a text is not translated")
    low = f"{name} >= {_write_value(prefix, term, column)}"
    after = prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix and ord(prefix[-1]) < 0xD7FF else None
    return low if after is None else f"{low} AND {name} < {_write_value(after, term, column)}"
