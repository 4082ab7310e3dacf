"""The footer of a data file is garbled, its length as recorded."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "corrupt", ".parquet", ""


def damage(lake: Iceberg) -> None:
    path = lake.find("data/**/*.parquet")
    data = bytearray(path.read_bytes())
    data[-60:-8] = b"\xff" * 52
    path.write_bytes(bytes(data))
