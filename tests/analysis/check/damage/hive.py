"""Damage to tables of Hive: what is done to a copy, and what a check must find."""

from __future__ import annotations

from tests.analysis.check.damage.kinds import kind
from tests.support.damage import Hive


@kind("spark/hive/parquet", "corrupt", ".parquet", "cut")
def hive_cut(lake: Hive) -> None:
    """A data file is cut in half."""
    lake.cut(lake.find("*.parquet"))


@kind("spark/hive/orc", "corrupt", ".orc", "")
def hive_orc_garbled(lake: Hive) -> None:
    """The tail of an ORC file is garbled."""
    path = lake.find("*.orc")
    data = bytearray(path.read_bytes())
    data[-20:] = b"\xff" * 20
    path.write_bytes(bytes(data))


@kind(
    "spark/hive/partitioned",
    "file-outside-partitions",
    ".parquet",
    "beside the partition",
    severity="warning",
)
def hive_outside(lake: Hive) -> None:
    """A data file stands beside the partition directories: readers of the partitions do not see it."""
    path = lake.find("*/*/*.parquet")
    path.rename(lake.root / path.name)
