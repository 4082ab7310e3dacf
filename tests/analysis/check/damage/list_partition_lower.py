"""A manifest list's lower bound of a partition field is too high: readers skip files that they need."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-partition-identity"
CODE, PATH, SAYS = "partition-range", ".avro", "lower bound"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            for summary in line["partitions"]:
                summary["lower_bound"] = summary["upper_bound"]

    for place in range(len(lake.document["snapshots"])):
        lake.edit_list(edit, place)
