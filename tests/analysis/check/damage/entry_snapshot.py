"""An ADDED entry names another commit than the one that added its manifest."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "entry-snapshot", "-m0.avro", "entry 0"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        entries[0]["snapshot_id"] = 1

    lake.edit_manifest(lake.manifest_path(), edit)
