"""A predicate over the rows of a table: comparisons of columns with literals, put together by AND and OR.

There is no NOT: it is worked into the comparisons, which hold for a row only when they are true of it (SQL's NULL is not).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lakelens.display import Named
from lakelens.model.schema import DataType

Test = Literal[
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "is null",
    "is not null",
    "starts with",
    "not starts with",
    "is nan",
    "is not nan",
]


@dataclass(frozen=True, slots=True)
class Term(Named):
    """One comparison: a column and literals.

    `text` is the part of the predicate as it was written; `column` the full name of the column as bounds have it (`st.x`),
    with its `type` and `field_id`; `values` are literals of that type, as `ColumnBounds.lower` holds them (none for tests of
    null and NaN). A test that is not exact says less than the text: rows that fail it fail the text, others may.
    """

    text: str
    column: str
    type: DataType
    test: Test
    values: tuple[Any, ...] = ()
    field_id: int | None = None
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Constant:
    """A part that holds for every row, or for none."""

    text: str
    value: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Parts of which all ("and") or one ("or") must hold."""

    text: str
    kind: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition = Term | Constant | Group


def list_terms(condition: Condition) -> Iterator[Term]:
    """The comparisons of a predicate, from left to right.

    >>> number = DataType("int", "int32")
    >>> one, two = Term("a = 1", "a", number, "=", (1,)), Term("b > 2", "b", number, ">", (2,))
    >>> [term.column for term in list_terms(Group("a = 1 OR b > 2", "or", (one, two)))]
    ['a', 'b']
    """
    if isinstance(condition, Term):
        yield condition
    elif isinstance(condition, Group):
        for part in condition.parts:
            yield from list_terms(part)


def join_parts(kind: Literal["and", "or"], parts: Sequence[Condition], text: str) -> Condition:
    """Parts put together; parts of parts of the same kind stand side by side."""
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, Group) and part.kind == kind else [part]
    return flat[0] if len(flat) == 1 else Group(text, kind, tuple(flat))
