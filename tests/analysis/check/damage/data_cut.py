"""A data file is cut in half."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "corrupt", ".parquet", "cut"


def damage(lake: Iceberg) -> None:
    lake.cut(lake.find("data/**/*.parquet"))
