"""An entry's deletion vector begins past the end of its Puffin file."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v3-deletion-vectors"
CODE, PATH, SAYS = "vector-place", ".puffin", "past the end"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        entries[0]["data_file"]["content_offset"] = 100_000

    lake.edit_manifest(lake.manifest_path(content=1), edit)
