"""An entry records another first key than the file has: readers of that key skip the file."""

from tests.support.damage import Paimon, Records

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS, DATA = "key-of-file", "data-", "_MIN_KEY", True


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            key = bytearray(entry["_FILE"]["_MIN_KEY"])
            key[12] ^= 1  # the first slot, after the arity and the null bits
            entry["_FILE"]["_MIN_KEY"] = bytes(key)

    lake.edit_manifest(lake.manifest_path(1), edit)
