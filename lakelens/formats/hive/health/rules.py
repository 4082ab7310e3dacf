"""The limits of a Hive table: what its merging of small files aims at, and what does not apply to it.

Hive joins the files of an INSERT whose average is below `hive.merge.smallfiles.avgsize` (16 MB) into files of
`hive.merge.size.per.task` (256 MB); both are settings of a session, not of a table ("Configuration Properties" of Hive).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lakelens.model.health.measure import Limit, Need
from lakelens.model.health.needs import list_file_needs
from lakelens.model.health.rules import HealthRules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.health.figures import FileFigures

    Numbers = NDArray[np.int64]

_AVERAGE = 16_000_000


class HiveHealth(HealthRules):
    """The rules of a Hive table, whose one state is a listing."""

    has_records = False
    without_calls = (
        "no procedure joins the files of a Hive table: it takes an INSERT OVERWRITE of the partition"
    )

    @property
    def file_size(self) -> Limit:
        """Below this average Hive joins the files that an INSERT writes."""
        return Limit(_AVERAGE, "≥", "default", "hive.merge.smallfiles.avgsize")

    @property
    def target_size(self) -> int:
        """How large Hive makes the files that it joins."""
        return 256_000_000

    def list_needs(self, figures: FileFigures) -> Iterator[Need]:
        """The formats of files, and a codec."""
        return list_file_needs(figures, self.snapshot)

    def list_limits_of_sight(self) -> Iterable[str]:
        """What a Hive table does not keep."""
        yield "a Hive table has no snapshots, manifests or deletes, and keeps no rows and bounds beside its files"
