"""Hive-style tables: directories of data files, with everything else in a metastore, or nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakelens.formats.base import Candidate, OpenRequest
    from lakelens.model.storage import Evidence
    from lakelens.model.table import Table


class HiveFormat:
    """The format of a directory that holds data files and no metadata."""

    name = "hive"
    looked_for = "Parquet, ORC or Avro files, key=value directories, or names that Spark or Hive give (part-…, 000000_0)"

    # a job that is run again may write the same names
    is_numbered = ("*.parquet", "*.orc", "*.avro", "part-*", "0*")

    def detect(self, place: Candidate) -> Evidence | None:
        """Why this directory may be read as a Hive table, with a confidence below 0.5; None for no reason at all."""
        from lakelens.formats.hive.detect import detect_hive

        return detect_hive(place)

    def open(self, request: OpenRequest) -> Table:
        """The table; the directory is listed when its files are first asked for, a far one now if that takes one listing."""
        from lakelens.formats.hive.table import HiveTable

        table = HiveTable(request)
        if request.store.is_far:
            table.list_early()
        return table


FORMAT = HiveFormat()
