"""iceberg-go took the empty partition spec where it did not know the one of a file: the manifest names one spec, its
entries another.

Shows in manifests: entries have partition fields that the manifest's spec does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakelens.codecs.avro.schema import find_record
from lakelens.errors import LakeError
from lakelens.formats.defects.evidence import find_snapshots, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_MOST_READ = 500


def find(table: IcebergTable) -> Iterator[Finding]:
    """Manifests of the current snapshot whose partition tuples are not of their spec."""
    manifests = dict.fromkeys(table.current.manifests) if table.current is not None else {}
    for number, manifest in enumerate(manifests):
        if number == _MOST_READ:
            return
        try:
            schema = manifest.header["schema"]
        except LakeError:
            continue
        stored = _list_fields(schema)
        known = {column.field_id for column in table.partition_columns(manifest.partition_spec_id)}
        unknown = [field for field in stored if field.get("field-id", -1) not in (*known, -1)]
        if unknown:
            names = ", ".join(str(field.get("name")) for field in unknown)
            message = f"its entries have the partition fields {names}, which spec {manifest.partition_spec_id} has not"
            yield RULE.report(shorten(table, manifest.path), message, find_snapshots(table, [manifest.path]))


def _list_fields(schema: Any) -> list[dict[str, Any]]:
    """The partition fields (102) of the data file (2) of an entry, by the Avro schema of a manifest."""
    record = find_record(schema)
    for number in (2, 102):
        fields = [field for field in (record or {}).get("fields", ()) if isinstance(field, dict)]
        record = next(
            (find_record(field.get("type")) for field in fields if field.get("field-id") == number), None
        )
    found = (record or {}).get("fields", ())
    return [field for field in found if isinstance(field, dict)]


RULE = Rule(
    "partition-of-unknown-spec",
    "entries partitioned by another spec than their manifest names",
    (Product("iceberg-go"),),
    ("apache/iceberg-go#1855",),
    "partition fields of the entries are not in the manifest's spec",
    "error",
    find,
)
