"""Apache Paimon: snapshots, manifests and data files of its tables, versions 0.4 to 2.x."""

from __future__ import annotations

from lakelens.formats.base import Driver


class PaimonFormat(Driver):
    """The format's entry point; what reads files is loaded when it is first needed.

    >>> FORMAT.name
    'paimon'
    """

    name = "paimon"
    looked_for = "schema/schema-N, snapshot/snapshot-N or tag/tag-NAME"
    looks_at = (
        "schema/",
        "snapshot/",
        "snapshot/LATEST",
        "snapshot/EARLIEST",
        "tag/",
        "branch/",
    )
    reads_early = ("manifest/*",)
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
    detection = "lakelens.formats.paimon.discovery:detect_table"
    opening = "lakelens.formats.paimon.opening:open_paimon"
    lifetimes = "lakelens.formats.paimon:lifetimes.toml"
    places = "lakelens.formats.paimon:places.toml"
    known_formats = {  # noqa: RUF012
        "row": "Paimon's Row format",
        "mosaic": "Paimon's Mosaic format",
        "blob": "Paimon's blob format",
        "video": "Paimon's video format",
    }
    parts = {  # noqa: RUF012
        "check": "lakelens.formats.paimon.check.comparisons:PaimonChecking",
        "conflict": "lakelens.formats.paimon.conflict:CONFLICTS",
        "defects": "lakelens.formats.paimon.book:BOOK",
        "health": "lakelens.formats.paimon.health.rules:make_rules",
        "layout": "lakelens.formats.paimon.layout:open_layout",
        "life": "lakelens.formats.paimon.life.living:PaimonLiving",
        "maintenance": "lakelens.formats.paimon.maintenance.procedures:PROCEDURES",
        "map": "lakelens.formats.paimon.map:draw_chart",
        "placement": "lakelens.formats.paimon.scan.placement:open_placement",
        "references": "lakelens.formats.paimon.references:PaimonReferring",
        "skeleton": "lakelens.formats.paimon.skeleton.redact:redact_table",
        "splits": "lakelens.formats.paimon.splits:open_splits",
    }


FORMAT = PaimonFormat()
