"""A manifest list says that a manifest of deletes holds data."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS = "manifest-content", ".avro", "content"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            line["content"] = 0

    lake.edit_list(edit)
