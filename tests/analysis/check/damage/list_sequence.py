"""A manifest list gives a manifest a later sequence number than its snapshot has: deletes no longer reach its files."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS = "manifest-sequence", ".avro", "sequence number"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        lines[0]["sequence_number"] = 99

    lake.edit_list(edit)
