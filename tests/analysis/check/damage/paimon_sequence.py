"""An entry's lowest sequence number is above its highest."""

from tests.support.damage import Paimon, Records

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS = "sequence-range", "manifest-", "_MIN_SEQUENCE_NUMBER"


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_MIN_SEQUENCE_NUMBER"] = 1_000_000

    lake.edit_manifest(lake.manifest_path(1), edit)
