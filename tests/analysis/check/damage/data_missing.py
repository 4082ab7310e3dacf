"""A data file is gone."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v3-partition-identity"
CODE, PATH, SAYS = "file-missing", ".parquet", "it is not there"


def damage(lake: Iceberg) -> None:
    lake.find("data/**/*.parquet").unlink()
