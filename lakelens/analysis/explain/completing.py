"""What may stand next in a condition: a column, an operator, or a value that partitions and bounds of the table have."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.conditions import list_columns
from lakelens.options import display

if TYPE_CHECKING:
    from lakelens.model.schema import Field
    from lakelens.model.table import Table

_MOST_BOUNDS = 20_000
_MOST_VALUES = 20  # of a column
_MOST_TEXT = 60  # characters of a value: a longer one is no help
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_OPERATORS = (*_COMPARISONS, "IN (", "BETWEEN", "IS NULL", "IS NOT NULL")
_WORDS = frozenset(["and", "or", "not", "in", "between", "is", "null", "like", "true", "false"])
_TOKEN = re.compile(
    r"""(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|[A-Za-z_][\w.]*)|(?P<value>'(?:[^']|'')*'|[-+]?\d[\w.]*)"""
    r"""|(?P<sign><=|>=|<>|!=|[=<>(),])|(?P<open>['"`].*)|\S""",
    re.S,
)


def complete_condition(table: Table, text: str) -> tuple[str, list[str]]:
    """Complete a condition: what of the word at its end is written already, and the words that may stand there.

    After a column come the operators that its type has, after an operator the values that partitions and bounds of the
    current state have (see `list_values`), after a value `AND` and `OR`.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> complete_condition(table, "i"), complete_condition(table, "id ")[1][:3], complete_condition(table, "p = ")
    (('i', ['id']), ['=', '<>', '<'], ('', ['0', '1']))
    """
    fields = list_fields(table)
    tokens = list(_TOKEN.finditer(text))
    begun = ""
    if tokens and tokens[-1].end() == len(text) and tokens[-1]["sign"] is None:
        begun = tokens.pop()[0]
    column, expected = _read_tokens(tokens, fields)
    words: Sequence[str]
    if expected == "column":
        words = [*map(quote_name, fields), "NOT"]
    elif expected == "operator":
        words = list_operators(fields[column])
    elif expected == "value":
        with display.using(progress=False):  # who waits for Tab is shown no line
            words = list_values(table, [column])[column]
    else:
        words = expected.split()
    if begun.islower() and expected not in ("column", "value"):
        words = [word.lower() for word in words]
    alike = [word for word in words if word.lower().startswith(begun.lower()) and word != begun]
    return begun, alike


def list_fields(table: Table) -> dict[str, Field]:
    """List the columns that a condition can name, by name; not those whose names cannot be typed."""
    return {name: field for name, field in list_columns(table.schema.fields) if name.isprintable()}


def _read_tokens(tokens: Sequence[re.Match[str]], fields: Mapping[str, Field]) -> tuple[str, str]:
    """Read the words of a condition: the column that is spoken of, and what is expected next."""
    column, expected, ends = "", "column", "AND OR"
    for token in tokens:
        word = token[0].upper()
        if expected == "column" and token["name"] and word != "NOT":
            name = (
                token[0] if token[0][0] not in '"`' else token[0][1:-1].replace(token[0][0] * 2, token[0][0])
            )
            alike = [known for known in fields if known.lower() == name.lower()]
            column = name if name in fields else next(iter(alike), "")
            expected = "operator" if column else ""
        elif expected == "operator":
            if word == "IS":
                expected = "NULL NOT"
            elif word in ("NULL", "TRUE", "FALSE"):
                expected = "AND OR"
            elif word != "NOT":
                expected, ends = "value", {"BETWEEN": "AND", "IN": ") ,"}.get(word, "AND OR")
        elif expected == "value" and word != "(":
            expected = ends
        elif word == "NOT" and expected != "column":
            expected = "NULL"
        elif word in ("AND", "OR"):
            expected, ends = ("value", "AND OR") if expected == "AND" else ("column", "AND OR")
        elif word == "NULL" or (word == ")" and expected == ") ,"):
            expected = "AND OR"
        elif word == ",":
            expected = "value"
    return column, expected


def quote_name(name: str) -> str:
    """Quote the name of a column where a condition needs it.

    >>> quote_name("id"), quote_name("order by")
    ('id', '"order by"')
    """
    is_plain = all(_PLAIN.fullmatch(part) and part.lower() not in _WORDS for part in name.split("."))
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def list_operators(field: Field) -> list[str]:
    """List the operators that a condition on a column can have.

    >>> import lakelens as ll
    >>> list_operators(ll.sample("iceberg").schema.field("name"))[-1]
    'LIKE'
    """
    kind = field.type.logical
    if kind in ("struct", "list", "map", "variant"):
        return ["IS NULL", "IS NOT NULL"]
    return [*_OPERATORS, "LIKE"] if kind == "string" else list(_OPERATORS)


def list_values(table: Table, columns: Collection[str]) -> dict[str, list[str]]:
    """List literals of the values that partitions and bounds have of some columns, each from the least to the greatest.

    Of a column there are at most 20; at most 20,000 bounds of the first files of the current state are looked at.

    >>> import lakelens as ll
    >>> list_values(ll.sample("paimon"), ["name", "id"])
    {'name': ["'c'", "'d'"], 'id': ['2', '3', '4']}
    """
    literals: dict[str, dict[str, Any]] = {column: {} for column in columns}
    looked_at = 0
    for file in table.files:
        for column, known in literals.items():
            bounds = file.bounds.get(column)
            values = [file.partition.get(column), *([] if bounds is None else (bounds.lower, bounds.upper))]
            known |= {write_literal(value): value for value in values if value is not None}
        looked_at += 1 + len(file.bounds)
        if looked_at >= _MOST_BOUNDS:
            break
    return {column: _choose(known) for column, known in literals.items()}


def _choose(literals: dict[str, Any]) -> list[str]:
    """Choose the least and the greatest of some values, and others evenly between them."""
    literals.pop("", None)
    try:
        ordered = sorted(literals, key=literals.__getitem__)
    except TypeError:  # values of several schemas
        ordered = sorted(literals)
    last = len(ordered) - 1
    return (
        [ordered[at * last // (_MOST_VALUES - 1)] for at in range(_MOST_VALUES)]
        if last >= _MOST_VALUES
        else ordered
    )


def write_literal(value: Any, most: int = _MOST_TEXT) -> str:
    """Write a value as a condition has it; empty for one that has no literal of at most this many characters.

    >>> write_literal("it's"), write_literal(Decimal("1.50")), write_literal(date(2024, 1, 31)), write_literal(b"\\x01")
    ("'it''s'", '1.50', "'2024-01-31'", "X'01'")
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | Decimal):
        text = format(value, "f") if isinstance(value, Decimal) else str(value)
    elif isinstance(value, float):
        text = repr(value) if abs(value) < float("inf") else ""
    elif isinstance(value, bytes):
        text = f"X'{value.hex().upper()}'"
    elif isinstance(value, str | date | datetime | time):
        words = str(value)
        text = "'" + words.replace("'", "''") + "'" if words.isprintable() else ""
    else:
        text = ""
    return text if len(text) <= most else ""
