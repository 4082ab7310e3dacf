"""Schemas, snapshots, tags, changelogs and consumers with every name and value replaced; ids, counts and times stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakelens.codecs.paimon.types import parse_type
from lakelens.errors import LakeError
from lakelens.formats.paimon.skeleton.options import redact_options
from lakelens.formats.paimon.skeleton.places import PlaceBook
from lakelens.model.skeleton.redaction import Redaction

_NUMBERS = frozenset(
    (
        *(
            "version",
            "id",
            "schemaId",
            "baseManifestListSize",
            "deltaManifestListSize",
            "changelogManifestListSize",
        ),
        *("commitIdentifier", "timeMillis", "totalRecordCount", "deltaRecordCount", "changelogRecordCount"),
        *("watermark", "nextRowId", "tagTimeRetained", "nextSnapshot", "highestFieldId"),
    )
)
LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_WORDS = frozenset(
    (
        *("APPEND", "COMPACT", "OVERWRITE", "ANALYZE", "WRITE", "DELETE", "TRUNCATE", "UPDATE", "MERGE"),
        *("CREATE_TABLE_AS_SELECT", "REPLACE_TABLE_AS_SELECT", "CREATE_OR_REPLACE_TABLE_AS_SELECT"),
    )
)
_NUMBER = re.compile(r"-?\d{1,20}(\.\d{1,20})?")
_VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}(-SNAPSHOT)?")


def keep_number(value: Any) -> Any:
    """A number as it is, also one that is text; anything else becomes null."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return value if isinstance(value, str) and _NUMBER.fullmatch(value) else None


class DocumentWriter:
    """Writes the documents of one table again."""

    def __init__(self, redaction: Redaction, places: PlaceBook) -> None:
        self._redaction, self._places = redaction, places

    def write_snapshot(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """A snapshot, a tag or a changelog."""
        made: dict[str, Any] = {}
        for key, value in raw.items():
            if key in _NUMBERS:
                made[key] = keep_number(value)
            elif value is None and key in (*LISTS, "indexManifest", "statistics", "operation", "watermark"):
                made[key] = None
            elif key in LISTS:
                made[key] = self._places.list(str(value))
            elif key == "indexManifest":
                made[key] = self._places.index_manifest(str(value))
            elif key in ("commitKind", "operation"):
                made[key] = value if isinstance(value, str) and value in _WORDS else "OTHER"
            elif key == "commitUser":
                made[key] = self._redaction.names.word("user-", str(value))
            elif key == "uuid":
                made[key] = self._redaction.names.word("uuid-", str(value))
            elif key == "writerVersion":
                kept = isinstance(value, str) and _VERSION.fullmatch(value)
                made[key] = value if kept else self._redaction.names.word("value-", str(value))
            elif key == "tagCreateTime":
                made[key] = [keep_number(one) for one in value] if isinstance(value, list) else None
            elif key == "statistics":
                self._redaction.note("statistics files, which hold values of columns, are left out")
            elif key in ("logOffsets", "properties") and isinstance(value, Mapping):
                made[key] = self._write_map(value, key)
        return made

    def _write_map(self, found: Mapping[str, Any], key: str) -> dict[str, Any]:
        names = self._redaction.names
        if key == "logOffsets":
            return {name: keep_number(value) for name, value in found.items() if _NUMBER.fullmatch(name)}
        kept = "sequence.generation.max-sequence-number"
        return {
            name if name == kept else names.word("property-", name): (
                value if name == kept and keep_number(value) else names.word("value-", str(value))
            )
            for name, value in found.items()
        }

    def write_consumer(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Where a consumer goes on reading."""
        return {key: keep_number(value) for key, value in raw.items() if key in _NUMBERS}

    def write_schema(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """A schema."""
        made: dict[str, Any] = {}
        for key, value in raw.items():
            if key in _NUMBERS:
                made[key] = keep_number(value)
            elif key == "fields" and isinstance(value, list):
                made[key] = [self._write_field(one) for one in value]
            elif key in ("partitionKeys", "primaryKeys") and isinstance(value, list):
                made[key] = [self._column(str(one)) for one in value]
            elif key == "options" and isinstance(value, Mapping):
                made[key] = redact_options(value, self._redaction)
            elif key == "comment" and value is not None:
                made[key] = value if self._redaction.names.keeps_all or not value else "(comment)"
        return made

    def _column(self, name: str) -> str:
        return self._redaction.names.find_column(name) or self._redaction.names.word("no-column-", name)

    def _write_field(self, field: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in (field if isinstance(field, Mapping) else {}).items():
            if key == "id":
                made[key] = keep_number(value)
            elif key == "name":
                made[key] = self._redaction.names.column(str(value), keep_number(field.get("id")) or 0)
            elif key == "type":
                made[key] = self._write_type(value)
            elif key == "description" and value is not None:
                made[key] = value if self._redaction.names.keeps_all else "(comment)"
            elif key == "defaultValue" and value is not None:
                self._redaction.note("default values of columns are left out")
        return made

    def _write_type(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                found = parse_type(value)
            except LakeError:
                return "OTHER"
            is_plain = not found.fields and found.crs is None and not any((found.element, found.key))
            return value if is_plain else "BYTES" if found.crs is None else found.name
        if not isinstance(value, Mapping):
            return "OTHER"
        made: dict[str, Any] = {}
        for key, inner in value.items():
            if key == "type":
                words = str(inner).upper().split()
                made[key] = inner if words and set(words) <= _TYPE_WORDS else "OTHER"
            elif key in ("element", "key", "value"):
                made[key] = self._write_type(inner)
            elif key == "fields" and isinstance(inner, list):
                made[key] = [self._write_field(one) for one in inner]
            elif key == "length":
                made[key] = keep_number(inner)
        return made


_TYPE_WORDS = frozenset(("ARRAY", "MAP", "MULTISET", "ROW", "VECTOR", "NOT", "NULL"))
