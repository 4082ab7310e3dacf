"""A byte of a deletion vector is turned: its checksum no longer fits."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v3-deletion-vectors"
CODE, PATH, SAYS = "corrupt", ".puffin", ""


def damage(lake: Iceberg) -> None:
    for path in lake.root.glob("data/**/*.puffin"):
        data = bytearray(path.read_bytes())
        data[30] ^= 0xFF
        path.write_bytes(bytes(data))
