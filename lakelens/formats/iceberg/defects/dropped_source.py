"""A column was dropped that an old partition spec is made from: engines cannot bind the spec any more and refuse the table.

Shows in the metadata: a spec that manifests of the current snapshot follow has a source column that today's schema lacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Specs in use whose source column is gone."""
    if table.current is None:
        return
    used = {manifest.partition_spec_id for manifest in table.current.manifests}
    today = {field.id for _, field in table.schema.walk()}
    for spec in table.specs:
        for field in spec.fields:
            if spec.id in used and field.source_id not in today and field.transform != "void":
                message = f"spec {spec.id}, field {field.name}: its column {field.source_id} was dropped"
                yield RULE.report(table.metadata_path, message, [table.current.id])


RULE = Rule(
    "dropped-partition-source",
    "the source column of a partition spec in use was dropped",
    (Product("iceberg"), Product("spark")),
    ("apache/iceberg#10234", "apache/iceberg-python#2771"),
    "a spec of the current manifests refers to a column that today's schema lacks",
    "warning",
    find,
)
