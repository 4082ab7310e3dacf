"""The row groups and stripes of a file of a Hive-style table: its columns found by name, as Spark and Hive find them.

Names are compared without case. Nothing is known of partition columns, whose value is the directory's, of files by old
versions of Hive, whose columns are named `_col0`, `_col1`, … and are found by position, and of ACID tables. A column that is
not in the file is null. Old writers counted days before 1583 in the calendar that was in use then (Spark's
`org.apache.spark.legacyDateTime` says so; Hive and Spark 2 always did), and readers count them again: bounds from that time
say nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.formats.row_groups.opening import FileLeaf
from lakelens.formats.row_groups.opening import open_row_groups as open_groups
from lakelens.formats.row_groups.values import FindColumn, TableColumn, walk_structs
from lakelens.model.datafile import Footer
from lakelens.model.scan.row_groups import RowGroups

if TYPE_CHECKING:
    from lakelens.formats.hive.datafile import FileContext

_UNNAMED = re.compile(r"_col\d+")


def open_row_groups(context: FileContext, footer: Footer) -> RowGroups | None:
    """Open the row groups of a file by its footer. Raises `LakeError`."""
    make = partial(_find_columns, context, counts_by_old_calendar(footer.facts))
    path = footer.path or ""
    return open_groups(
        context.access.store, footer, make, lambda error: context.access.findings.add_error(error, path)
    )


def counts_by_old_calendar(facts: Any) -> bool:
    """Check whether dates before 1583 in a file may have been counted in the Julian calendar.

    >>> from types import SimpleNamespace
    >>> spark = {"org.apache.spark.version": "3.5.9"}
    >>> counts_by_old_calendar(SimpleNamespace(key_values=spark, created_by="parquet-mr version 1.13.1", format="parquet"))
    False
    """
    keys = facts.key_values
    if "org.apache.spark.legacyDateTime" in keys:
        return True
    if "org.apache.spark.version" in keys or keys.get("writer.date.proleptic") == "true":
        return False
    return facts.format != "parquet" or (facts.created_by or "parquet-mr").startswith("parquet-mr")


def _find_columns(context: FileContext, is_hybrid: bool, leaves: Sequence[FileLeaf]) -> FindColumn:
    """Say what finds a column of the table among the leaves of a file."""
    stored = [tuple(name.casefold() for name in leaf.names) for leaf in leaves]
    counted = Counter(stored)
    places = {names: leaf.place for names, leaf in zip(stored, leaves, strict=True) if counted[names] == 1}
    keys = {name.casefold() for name in context.columns}
    is_unnamed = bool(stored) and all(_UNNAMED.fullmatch(names[0]) for names in stored)
    is_acid = {"operation", "originaltransaction"} <= {names[0] for names in stored}
    known = {
        name: ([field.name.casefold() for field in path], path[-1].type)
        for name, path in walk_structs(context.find_schema().fields)
    }

    def find(name: str) -> TableColumn | None:
        if name not in known or is_unnamed or is_acid:
            return None
        path, kind = known[name]
        if path[0] in keys or any("." in part for part in path) or kind.casefold().startswith("varchar"):
            return None  # Hive cuts a text to the length of a VARCHAR, Spark does not
        place = places.get(tuple(path))
        if place is None and (tuple(path) in counted or any(names[0] == path[0] for names in counted)):
            return None  # there twice, or of another type than today's
        return TableColumn(kind, place, is_hybrid=is_hybrid)

    return find
