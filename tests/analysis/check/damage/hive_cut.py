"""A data file is cut in half."""

from tests.support.damage import Hive

LAKE = "spark/hive/parquet"
CODE, PATH, SAYS = "corrupt", ".parquet", "cut"


def damage(lake: Hive) -> None:
    lake.cut(lake.find("*.parquet"))
