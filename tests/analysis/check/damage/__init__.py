"""Kinds of damage, a function each: an engine's table, what is done to a copy of it, and what a check must find."""

from tests.analysis.check.damage import hive, iceberg_data, iceberg_manifests, iceberg_metadata, paimon
from tests.analysis.check.damage.kinds import KINDS, Kind

__all__ = ["KINDS", "Kind", "hive", "iceberg_data", "iceberg_manifests", "iceberg_metadata", "paimon"]
