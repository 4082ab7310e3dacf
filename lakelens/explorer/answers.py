"""The answers about a table that cost something: each is worked out once while the table is open, and only when asked for.

What was worked out is kept by the open table itself, so that it is gone with it as soon as it has another newest state.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import islice
from threading import Lock
from typing import Any, TypeVar, cast

from lakelens.analysis.check.check import Check
from lakelens.analysis.explain.completing import list_fields, list_operators, list_values, quote_name
from lakelens.analysis.health.health import Health
from lakelens.analysis.space.space import Space
from lakelens.errors import LakeError
from lakelens.model.schema import Schema
from lakelens.model.table import Table
from lakelens.views.card import cells, wording

T = TypeVar("T")
_NAME = "_answers"
_MOST_KEPT = 32
_NOT_RUN = "not run"
_SHORT = 14  # characters of an example in the navigation
_MOST_COLUMNS = 100  # that a field knows, and a page lists
_SHOWN = ("error", "warning")
_WHOLE = frozenset(("int8", "int16", "int32", "int64"))


class _Answers:
    """The answers about one open table; who asks for one that another thread works out waits for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._locks: dict[Hashable, Lock] = {}

    def find(self, key: Hashable) -> Any:
        """Find what is known already; None for nothing. Never waits for what is being worked out."""
        with self._lock:
            return self._kept.get(key)

    def ask(self, key: Hashable, make: Callable[[], T]) -> T:
        """The answer, worked out unless it is known; one that failed is worked out again when it is asked for again."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
            own = self._locks.setdefault(key, Lock())
        with own:
            known = self.find(key)
            if known is None:
                known = make()
                with self._lock:
                    self._kept[key] = known
                    while len(self._kept) > _MOST_KEPT:
                        self._locks.pop(self._kept.popitem(last=False)[0], None)
            return cast("T", known)


def _answers_of(table: Table) -> _Answers:
    kept: _Answers = vars(table).setdefault(_NAME, _Answers())
    return kept


def ask(table: Table, key: Hashable, make: Callable[[], T]) -> T:
    """Give an answer about an open table, worked out once. Raises what `make` raises.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> ask(table, "size", lambda: [1]) is ask(table, "size", lambda: [2])
    True
    """
    return _answers_of(table).ask(key, make)


def find_check(table: Table) -> Check | None:
    """Find the most thorough check that was run already."""
    kept = _answers_of(table)
    found: Check | None = kept.find(("check", True, "all")) or kept.find(("check", False, "all"))
    return found


def peek_check(table: Table) -> str:
    """Peek what a check has found, as far as one was run: the words beside its name.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> before, check = peek_check(table), ask(table, ("check", False, "all"), table.check)
    >>> before, peek_check(table)
    ('not run', 'sound')
    """
    check = find_check(table)
    if check is None:
        return _NOT_RUN
    counts = [(word, check.severities[word]) for word in _SHOWN if check.severities[word]]
    return ", ".join(wording.plural(number, word) for word, number in counts) or check.verdict


def peek_health(table: Table) -> str:
    """How many figures of the current snapshot are to act on or to watch, where they were measured."""
    current = table.current
    health: Health | None = _answers_of(table).find(("health", None if current is None else current.id))
    if health is None:
        return _NOT_RUN
    verdicts = [measure.verdict for measure in health.measures]
    for verdict, words in (("act", "to act on"), ("watch", "to watch")):
        if verdict in verdicts:
            return f"{wording.count(verdicts.count(verdict))} {words}"
    return "good" if verdicts else ""


def peek_space(table: Table) -> str:
    """Peek how many bytes there are below the table's directory, where they were counted."""
    space: Space | None = _answers_of(table).find(("space", None))
    return _NOT_RUN if space is None else wording.size(space.size_bytes)


def write_example(schema: Schema) -> str:
    """Write a condition about one row, as an example: over the first key column, else the first column of whole numbers.

    >>> import lakelens as ll
    >>> write_example(ll.sample("iceberg").schema), write_example(ll.sample("paimon").schema)
    ('id = 3', 'id = 3')
    """
    leaves = dict(schema.leaves())
    names = [*(name for name in schema.identifier_names if name in leaves), *leaves]
    whole = next((name for name in names if leaves[name].type.logical in _WHOLE), None)
    if whole is not None:
        return f"{wording.clean(whole)} = 3"
    return f"{wording.clean(names[0])} = 'x'" if names else ""


def write_not_null(schema: Schema) -> str:
    """Write a condition over the first column, as an example."""
    columns = [name for name, _ in schema.leaves()]
    return f"{cells.text(columns[0]).text} IS NOT NULL" if columns else ""


def ask_about(table: Table) -> str:
    """Say what the page about a row may be asked, with an example from the table."""
    example = write_example(table.schema)
    return f"who deleted {example}?" if len(example) <= _SHORT else "who deleted it?"


def list_words(table: Table, *, has_values: bool) -> tuple[tuple[str, Sequence[str], Sequence[str]], ...]:
    """List what a condition can be made of: columns, each with its operators and values.

    >>> import lakelens as ll
    >>> list_words(ll.sample("paimon"), has_values=True)[0]
    ('id', ['=', '<>', '<', '<=', '>', '>=', 'IN (', 'BETWEEN', 'IS NULL', 'IS NOT NULL'], ['2', '3', '4'])
    """
    fields = dict(islice(list_fields(table).items(), _MOST_COLUMNS))
    values: dict[str, list[str]] = {}
    with suppress(LakeError):  # of a manifest that cannot be read the answer itself says it
        values = ask(table, "values", lambda: list_values(table, fields)) if has_values else {}
    return tuple(
        (quote_name(name), list_operators(field), values.get(name, ())) for name, field in fields.items()
    )
