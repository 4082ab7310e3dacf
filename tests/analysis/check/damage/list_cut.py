"""The manifest list of the current snapshot is cut short."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "corrupt", "snap-", ""


def damage(lake: Iceberg) -> None:
    lake.cut(lake.list_path(), 0.95)
