"""The metadata document, and the schemas and specs in the headers of manifests, with every name and value replaced.

What is specified stays what it is: ids, numbers, times of commits, types, transforms. Of a key that the specification does
not have neither its name nor its value stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType, parse_type
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.errors import LakeError
from lakelens.formats.iceberg.skeleton.columns import ColumnBook
from lakelens.formats.iceberg.skeleton.places import MARK, PlaceBook
from lakelens.formats.iceberg.skeleton.properties import redact_properties, redact_summary
from lakelens.formats.iceberg.skeleton.values import count_json, write_json

_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,20})?([eE][+-]?\d{1,3})?")
_TYPE = re.compile(
    r"boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary|unknown|"
    r"variant|decimal\(\s*\d{1,3}\s*,\s*-?\d{1,3}\s*\)|fixed\[\s*\d{1,9}\s*\]"
)
_PARAMETERISED = ("geometry", "geography")
_KEPT_NUMBERS = (
    *("format-version", "last-sequence-number", "last-updated-ms", "last-column-id", "current-schema-id"),
    *("default-spec-id", "last-partition-id", "default-sort-order-id", "current-snapshot-id", "next-row-id"),
)
_SNAPSHOT_NUMBERS = (
    *("snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "schema-id", "first-row-id"),
    "added-rows",
)
_REF_NUMBERS = ("snapshot-id", "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
_WORDS = (
    "branch",
    "tag",
    "BRANCH",
    "TAG",
    "asc",
    "desc",
    "nulls-first",
    "nulls-last",
    "struct",
    "list",
    "map",
)


def keep_number(value: Any) -> Any:
    """A number as it is, also one that some JSON tool turned into text; anything else becomes null.

    >>> keep_number(7), keep_number("7"), keep_number("secret")
    (7, '7', None)
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    return value if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def keep_word(value: Any) -> Any:
    """A word of the specification; anything else becomes `other`."""
    return value if value in _WORDS else "other"


class DocumentWriter:
    """Writes one table's metadata document again."""

    def __init__(self, book: ColumnBook, places: PlaceBook, current: Mapping[str, Any]) -> None:
        self.book, self.redaction, self._places = book, book.redaction, places
        self._current = current

    def write(self) -> dict[str, Any]:
        """The whole document."""
        made: dict[str, Any] = {}
        for key, value in self._current.items():
            write = self._writers.get(key)
            if key in _KEPT_NUMBERS:
                made[key] = keep_number(value)
            elif write is not None:
                made[key] = None if value is None else write(value)
            else:
                self.redaction.note("keys of the metadata document that are not specified are left out")
        return made

    @property
    def _writers(self) -> Mapping[str, Callable[[Any], Any]]:
        return {
            "table-uuid": lambda value: self._make_uuid(),
            "location": lambda value: self._places.spell(value),
            "schema": self.write_schema,
            "schemas": lambda value: self._each(value, self.write_schema),
            "partition-spec": self.write_fields,
            "partition-specs": lambda value: self._each(value, self._write_spec),
            "sort-orders": lambda value: self._each(value, self._write_order),
            "properties": lambda value: redact_properties(_dict(value), self.book, MARK),
            "refs": self._write_refs,
            "snapshots": lambda value: self._each(value, self._write_snapshot),
            "snapshot-log": lambda value: self._each(value, self._write_log),
            "metadata-log": lambda value: self._leave_out(value, "earlier metadata files and their log"),
            "statistics": lambda value: self._leave_out(value, "statistics files (sketches of values)"),
            "partition-statistics": lambda value: self._leave_out(value, "partition statistics files"),
            "encryption-keys": lambda value: self._leave_out(value, "encryption keys"),
        }

    def _each(self, value: Any, write: Callable[[Any], Any]) -> list[Any]:
        return [write(item) for item in value] if isinstance(value, list) else []

    def _leave_out(self, value: Any, what: str) -> list[Any]:
        if value:
            self.redaction.note(f"{what} are left out")
        return []

    def _make_uuid(self) -> str:
        digits = f"{self.redaction.random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    # --- schemas -------------------------------------------------------------------------------------------------------

    def write_schema(self, schema: Any, path: tuple[str, ...] = ()) -> Any:
        """A schema, or a struct inside of one."""
        if not isinstance(schema, dict):
            return {"type": "struct", "fields": []}
        made: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "type":
                made[key] = keep_word(value)
            elif key == "schema-id":
                made[key] = keep_number(value)
            elif key == "identifier-field-ids":
                made[key] = [keep_number(one) for one in value] if isinstance(value, list) else []
            elif key == "fields":
                made[key] = self._each(value, lambda field: self._write_field(field, path))
        return made

    def _write_field(self, field: Any, path: tuple[str, ...]) -> Any:
        if not isinstance(field, dict):
            return {}
        name = str(field.get("name"))
        made: dict[str, Any] = {}
        for key, value in field.items():
            if key == "id" or key == "required":
                made[key] = keep_number(value)
            elif key == "name":
                made[key] = self.book.name(name, keep_number(field.get("id")) or 0, (*path, name))
            elif key == "type":
                made[key] = self._write_type(value, (*path, name))
            elif key == "doc":
                made[key] = value if self.redaction.names.keeps_all else "(comment)"
            elif key in ("initial-default", "write-default"):
                new = self._write_default(value, field)
                if new is not None:
                    made[key] = new
        return made

    def _write_type(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, str):
            return value if _TYPE.fullmatch(value) else _cut_type(value)
        if not isinstance(value, dict):
            return "unknown"
        if value.get("type") == "struct":
            return self.write_schema(value, path)
        made: dict[str, Any] = {}
        for key, inner in value.items():
            if key == "type":
                made[key] = keep_word(inner)
            elif key in ("element", "key", "value"):
                made[key] = self._write_type(inner, (*path, key))
            elif key in ("element-id", "key-id", "value-id", "element-required", "value-required"):
                made[key] = keep_number(inner)
        return made

    def _write_default(self, value: Any, field: Mapping[str, Any]) -> Any:
        found = read_default(value, field)
        if found is None:
            if isinstance(value, bool):
                return value
            self.redaction.note(
                "defaults of nested columns, and those that do not fit their type, are left out"
            )
            return None
        column, ordinal, type_ = found
        if self.book.keeps(column):
            return value
        scale = self.book.scale(column)
        return None if scale is None else write_json(scale.map(ordinal), type_)  # type: ignore[arg-type]

    # --- specs, orders -------------------------------------------------------------------------------------------------

    def write_fields(self, fields: Any) -> list[Any]:
        """The fields of a partition spec."""
        made: list[Any] = []
        for position, field in enumerate(fields if isinstance(fields, list) else ()):
            field = _dict(field)
            number = field.get("field-id")
            number = number if isinstance(number, int) else 1000 + position
            new: dict[str, Any] = {}
            for key, value in field.items():
                if key in ("source-id", "field-id"):
                    new[key] = keep_number(value)
                elif key == "source-ids":
                    new[key] = self._each(value, keep_number)
                elif key == "name":
                    new[key] = self.redaction.names.field(str(value), number)
                elif key == "transform":
                    new[key] = value if Transform.parse(str(value)).is_known else "unknown"
            made.append(new)
        return made

    def _write_spec(self, spec: Any) -> Any:
        return {
            "spec-id": keep_number(_dict(spec).get("spec-id")),
            "fields": self.write_fields(_dict(spec).get("fields")),
        }

    def _write_order(self, order: Any) -> Any:
        fields = []
        for field in _dict(order).get("fields") or ():
            new: dict[str, Any] = {}
            for key, value in _dict(field).items():
                if key == "source-id":
                    new[key] = keep_number(value)
                elif key == "source-ids":
                    new[key] = self._each(value, keep_number)
                elif key == "transform":
                    new[key] = value if Transform.parse(str(value)).is_known else "unknown"
                elif key in ("direction", "null-order"):
                    new[key] = keep_word(value)
            fields.append(new)
        return {"order-id": keep_number(_dict(order).get("order-id")), "fields": fields}

    # --- snapshots -----------------------------------------------------------------------------------------------------

    def _write_refs(self, refs: Any) -> Any:
        made: dict[str, Any] = {}
        for name, ref in _dict(refs).items():
            kind = str(_dict(ref).get("type")).lower()
            new = {key: keep_number(value) for key, value in _dict(ref).items() if key in _REF_NUMBERS}
            if "type" in _dict(ref):
                new["type"] = keep_word(_dict(ref)["type"])
            made[self.redaction.names.ref(name, "t" if kind == "tag" else "b")] = new
        return made

    def _write_log(self, line: Any) -> Any:
        return {
            key: keep_number(value)
            for key, value in _dict(line).items()
            if key in ("timestamp-ms", "snapshot-id")
        }

    def _write_snapshot(self, snapshot: Any) -> Any:
        snapshot = _dict(snapshot)
        made: dict[str, Any] = {}
        for key, value in snapshot.items():
            if key in _SNAPSHOT_NUMBERS:
                made[key] = keep_number(value)
            elif key == "manifest-list" and isinstance(value, str):
                made[key] = self._places.name_list(value, snapshot.get("snapshot-id"))
            elif key == "manifests" and isinstance(value, list):
                made[key] = [self._places.name_manifest(str(one)) for one in value]
            elif key == "summary" and isinstance(value, dict):
                made[key] = redact_summary(value, self.redaction)
            elif key == "key-id" and value is not None:
                made[key] = self.redaction.names.word("key-", str(value))
        return made


def read_default(value: Any, field: Mapping[str, Any]) -> tuple[int, int | str, IcebergType] | None:
    """The column of a default value, what it is ordered by, and its type; None for one that has no order."""
    number = field.get("id")
    try:
        type_ = parse_type(field.get("type"))
        ordinal = count_json(parse_json_value(value, type_), type_)
    except LakeError:
        return None
    return None if ordinal is None or not isinstance(number, int) else (number, ordinal, type_)


def _cut_type(text: str) -> str:
    """A type that is not known, without its parameters; the geographic ones without their reference system."""
    return next((word for word in _PARAMETERISED if text.startswith(word)), "unknown")


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
