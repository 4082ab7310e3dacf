"""An entry has a higher sequence number than its manifest."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS = "entry-sequence", ".avro", "entry 0"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        entries[0]["sequence_number"] = entries[0]["file_sequence_number"] = 77

    lake.edit_manifest(lake.manifest_path(content=0), edit)
