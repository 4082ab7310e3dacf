"""An entry records more deleted rows than its deletion vector has."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v3-deletion-vectors"
CODE, PATH, SAYS = "vector-cardinality", ".puffin", "deleted rows"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            entry["data_file"]["record_count"] += 3

    lake.edit_manifest(lake.manifest_path(content=1), edit)
