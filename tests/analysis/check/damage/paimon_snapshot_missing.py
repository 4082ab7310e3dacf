"""A snapshot in the middle of the history is gone."""

from tests.support.damage import Paimon

LAKE = "spark/paimon/pk-compacted"
CODE, PATH, SAYS, SEVERITY = "snapshot-gap", "snapshot", "no snapshot between", "warning"


def damage(lake: Paimon) -> None:
    (lake.root / "snapshot" / "snapshot-2").unlink()
