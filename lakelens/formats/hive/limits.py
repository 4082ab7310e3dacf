"""The limits of a Hive table: what its merging of small files aims at, and what does not apply to it.

Hive joins the files of an INSERT whose average is below `hive.merge.smallfiles.avgsize` (16 MB) into files of
`hive.merge.size.per.task` (256 MB); both are settings of a session, not of a table ("Configuration Properties" of Hive).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.model.measures.measure import Limit, list_file_needs
from lakelens.model.measures.rules import HealthRules

if TYPE_CHECKING:
    from lakelens.formats.hive.listing import HiveListing, HiveTable


_AVERAGE = 16_000_000


def make_rules(table: HiveTable, snapshot: HiveListing | None) -> HealthRules:
    """Make the rules of a table, whose one state is a listing: see `HealthRules`."""
    return HealthRules(
        table,
        snapshot,
        # below this average Hive joins the files that an INSERT writes
        file_size=Limit(_AVERAGE, "≥", "default", "hive.merge.smallfiles.avgsize"),
        has_records=False,
        explain_no_call=lambda figures: (
            "no procedure joins the files of a Hive table: it takes an INSERT OVERWRITE of the partition"
        ),
        list_needs=lambda figures: list_file_needs(figures, snapshot),
        limits_of_sight=(
            "a Hive table has no snapshots, manifests or deletes, and keeps no rows and bounds beside its files",
        ),
    )
