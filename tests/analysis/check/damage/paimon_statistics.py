"""Statistics are of a later snapshot than the one that uses them."""

from typing import Any

from tests.support.damage import Paimon, edit_json

LAKE = "paimon-java/2.0.0-statistics"
CODE, PATH, SAYS, SEVERITY = "statistics-snapshot", "stat-", "uses it", "warning"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["snapshotId"] = 1000

    for path in (lake.root / "statistics").iterdir():
        edit_json(path, edit)
