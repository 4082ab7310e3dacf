"""Partitionings compared field by field."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from lakelens.analysis.diff.diff import PartitioningChange
from lakelens.model.schema import PartitionField, PartitionSpec


def diff_partitioning(
    before: PartitionSpec | None,
    after: PartitionSpec | None,
    old_options: Mapping[str, str] | None = None,
    new_options: Mapping[str, str] | None = None,
) -> tuple[PartitioningChange, ...]:
    """Partition fields added, dropped, renamed and changed; the same field is the one with the same field id.

    Where the format gives fields no id, it is the one with the same source column. The options are those of Paimon's
    schemas: their number of buckets is compared too.
    """
    old, new = _index(before), _index(after)
    changes = []
    for key, field in new.items():
        was = old.get(key)
        if was is None:
            changes.append(PartitioningChange("added", field.field_id, field.name, None, str(field)))
            continue
        if was.name != field.name:
            changes.append(PartitioningChange("renamed", field.field_id, field.name, was.name, field.name))
        if was.transform != field.transform:
            changes.append(PartitioningChange("changed", field.field_id, field.name, str(was), str(field)))
    for key, field in old.items():
        if key not in new:
            changes.append(PartitioningChange("dropped", field.field_id, field.name, str(field), None))
    buckets = ((old_options or {}).get("bucket"), (new_options or {}).get("bucket"))
    if buckets[0] != buckets[1] and old_options is not None and new_options is not None:
        words = [f"{count or 'the default number of'} buckets" for count in buckets]
        changes.append(PartitioningChange("changed", None, "bucket", *words))
    return tuple(changes)


def _index(spec: PartitionSpec | None) -> dict[Hashable, PartitionField]:
    """The fields by what tells them apart. A field of transform void is what version 1 leaves of a dropped one."""
    fields = [] if spec is None else [field for field in spec if field.transform != "void"]
    return {field.field_id if field.field_id is not None else field.source_name: field for field in fields}
