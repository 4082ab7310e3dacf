"""An equality delete does not say which columns it compares."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-equality-deletes"
CODE, PATH, SAYS = "equality-ids", ".avro", "equality_ids"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            entry["data_file"]["equality_ids"] = None

    lake.edit_manifest(lake.manifest_path(content=1), edit)
