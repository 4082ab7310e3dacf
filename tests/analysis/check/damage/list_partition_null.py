"""A manifest list says that no partition is null, and one is."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-partition-identity"
CODE, PATH, SAYS = "partition-range", ".avro", "contains_null"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            for summary in line["partitions"]:
                summary["contains_null"] = False

    for place in range(len(lake.document["snapshots"])):
        lake.edit_list(edit, place)
