"""The Avro schemas of manifests and manifest lists: ids, types and specified names stay; partition fields get new names.

Fields that the specification does not have are left out, with their values; so are comments and aliases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakelens.formats.iceberg.manifests.records import ENTRY_FIELDS, FILE_FIELDS, MANIFEST_FIELDS, find_name

SUMMARY_FIELDS = {509: "contains_null", 518: "contains_nan", 510: "lower_bound", 511: "upper_bound"}
_KEPT_WORDS = """type name fields items values size logicalType precision scale field-id element-id key-id value-id
adjust-to-utc order symbols"""
_KEPT = frozenset(_KEPT_WORDS.split())
_NAME = re.compile(
    r"r\d{1,10}|k\d{1,10}_v\d{1,10}|manifest_(file|entry)|data_file|(fixed|decimal|uuid)(_\d{1,5}){0,2}|uuid_fixed"
)
_KIND_WORDS = "null boolean int long float double bytes string record array map enum fixed union"
_KINDS = frozenset(_KIND_WORDS.split())
_LOGICAL_WORDS = """map decimal uuid date time-millis time-micros timestamp-millis timestamp-micros timestamp-nanos
local-timestamp-millis local-timestamp-micros local-timestamp-nanos"""
_LOGICAL = frozenset(_LOGICAL_WORDS.split())
_IDS = {"manifest": MANIFEST_FIELDS, "entry": ENTRY_FIELDS, "file": FILE_FIELDS, "summary": SUMMARY_FIELDS}
_OLD = {f"{word}_data_files_count": f"{word}_files_count" for word in ("added", "existing", "deleted")}


def name_fields(record: Mapping[str, Any], kind: str) -> dict[str, str]:
    """The specified name of each stored field of a record that has one; `kind` is manifest, entry, file or summary."""
    known, names = _IDS[kind], {}
    for field in record.get("fields", ()):
        stored = str(field.get("name"))
        found = find_name(field, known) or (
            _OLD.get(stored, stored) if _OLD.get(stored, stored) in known.values() else None
        )
        if found is not None:
            names[stored] = found
    return names


class SchemaWriter:
    """Writes an Avro schema again. `partition` has the new names of partition fields by their stored ones."""

    def __init__(self, partition: Mapping[str, str]) -> None:
        self._partition = partition
        self._named: dict[str, str] = {}

    def write(self, schema: Any, kind: str) -> Any:
        """A schema; `kind` is of the record that it is, or holds: manifest, entry, file, summary, partition, or nothing."""
        if isinstance(schema, list):
            return [self.write(branch, kind) for branch in schema]
        if isinstance(schema, str):
            return schema if schema in _KINDS else self._named.get(schema, schema)
        if not isinstance(schema, dict):
            return "null"
        made = {
            key: value for key, value in schema.items() if key in _KEPT and key not in ("symbols", "fields")
        }
        if made.get("logicalType") not in _LOGICAL:
            made.pop("logicalType", None)
        if "name" in made:
            made["name"] = self._name(str(made["name"]))
        for key in ("items", "values"):
            if key in made:
                made[key] = self.write(made[key], kind)
        if schema.get("type") == "record":
            made["fields"] = self._write_fields(schema, kind)
        elif schema.get("type") == "enum":
            made["symbols"] = [f"s{number}" for number in range(len(schema.get("symbols", ())))]
        elif not isinstance(schema.get("type"), str):
            made["type"] = self.write(schema.get("type"), kind)
        return made

    def _write_fields(self, schema: Mapping[str, Any], kind: str) -> list[Any]:
        names = name_fields(schema, kind) if kind in _IDS else {}
        made = []
        for field in schema.get("fields", ()):
            stored = str(field.get("name"))
            if kind in _IDS and stored not in names:
                continue
            new = {key: value for key, value in field.items() if key in _KEPT and key != "symbols"}
            if field.get("default", 0) is None:
                new["default"] = None
            new["name"] = self._partition.get(stored, "x") if kind == "partition" else stored
            new["type"] = self.write(field.get("type"), _find_inner(names.get(stored, "")))
            made.append(new)
        return made

    def _name(self, name: str) -> str:
        if _NAME.fullmatch(name):
            return name
        return self._named.setdefault(name, f"n{len(self._named) + 1}")


def _find_inner(name: str) -> str:
    return {"data_file": "file", "partition": "partition", "partitions": "summary"}.get(name, "")


#: every name that the specification gives a field of a manifest or a manifest list, now or before
FIELD_NAMES = frozenset(
    (
        *MANIFEST_FIELDS.values(),
        *ENTRY_FIELDS.values(),
        *FILE_FIELDS.values(),
        *SUMMARY_FIELDS.values(),
        *_OLD,
    )
)
