"""A manifest is gone."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "file-missing", "-m0.avro", "manifest"


def damage(lake: Iceberg) -> None:
    lake.manifest_path().unlink()
