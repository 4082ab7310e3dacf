"""An entry records another length than its data file has."""

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/append"
CODE, PATH, SAYS = "file-length", "bucket-0/data-", "recorded with"


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_FILE_SIZE"] += 2

    lake.edit_manifest(lake.manifest_path(1), edit)
