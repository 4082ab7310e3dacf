"""A snapshot's document is cut short."""

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS = "corrupt", "snapshot-2", "JSON"


def damage(lake: Paimon) -> None:
    lake.cut(lake.root / "snapshot" / "snapshot-2")
