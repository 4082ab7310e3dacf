"""A manifest list gives a manifest another partition spec than its own head does: its partitions are read by a wrong one."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-partition-evolution"
CODE, PATH, SAYS = "manifest-spec", ".avro", "partition-spec-id"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            line["partition_spec_id"] = 1 - min(line["partition_spec_id"], 1)

    lake.edit_list(edit)
