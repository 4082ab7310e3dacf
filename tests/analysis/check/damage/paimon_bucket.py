"""An entry is in a bucket that the table does not have."""

from tests.support.damage import Paimon, Records

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS = "bucket-of-file", "manifest-", "bucket"


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        entries[0]["_TOTAL_BUCKETS"] = 1
        entries[0]["_BUCKET"] = 7

    lake.edit_manifest(lake.manifest_path(1), edit)
