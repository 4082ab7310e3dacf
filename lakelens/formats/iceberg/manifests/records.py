"""Records of manifest lists and manifests under the names of the specification.

Fields are recognised by the field id in the file's own schema (Avro's, or what `containers` makes of Parquet's), so that
renamed ones are found (`added_data_files_count` was 504's name before Iceberg 1.5), and by name where a writer left the ids
out. Integer-keyed maps, stored as arrays of key and value, come as dicts. Fields that the specification does not have keep
their own name.

Follows "Manifests" and "Manifest Lists" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakelens.errors import Corrupt

MANIFEST_FIELDS = {
    500: "manifest_path",
    501: "manifest_length",
    502: "partition_spec_id",
    517: "content",
    515: "sequence_number",
    516: "min_sequence_number",
    503: "added_snapshot_id",
    504: "added_files_count",
    505: "existing_files_count",
    506: "deleted_files_count",
    512: "added_rows_count",
    513: "existing_rows_count",
    514: "deleted_rows_count",
    507: "partitions",
    519: "key_metadata",
    520: "first_row_id",
}
ENTRY_FIELDS = {
    0: "status",
    1: "snapshot_id",
    3: "sequence_number",
    4: "file_sequence_number",
    2: "data_file",
}
FILE_FIELDS = {
    134: "content",
    100: "file_path",
    101: "file_format",
    102: "partition",
    103: "record_count",
    104: "file_size_in_bytes",
    105: "block_size_in_bytes",
    106: "file_ordinal",
    107: "sort_columns",
    108: "column_sizes",
    109: "value_counts",
    110: "null_value_counts",
    137: "nan_value_counts",
    111: "distinct_counts",
    125: "lower_bounds",
    128: "upper_bounds",
    131: "key_metadata",
    132: "split_offsets",
    135: "equality_ids",
    140: "sort_order_id",
    142: "first_row_id",
    143: "referenced_data_file",
    144: "content_offset",
    145: "content_size_in_bytes",
    141: "spec_id",
    146: "content_stats",
}
MAP_FIELDS = (
    *("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "distinct_counts"),
    *("lower_bounds", "upper_bounds"),
)
_OLD_NAMES = {
    "added_data_files_count": "added_files_count",
    "existing_data_files_count": "existing_files_count",
    "deleted_data_files_count": "deleted_files_count",
}

Rename = Callable[[Mapping[str, Any]], dict[str, Any]]


def make_rename(record: Mapping[str, Any], fields: Mapping[int, str]) -> Rename:
    """Make a function from a record of this Avro schema to a dict under the specification's names.

    >>> schema = {"fields": [{"name": "added_data_files_count", "field-id": 504, "type": "int"}]}
    >>> make_rename(schema, MANIFEST_FIELDS)({"added_data_files_count": 3})
    {'added_files_count': 3}
    """
    names = {}
    for field in record.get("fields", ()):
        stored = field["name"]
        names[stored] = find_name(field, fields) or _OLD_NAMES.get(stored, stored)
    pairs = tuple(names.items())
    return lambda row: {name: row.get(stored) for stored, name in pairs}


def find_name(field: Mapping[str, Any], names: Mapping[int, str]) -> str | None:
    """Find the specified name of an Avro field, by its id; None where it has none, or one that is no number.

    >>> find_name({"name": "x", "field-id": 504}, MANIFEST_FIELDS), find_name({"field-id": {}}, MANIFEST_FIELDS)
    ('added_files_count', None)
    """
    number = field.get("field-id")
    return names.get(number) if isinstance(number, int) else None


def find_field(record: Mapping[str, Any], field_id: int, name: str) -> Mapping[str, Any] | None:
    """Find the Avro field of an id, else of a name."""
    fields = record.get("fields", ())
    by_id = next((field for field in fields if field.get("field-id") == field_id), None)
    return by_id or next((field for field in fields if field.get("name") == name), None)


def unwrap(schema: Any, kind: str) -> Mapping[str, Any]:
    """The branch of an Avro type (a union, usually) that is a record or an array; empty when there is none.

    >>> unwrap(["null", {"type": "array", "items": "long"}], "array")["items"]
    'long'
    """
    if isinstance(schema, list):
        return next((found for branch in schema if (found := unwrap(branch, kind))), {})
    if not isinstance(schema, dict):
        return {}
    if schema.get("type") == kind:
        return schema
    inner = schema.get("type")
    return unwrap(inner, kind) if isinstance(inner, dict | list) else {}


def check_manifest_line(line: Mapping[str, Any], path: str | None, index: int) -> None:
    """Raises `Corrupt` for a line of a manifest list that names no manifest."""
    if not isinstance(line.get("manifest_path"), str):
        raise Corrupt(
            "a manifest list whose records name no manifest",
            path=path,
            json_path=f"[{index}].manifest_path",
            expected="a string",
            seen=line.get("manifest_path"),
        )


class EntryReader:
    """Turns the records of one manifest into entries under the specification's names: `(entry, data_file)` pairs."""

    def __init__(self, schema: Mapping[str, Any], path: str) -> None:
        self.path = path
        self._rename_entry = make_rename(schema, ENTRY_FIELDS)
        field = find_field(schema, 2, "data_file")
        self.file_record = unwrap(field["type"], "record") if field is not None else {}
        if not self.file_record:
            names = ", ".join(str(f.get("name")) for f in schema.get("fields", ()))
            message, expected = "not a manifest: its records have no data_file", "a field data_file (id 2)"
            raise Corrupt(
                message, path=path, json_path="avro.schema", expected=expected, seen=names or "no fields"
            )
        self._rename_file = make_rename(self.file_record, FILE_FIELDS)
        partition = find_field(self.file_record, 102, "partition")
        self.partition_record = unwrap(partition["type"], "record") if partition is not None else {}

    def convert(self, record: Mapping[str, Any], index: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Convert one entry. Raises `Corrupt` when it describes no file."""
        entry = self._rename_entry(record)
        stored = entry.pop("data_file", None)
        if not isinstance(stored, Mapping):
            raise self._fail(index, "data_file", "a record", stored)
        file = self._rename_file(stored)
        if not isinstance(file.get("file_path"), str):
            raise self._fail(index, "data_file.file_path", "a string", file.get("file_path"))
        for name in MAP_FIELDS:
            pairs = file.get(name)
            if pairs is None:
                continue
            try:
                if isinstance(pairs, Mapping):  # an Avro map: its keys are text
                    file[name] = {int(key): value for key, value in pairs.items()}
                else:
                    file[name] = {int(pair["key"]): pair["value"] for pair in pairs}
            except (TypeError, KeyError, ValueError) as error:
                raise self._fail(index, f"data_file.{name}", "a map of column ids", pairs) from error
        return entry, file

    def partition_values(self, file: Mapping[str, Any]) -> dict[int | str, Any]:
        """The stored partition values by field id, or by name where the ids were left out."""
        stored = file.get("partition")
        if not isinstance(stored, Mapping):
            return {}
        values: Mapping[str, Any] = stored
        ids: dict[str, int | str] = {}
        for field in self.partition_record.get("fields", ()):
            number = field.get("field-id")
            ids[field["name"]] = number if isinstance(number, int) else field["name"]
        return {ids.get(name, name): value for name, value in values.items()}

    def _fail(self, index: int, place: str, expected: str, seen: Any) -> Corrupt:
        return Corrupt(
            "a manifest entry that cannot be read",
            path=self.path,
            json_path=f"[{index}].{place}",
            expected=expected,
            seen=repr(seen),
        )
