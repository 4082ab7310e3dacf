"""The hour of a time more than 2^31 hours from 1970 does not fit an int: Iceberg stores what is left of it.

Shows in entries: an hour that is the true one modulo 2^32. A reader then takes the far future for the far past, and
skips it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import shorten
from lakelens.formats.iceberg.time_partitions import list_time_partitions
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_LIMIT = 2**31


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files whose hour has overflowed."""
    for one in list_time_partitions(table):
        due = one.count(one.lower)
        if one.transform == "hour" and not -_LIMIT <= due < _LIMIT:
            wrapped = (due + _LIMIT) % (2 * _LIMIT) - _LIMIT
            if one.stored == wrapped:
                message = f"{one.name} is {one.stored}: hour {due} does not fit 32 bits"
                snapshots = [table.current.id] if table.current else []
                yield RULE.report(shorten(table, one.file.path), message, snapshots)


RULE = Rule(
    "hour-overflow",
    "hours that do not fit 32 bits",
    (Product("iceberg"),),
    ("apache/iceberg#9713",),
    "the value of an hour is the true one modulo 2^32",
    "error",
    find,
)
