"""Rows have higher sequence numbers than their file records: a merge may take an older version for the newest."""

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/pk-compacted"
CODE, PATH, SAYS, DATA = "sequence-range", "data-", "sequence numbers", True


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            file = entry["_FILE"]
            file["_MIN_SEQUENCE_NUMBER"] = file["_MAX_SEQUENCE_NUMBER"] = 100_000

    lake.edit_manifest(lake.manifest_path(1), edit)
