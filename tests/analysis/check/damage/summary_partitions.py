"""A commit says that it changed more partitions than it did."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-partition-identity"
CODE, PATH, SAYS, SEVERITY = "changed-partition-count", ".metadata.json", "changed-partition-count", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(changed_partition_count="50")
