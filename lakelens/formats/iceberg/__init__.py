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

from lakelens.formats.base import Driver


class IcebergFormat(Driver):
    """Detects and opens Iceberg tables."""

    name = "iceberg"
    looked_for = "metadata/*.metadata.json (v1.metadata.json, 00000-<uuid>.metadata.json, gzip or zstd too)"
    looks_at = ("metadata/", "metadata/version-hint.text")
    opens = (".metadata.json",)
    reads_early = ("metadata/snap-*.avro",)
    marked_by = "metadata"
    never_changes = ("*.avro", "*.parquet", "*.orc", "*.puffin", "*.stats")
    is_numbered = ("*.metadata.json", "*.metadata.json.gz", "*.metadata.json.zst")
    detection = "lakelens.formats.iceberg.discovery.detect:detect_table"
    opening = "lakelens.formats.iceberg.opening:open_table"
    lifetimes = "lakelens.formats.iceberg:lifetimes.toml"
    places = "lakelens.formats.iceberg:places.toml"
    parts = {  # noqa: RUF012
        "check": "lakelens.formats.iceberg.check.comparisons:IcebergChecking",
        "conflict": "lakelens.formats.iceberg.conflict:CONFLICTS",
        "defects": "lakelens.formats.iceberg.book:BOOK",
        "health": "lakelens.formats.iceberg.health.rules:make_rules",
        "layout": "lakelens.formats.iceberg.layout:open_layout",
        "life": "lakelens.formats.iceberg.life:IcebergLiving",
        "maintenance": "lakelens.formats.iceberg.maintenance.procedures:PROCEDURES",
        "map": "lakelens.formats.iceberg.map:draw_chart",
        "placement": "lakelens.formats.iceberg.scan.placement:open_placement",
        "planning": "lakelens.formats.iceberg.maintenance.manifests:find_rewriting",
        "references": "lakelens.formats.iceberg.references:IcebergReferring",
        "skeleton": "lakelens.formats.iceberg.skeleton.redact:redact_table",
        "splits": "lakelens.formats.iceberg.splits:open_splits",
    }


FORMAT = IcebergFormat()
