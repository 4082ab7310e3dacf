"""A manifest list counts an added file too many."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "manifest-counts", "-m0.avro", "added_files_count"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        lines[0]["added_files_count"] += 1

    lake.edit_list(edit)
