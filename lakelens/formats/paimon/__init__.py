"""Apache Paimon: snapshots, manifests and data files of its tables, versions 0.4 to 2.x."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakelens.formats.base import Candidate, OpenRequest
    from lakelens.model.storage import Evidence
    from lakelens.model.table import Table


class PaimonFormat:
    """The format's entry point; what reads files is loaded when it is first needed.

    >>> FORMAT.name
    'paimon'
    """

    name = "paimon"
    looked_for = "schema/schema-N, snapshot/snapshot-N or tag/tag-NAME"
    looks_at = (
        "schema/",
        "schema/schema-0",
        "snapshot/",
        "snapshot/LATEST",
        "snapshot/EARLIEST",
        "tag/",
        "branch/",
    )
    never_changes = (
        "manifest/*",
        "index/*",
        "statistics/*",
        "*.parquet",
        "*.orc",
        "*.avro",
        "*.blob",
        "*.index",
    )
    is_numbered = ("schema/schema-*", "snapshot/snapshot-*", "changelog/changelog-*")

    def detect(self, place: Candidate) -> Evidence | None:
        """Why this place is a Paimon table; None when it is not. Reads at most one small file."""
        from lakelens.formats.paimon.discovery.detect import detect_table

        return detect_table(place)

    def open(self, request: OpenRequest) -> Table:
        """The table. Reads the hints, the current schema and the current snapshot; no manifest."""
        from lakelens.formats.paimon.opening import open_paimon

        return open_paimon(request)


FORMAT = PaimonFormat()
