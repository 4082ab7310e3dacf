"""A manifest is cut short."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS = "corrupt", ".avro", ""


def damage(lake: Iceberg) -> None:
    lake.cut(lake.manifest_path(), 0.9)
