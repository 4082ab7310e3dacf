"""The answers of one table for an inventory, made on an executor: the figures and rows that each question declares."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from lakelens.answers.own import QUESTIONS
from lakelens.answers.parts import describe, read_part
from lakelens.errors import LakeError, list_nearest

if TYPE_CHECKING:
    from lakelens.model.table import Table

Row = dict[str, Any]
Rows = Iterator[tuple[str, Row]]

# in the order in which they are worked out: each finds in memory what those before it have read
NAMES = tuple(name for name, question in QUESTIONS.items() if question.figures)


def check_names(names: Collection[str]) -> tuple[str, ...]:
    """The answers that are asked for, in the order in which they are worked out. Raises `LakeError` for another name.

    >>> check_names({"health", "check"})
    ('check', 'health')
    """
    for name in names:
        if name not in NAMES:
            raise LakeError(f"an inventory has no answer {name!r}", hint=list_nearest(str(name), NAMES))
    return tuple(name for name in NAMES if name in names)


def describe_answers(table: Table, key: Row, asked: Collection[str]) -> Rows:
    """The rows of the answers that are asked for; one that fails leaves its figures empty, and `error` says why."""
    figures: Row = {}
    failed: list[str] = []
    for name in check_names(asked):
        try:
            # all or nothing: an error half way leaves no rows
            answer, question = table.ask(name), QUESTIONS[name]
            described = describe(answer, question.figures)
            rows = [(part.name, row) for part in question.rows for row in read_part(answer, part)]
        except Exception as error:  # one table that cannot be judged must not hide the others
            reason = str(error) if isinstance(error, LakeError) else f"{type(error).__name__}: {error}"
            failed.append(f"{name}: {reason}")
            continue
        figures |= described
        yield from ((of, {**key, **row}) for of, row in rows)
    yield "answers", {**key, **figures, "error": "; ".join(failed) or None}
