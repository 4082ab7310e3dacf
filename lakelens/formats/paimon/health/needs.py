"""What a reader of a Paimon table must know: how rows are merged, vectors, row ids, types, file formats, codecs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.health.measure import Need, count
from lakelens.model.health.needs import list_file_needs, list_type_needs

if TYPE_CHECKING:
    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.model.health.figures import FileFigures

_TYPES = {
    "variant": "Paimon 1.0",
    "blob": "Paimon 1.4",
    "vector": "Paimon 1.4",
    "multiset": "",
}


def list_needs(rules: PaimonHealth, figures: FileFigures) -> Iterator[Need]:
    """See `HealthRules.list_needs`."""
    table = rules.table
    options, is_on = table.options, table.context.is_on
    yield Need(f"schema documents of version {table.schema.version}")
    if rules.has_keys:
        engine = str(options.get("merge-engine", "deduplicate"))
        keys = ", ".join(table.primary_keys[:3])
        yield Need(f"merge engine {engine}", f"by {keys}")
        if not table.context.skips_level_0 and (figures.numbers("level") == 0).any():
            waiting = int((figures.numbers("level") == 0).sum())
            yield Need("merging of levels", f"{count(waiting, 'file')} on level 0")
    vectors = [] if rules.snapshot is None else rules.snapshot.index_files
    ranges = sum(len(one.ranges) for one in vectors if one.index_type == "DELETION_VECTORS")
    if ranges:
        kind = "64-bit bitmaps" if is_on("deletion-vectors.bitmap64") else ""
        words = ", ".join(filter(None, (count(ranges, "deletion vector"), kind)))
        yield Need("deletion vectors", words, "Paimon 0.8")
    if is_on("row-tracking.enabled"):
        yield Need("row tracking", "optional for readers", "Paimon 1.3")
    if is_on("data-evolution.enabled"):
        yield Need("data evolution", "files hold different columns of the same rows", "Paimon 1.3")
    defaults = [column.name for column in table.schema.fields if column.write_default is not None]
    if defaults:
        yield Need("default values", ", ".join(defaults[:3]), "Paimon 1.2")
    yield from list_type_needs(table.schema, _TYPES)
    yield from list_file_needs(figures, rules.snapshot)
