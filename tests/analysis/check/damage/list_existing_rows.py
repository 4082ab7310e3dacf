"""One of several lists that name a manifest records other rows than the others do."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-rewrite-manifests"
CODE, PATH, SAYS = "manifest-counts", ".avro", "_rows_count"


def damage(lake: Iceberg) -> None:
    def edit(lines: Records) -> None:
        lines[0]["existing_rows_count"] += 5

    lake.edit_list(edit)
