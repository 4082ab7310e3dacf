"""What a reader of an Iceberg table must know: version, deletes, types, file formats, codecs, encryption, defaults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.health.measure import Need, count
from lakelens.model.health.needs import list_file_needs, list_type_needs

if TYPE_CHECKING:
    from lakelens.formats.iceberg.health.rules import IcebergHealth
    from lakelens.model.health.figures import FileFigures

_DELETES = {
    "deletion_vector": ("deletion vectors", "deletion vector", "version 3"),
    "equality_deletes": ("equality deletes", "file", "version 2"),
    "position_deletes": ("position deletes", "file", "version 2"),
}
_TYPES = {
    **dict.fromkeys(("variant", "geometry", "geography", "unknown"), "version 3"),
    **dict.fromkeys(("timestamp_ns", "timestamptz_ns"), "version 3"),
}


def list_needs(rules: IcebergHealth, figures: FileFigures) -> Iterator[Need]:
    """See `HealthRules.list_needs`; which version brought a feature is from appendix E of the specification."""
    table = rules.table
    yield Need(f"format version {table.format_version}")
    if rules.context.typed.encryption_keys:
        keys = count(len(rules.context.typed.encryption_keys), "key")
        yield Need("encryption", keys, "version 3")
    for content, (feature, noun, since) in _DELETES.items():
        found = len(figures.find(content))
        if found:
            yield Need(feature, count(found, noun), since)
    yield from list_type_needs(table.schema, _TYPES)
    defaults = [name for name, field in table.schema.walk() if field.initial_default is not None]
    if defaults:
        yield Need("default values", ", ".join(defaults[:3]), "version 3")
    if rules.context.typed.next_row_id is not None:
        yield Need("row lineage", "optional for readers", "version 3")
    if any(one.source_id is None for spec in table.specs for one in spec):
        yield Need("transforms of several columns", "", "version 3")
    if "schema.name-mapping.default" in table.properties:
        yield Need("name mapping", "for files without field ids")
    yield from list_file_needs(figures, rules.snapshot)
