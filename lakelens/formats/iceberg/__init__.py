"""Apache Iceberg, versions 1 to 4 (4 is a draft: read as Iceberg 1.12 writes it).

    opening table listing snapshot   what a user asks
    scan deletes explain changes     what is computed from manifests
    manifests                        manifest lists, manifests, data files
    context                          what all parts of one table share
    discovery                        which metadata file is the current one, where recorded locations are now
    metadata                         what the metadata document says, typed, with the raw document kept

The heavy modules load when a table is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakelens.formats.base import Candidate, OpenRequest
    from lakelens.model.storage import Evidence
    from lakelens.model.table import Table


class IcebergFormat:
    """Detects and opens Iceberg tables."""

    name = "iceberg"
    looked_for = "metadata/*.metadata.json (v1.metadata.json, 00000-<uuid>.metadata.json, gzip or zstd too)"
    looks_at = ("metadata/", "metadata/version-hint.text")
    opens = (".metadata.json",)
    never_changes = ("*.avro", "*.parquet", "*.orc", "*.puffin", "*.stats")
    is_numbered = ("*.metadata.json", "*.metadata.json.gz", "*.metadata.json.zst")

    def detect(self, place: Candidate) -> Evidence | None:
        """Why this place is an Iceberg table; raises `ViewFound` for an Iceberg view."""
        from lakelens.formats.iceberg.discovery.detect import detect_table

        return detect_table(place)

    def open(self, request: OpenRequest) -> Table:
        """The table; reads the metadata document and no manifest."""
        from lakelens.formats.iceberg.opening import open_table

        return open_table(request)


FORMAT = IcebergFormat()
