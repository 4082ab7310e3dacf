"""The manifest list of an older snapshot is gone."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-copy-on-write"
CODE, PATH, SAYS = "file-missing", "snap-", "manifest list"


def damage(lake: Iceberg) -> None:
    lake.list_path(0).unlink()
