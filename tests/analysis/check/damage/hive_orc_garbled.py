"""The tail of an ORC file is garbled."""

from tests.support.damage import Hive

LAKE = "spark/hive/orc"
CODE, PATH, SAYS = "corrupt", ".orc", ""


def damage(lake: Hive) -> None:
    path = lake.find("*.orc")
    data = bytearray(path.read_bytes())
    data[-20:] = b"\xff" * 20
    path.write_bytes(bytes(data))
