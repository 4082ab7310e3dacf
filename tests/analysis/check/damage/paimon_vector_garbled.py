"""A byte of a deletion vector is turned: its checksum no longer fits."""

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-append-deletion-vectors"
CODE, PATH, SAYS = "corrupt", "index", ""


def damage(lake: Paimon) -> None:
    for path in (lake.root / "index").iterdir():
        data = bytearray(path.read_bytes())
        data[12] ^= 0xFF
        path.write_bytes(bytes(data))
