"""An entry's status is not what the list counts: a file that was added is called deleted."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "manifest-counts", "-m0.avro", "deleted_files_count"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        entries[0]["status"] = 2
        entries[0]["sequence_number"] = entries[0]["file_sequence_number"] = 1

    lake.edit_manifest(lake.manifest_path(), edit)
