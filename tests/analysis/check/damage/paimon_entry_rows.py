"""An entry records more rows than its data file has."""

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/append"
CODE, PATH, SAYS = "record-count", "bucket-0/data-", "rows of the file"


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_ROW_COUNT"] += 2

    lake.edit_manifest(lake.manifest_path(1), edit)
