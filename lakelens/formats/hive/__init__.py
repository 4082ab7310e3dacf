"""Hive-style tables: directories of data files, with everything else in a metastore, or nowhere."""

from __future__ import annotations

from lakelens.formats.base import Driver


class HiveFormat(Driver):
    """The format of a directory that holds data files and no metadata."""

    name = "hive"
    looked_for = "Parquet, ORC or Avro files, key=value directories, or names that Spark or Hive give (part-…, 000000_0)"

    # a job that is run again may write the same names
    is_numbered = ("*.parquet", "*.orc", "*.avro", "part-*", "0*")
    detection = "lakelens.formats.hive.detect:detect_hive"
    opening = "lakelens.formats.hive.listing:open_hive"
    lifetimes = "lakelens.formats.hive:lifetimes.toml"
    places = "lakelens.formats.hive:places.toml"
    parts = {  # noqa: RUF012
        "check": "lakelens.formats.hive.check:HiveChecking",
        "defects": "lakelens.formats.hive.check:BOOK",
        "health": "lakelens.formats.hive.limits:make_rules",
        "map": "lakelens.formats.hive.chart:draw_chart",
        "references": "lakelens.formats.hive.check:HiveReferring",
        "splits": "lakelens.formats.hive.splits:open_splits",
    }
    lacks = {  # noqa: RUF012
        "skeleton": "a Hive table has no metadata of its own: its facts are names of directories and footers of data files"
    }


FORMAT = HiveFormat()
