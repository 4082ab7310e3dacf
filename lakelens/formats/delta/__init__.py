"""Delta Lake: the log of a table, its versions, checkpoints and deletion vectors; reader versions 1 to 3."""

from __future__ import annotations

from lakelens.formats.base import Driver
from lakelens.model.storage import OwnDirectory


class DeltaFormat(Driver):
    """The format's entry point; what reads files is loaded when it is first needed.

    >>> FORMAT.name
    'delta'
    """

    name = "delta"
    looked_for = "_delta_log with N.json or N.checkpoint.parquet, N of 20 digits"
    looks_at = ("_delta_log/",)
    marked_by = "_delta_log"
    never_changes = ("_sidecars/*.parquet", "deletion_vector_*.bin", "part-*.parquet")
    is_numbered = ("_delta_log/*.json", "_delta_log/*.checkpoint.*", "_delta_log/*.crc")
    own_directories = {  # noqa: RUF012
        "_delta_log": OwnDirectory("delta", "Delta Lake", "Delta log"),
        "_delta_index": OwnDirectory("delta", "Delta Lake", "Delta file", decides=False),
        "_change_data": OwnDirectory("delta", "Delta Lake", "Delta file", decides=False),
    }
    detection = "lakelens.formats.delta.discovery:detect_table"
    opening = "lakelens.formats.delta.log_table:open_delta"
    lifetimes = "lakelens.formats.delta:lifetimes.toml"
    places = "lakelens.formats.delta:places.toml"
    parts = {  # noqa: RUF012
        "conflict": "lakelens.formats.delta.races:CONFLICTS",
        "defects": "lakelens.formats.delta.book:BOOK",
        "health": "lakelens.formats.delta.health:make_rules",
        "layout": "lakelens.formats.delta.maintenance.zorder:open_layout",
        "life": "lakelens.formats.delta.life:DeltaLiving",
        "map": "lakelens.formats.delta.chart:draw_log",
        "maintenance": "lakelens.formats.delta.maintenance.procedures:PROCEDURES",
        "check": "lakelens.formats.delta.check:DeltaChecking",
        "placement": "lakelens.formats.delta.placement:open_placement",
        "skeleton": "lakelens.formats.delta.skeleton.redact:redact_table",
        "references": "lakelens.formats.delta.referring:DeltaReferring",
    }


FORMAT = DeltaFormat()
