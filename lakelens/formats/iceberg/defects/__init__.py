"""Known defects of those who write Iceberg tables, one module each; `load_rules` lists them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakelens.model.check.defect import Rule

_OWN = (
    *("split_offsets", "file_sizes", "insert_figures", "totals_of_commit", "totals_of_nothing"),
    *(
        "ranges_without_bounds",
        "ranges_of_source",
        "ranges_with_nan",
        "nan_bounds",
        "cut_bounds",
        "null_counts",
    ),
    *("epoch_partitions", "hour_overflow", "local_time_partitions", "unknown_spec", "dropped_source"),
    *("dangling_deletes", "two_vectors", "list_attempt", "checkpoint_twice"),
)
_SHARED = ("binary_statistics", "signed_statistics", "int96_statistics", "reversed_bounds")


def load_rules() -> tuple[Rule, ...]:
    """The rules, loaded when they are first asked for."""
    own = (f"{__name__}.{name}" for name in _OWN)
    shared = (f"lakelens.formats.defects.{name}" for name in _SHARED)
    return tuple(import_module(name).RULE for name in (*own, *shared))
