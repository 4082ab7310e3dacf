"""A data file stands beside the partition directories: readers of the partitions do not see it."""

from tests.support.damage import Hive

LAKE = "spark/hive/partitioned"
CODE, PATH, SAYS, SEVERITY = "file-outside-partitions", ".parquet", "beside the partition", "warning"


def damage(lake: Hive) -> None:
    path = lake.find("*/*/*.parquet")
    path.rename(lake.root / path.name)
