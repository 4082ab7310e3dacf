"""Two manifests of one snapshot begin with the same row id."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v3-basic"
CODE, PATH, SAYS = "row-ids", ".avro", "row ids from"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            line["first_row_id"] = 0

    for place in range(len(lake.document["snapshots"])):
        lake.edit_list(edit, place)
