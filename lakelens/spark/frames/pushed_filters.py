"""Filters that Spark offers a data source, as a selection of files: those that they rule out need not be read.

Spark evaluates every filter again, so a selection may keep too much, never too little. Of the partition it takes those on
fields whose values look the same in Spark as here: no fractions, whose zeros and NaN compare otherwise, and nothing that
travels in another type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.arrow import arrow_type
from lakelens.model.scan.pruning import Selection, select_files
from lakelens.spark.frames.types import carrier_type

if TYPE_CHECKING:
    from lakelens.model.fileset import FileColumns

#: A filter as plain data: the name of its class in `pyspark.sql.datasource`, its column path, and its value.
Pushed = tuple[str, tuple[str, ...], Any]


def describe_filters(filters: Iterable[Any]) -> tuple[Pushed, ...]:
    """Spark's filters as plain data; unknown ones are left out.

    >>> class EqualTo: attribute, value = ("path",), "x"
    >>> describe_filters([EqualTo()])
    (('EqualTo', ('path',), 'x'),)
    """
    return tuple(
        (type(one).__name__, tuple(one.attribute), getattr(one, "value", None))
        for one in filters
        if hasattr(one, "attribute")
    )


def select_pushed(columns: FileColumns, pushed: Iterable[Pushed]) -> Selection:
    """The files that may pass pushed filters."""
    selection = Selection()
    kinds = {name: arrow_type(kind) for name, kind in columns.partition}
    for word, attribute, value in pushed:
        if attribute == ("path",) and selection.path is None:
            selection = replace(selection, path=_make_pattern(word, value))
        elif len(attribute) == 2 and attribute[0] == "partition_values" and _is_alike(kinds, attribute[1]):
            wanted = _make_wanted(word, value)
            selection = replace(
                selection, partition=selection.partition + _select(columns, attribute[1], wanted)
            )
    return selection


def _make_pattern(word: str, value: Any) -> str | None:
    """A pattern that fits every path that a filter passes: signs of patterns in a path only widen it."""
    if not isinstance(value, str):
        return None
    return {"EqualTo": value, "StringStartsWith": f"{value}*"}.get(word)


def _make_wanted(word: str, value: Any) -> dict[str, Any]:
    """The argument for `select_files`, under the key "wanted"; empty if nothing is ruled out."""
    if word in ("EqualTo", "EqualNullSafe"):
        return {"wanted": value}
    if word == "In" and isinstance(value, list | tuple):
        return {"wanted": list(value)}
    if word in ("GreaterThan", "GreaterThanOrEqual"):
        return {"wanted": (value, None)}
    if word in ("LessThan", "LessThanOrEqual"):
        return {"wanted": (None, value)}
    if word == "IsNull":
        return {"wanted": None}
    return {"wanted": (None, None)} if word == "IsNotNull" else {}


def _select(columns: FileColumns, name: str, wanted: dict[str, Any]) -> tuple[Any, ...]:
    if not wanted:
        return ()
    try:
        return select_files(columns, {name: wanted["wanted"]}).partition
    except Unsupported:
        return ()  # a value of another type: Spark knows what it means by it


def _is_alike(kinds: Mapping[str, Any], name: str) -> bool:
    import pyarrow.types as types

    kind = kinds.get(name)
    return kind is not None and bool(carrier_type(kind).equals(kind)) and not types.is_floating(kind)
