"""Iceberg took bounds of floats from the files as they were: in ORC a first value of NaN made both bounds NaN.

Shows in entries: a lower or upper bound that is NaN. A reader that believes it skips files with matching rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import sample_recorded, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files of the current snapshot with NaN as a bound."""
    if not any(leaf.type.logical in ("float32", "float64") for _, leaf in table.schema.leaves()):
        return
    for file in sample_recorded(table):
        names = [
            one.name
            for one in file.bounds.values()
            if any(isinstance(bound, float) and bound != bound for bound in (one.lower, one.upper))
        ]
        if names:
            message = f"NaN is a bound of {', '.join(names)}"
            yield RULE.report(shorten(table, file.path), message, [table.current.id] if table.current else [])


RULE = Rule(
    "nan-bounds",
    "NaN as a bound of a column",
    (Product("iceberg"),),
    ("apache/iceberg#2464", "apache/iceberg#1761"),
    "a lower or upper bound of a float or double column is NaN",
    "warning",
    find,
)
