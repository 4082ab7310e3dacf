"""A byte within a manifest's compressed entries is turned."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "corrupt", ".avro", ""


def damage(lake: Iceberg) -> None:
    path = lake.manifest_path()
    data = bytearray(path.read_bytes())
    place = len(data) - 60
    data[place : place + 20] = bytes(byte ^ 0xFF for byte in data[place : place + 20])
    path.write_bytes(bytes(data))
