"""A data file is gone."""

from tests.support.damage import Paimon

LAKE = "spark/paimon/pk-partitioned"
CODE, PATH, SAYS = "file-missing", "data-", "it is not there"


def damage(lake: Paimon) -> None:
    for path in lake.root.glob("**/bucket-*/data-*"):
        path.unlink()
