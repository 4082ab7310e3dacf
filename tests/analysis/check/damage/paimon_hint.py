"""The hint of the latest snapshot names one that is not there."""

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS, SEVERITY = "stale-hint", "LATEST", "the hint says 99", "warning"


def damage(lake: Paimon) -> None:
    (lake.root / "snapshot" / "LATEST").write_text("99")
