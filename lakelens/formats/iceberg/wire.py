"""The table metadata document: typed for what lakelens needs, and kept raw with every key and every digit.

Follows "Table Metadata and Snapshots" and appendix C of the Iceberg table specification, versions 1 to 3. What is
missing and has a default there gets it; what cannot be read is refused with its JSON path::

    Corrupt: v1.metadata.json: … (at $.snapshots[0].snapshot-id; expected int; seen str)

Numbers that a JSON tool has turned into text or floats (`"7"`, `1.2e18`) are read, and said to be so in `notes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.compression import decompress_document

NEWEST_VERSION = 4  # a draft


class WireSnapshot(msgspec.Struct, rename="kebab"):
    """One snapshot as the document has it."""

    snapshot_id: int
    timestamp_ms: int
    parent_snapshot_id: int | None = None
    sequence_number: int | None = None
    manifest_list: str | None = None
    manifests: list[str] | None = None
    summary: dict[str, Any] | None = None
    schema_id: int | None = None
    first_row_id: int | None = None
    added_rows: int | None = None
    key_id: str | None = None


class WireRef(msgspec.Struct, rename="kebab"):
    """One branch or tag."""

    snapshot_id: int
    type: str = "branch"
    min_snapshots_to_keep: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None


class WireSnapshotLog(msgspec.Struct, rename="kebab"):
    """When a snapshot became the current one."""

    timestamp_ms: int
    snapshot_id: int


class WireMetadataLog(msgspec.Struct, rename="kebab"):
    """An earlier metadata file."""

    timestamp_ms: int
    metadata_file: str


class WirePartitionField(msgspec.Struct, rename="kebab"):
    """One field of a partition spec."""

    name: str
    transform: str
    source_id: int | None = None
    source_ids: list[int] | None = None
    field_id: int | None = None


class WireSpec(msgspec.Struct, rename="kebab"):
    """A partition spec."""

    spec_id: int
    fields: list[WirePartitionField] = []


class WireSortField(msgspec.Struct, rename="kebab"):
    """One field of a sort order."""

    transform: str
    source_id: int | None = None
    source_ids: list[int] | None = None
    direction: str = "asc"
    null_order: str = "nulls-first"


class WireSortOrder(msgspec.Struct, rename="kebab"):
    """A sort order; order 0 is unsorted."""

    order_id: int
    fields: list[WireSortField] = []


class WireStatistics(msgspec.Struct, rename="kebab"):
    """A statistics file (Puffin), or a partition statistics file (no footer size, no blobs)."""

    snapshot_id: int
    statistics_path: str
    file_size_in_bytes: int | None = None
    file_footer_size_in_bytes: int | None = None
    blob_metadata: list[dict[str, Any]] = []


class WireMetadata(msgspec.Struct, rename="kebab"):
    """The document. `schema` and `partition_spec` are version 1's; the schemas stay JSON and are parsed by `schemas`."""

    format_version: int = 1
    table_uuid: str | None = None
    location: str | None = None
    last_sequence_number: int = 0
    last_updated_ms: int | None = None
    last_column_id: int | None = None
    schema: dict[str, Any] | None = None
    schemas: list[dict[str, Any]] | None = None
    current_schema_id: int | None = None
    partition_spec: list[WirePartitionField] | None = None
    partition_specs: list[WireSpec] | None = None
    default_spec_id: int | None = None
    last_partition_id: int | None = None
    sort_orders: list[WireSortOrder] | None = None
    default_sort_order_id: int | None = None
    properties: dict[str, Any] | None = None
    current_snapshot_id: int | None = None
    refs: dict[str, WireRef] | None = None
    snapshots: list[WireSnapshot] | None = None
    snapshot_log: list[WireSnapshotLog] | None = None
    metadata_log: list[WireMetadataLog] | None = None
    statistics: list[WireStatistics] | None = None
    partition_statistics: list[WireStatistics] | None = None
    next_row_id: int | None = None
    encryption_keys: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A metadata document: where it lies, its typed form, the raw one, and what was odd about it (code and sentence)."""

    path: str
    typed: WireMetadata
    raw: dict[str, Any]
    notes: tuple[tuple[str, str], ...] = ()


def decode_json(data: bytes, path: str | None = None) -> Any:
    """The JSON value of a document, decompressed where needed. Raises `Corrupt` with the byte where it goes wrong.

    >>> decode_json(b'{"a": 9223372036854775807}')
    {'a': 9223372036854775807}
    """
    text = decompress_document(data, path)
    text = text[3:] if text.startswith(b"\xef\xbb\xbf") else text
    if not text.strip():
        raise Corrupt("empty file, not a metadata document", path=path, offset=0, expected="a JSON object")
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        matched = re.search(r"\(byte (\d+)\)", str(error))
        offset = int(matched[1]) if matched else len(text)
        raise Corrupt("not JSON", path=path, offset=offset, seen=str(error)) from error
    except UnicodeDecodeError as error:
        raise Corrupt("not JSON: the text is not UTF-8", path=path, offset=error.start) from error
    except RecursionError as error:
        raise Corrupt("not a metadata document: nested too deeply", path=path, json_path="$") from error


def decode_document(data: bytes, path: str) -> Document:
    """The metadata document of these bytes. Raises `Corrupt` (byte or JSON path), `Unsupported` for a later version."""
    raw = decode_json(data, path)
    if not isinstance(raw, dict):
        raise Corrupt("not a metadata document", path=path, json_path="$", expected="an object", seen=raw)
    check_not_a_view(raw, path)
    try:
        repaired, notes = _repair_numbers(raw)
        typed = msgspec.convert(repaired, WireMetadata)
    except msgspec.ValidationError as error:
        raise _word_error(error, path) from error
    except RecursionError as error:
        raise Corrupt("not a metadata document: nested too deeply", path=path, json_path="$") from error
    if typed.format_version > NEWEST_VERSION or typed.format_version < 1:
        raise Unsupported(
            f"Iceberg format version {typed.format_version} is not known", path=path, hint="versions 1 to 3"
        )
    if not typed.schemas and typed.schema is None:
        missing = "$.schemas" if typed.format_version > 1 else "$.schema"
        raise Corrupt("a metadata document without a schema", path=path, json_path=missing)
    if typed.format_version == NEWEST_VERSION:
        notes.append(("experimental-version", "format version 4 is a draft; it is read as far as it goes"))
    return Document(path, typed, raw, tuple(notes))


def is_view(raw: Any) -> bool:
    """Whether a JSON document is the metadata of an Iceberg view."""
    return isinstance(raw, dict) and (
        "view-uuid" in raw or ("current-version-id" in raw and "versions" in raw and "schemas" in raw)
    )


def check_not_a_view(raw: dict[str, Any], path: str) -> None:
    """Raises `Unsupported` for the metadata of a view, naming it and the SQL dialects it is written in."""
    if not is_view(raw):
        return
    location = raw.get("location")
    name = location.rstrip("/").rsplit("/", 1)[-1] if isinstance(location, str) else "without a location"
    versions = raw.get("versions")
    dialects = sorted(
        {
            str(shape.get("dialect"))
            for version in (versions if isinstance(versions, list) else [])
            if isinstance(version, dict) and isinstance(version.get("representations"), list)
            for shape in version["representations"]
            if isinstance(shape, dict)
        }
    )
    raise Unsupported(
        f"an Iceberg view, not a table: {name}, with SQL for {', '.join(dialects) or 'no dialect'}",
        path=path,
        hint="open the tables that it selects from",
    )


_INTEGER_KEYS = frozenset(
    name
    for struct in (
        *(WireMetadata, WireSnapshot, WireRef, WireSnapshotLog, WireMetadataLog, WirePartitionField),
        *(WireSpec, WireSortField, WireSortOrder, WireStatistics),
    )
    for name, field in zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True)
    if "int" in str(struct.__annotations__[field]) and "list" not in str(struct.__annotations__[field])
)
_OPEN_KEYS = frozenset({"properties", "summary", "blob-metadata", "schema", "schemas", "encryption-keys"})


def _repair_numbers(raw: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """A copy in which integers that were written as text or floats are integers again, and what was changed."""
    places: list[str] = []

    def repair(value: Any, key: str, place: str) -> Any:
        if isinstance(value, dict):
            return {
                k: v if k in _OPEN_KEYS and place != "$.refs" else repair(v, k, f"{place}.{k}")
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [repair(item, key, f"{place}[{i}]") for i, item in enumerate(value)]
        if key in _INTEGER_KEYS and isinstance(value, float | str):
            number = _to_integer(value)
            if number is not None:
                places.append(place)
                return number
        return value

    repaired = repair(raw, "", "$")
    if not places:
        return repaired, []
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    message = (
        f"integers were written as text or floats by some JSON tool, digits may be lost: "
        f"{', '.join(places[:3])}{more}"
    )
    return repaired, [("rounded-number", message)]


def _to_integer(value: float | str) -> int | None:
    try:
        return int(value) if isinstance(value, str) or value.is_integer() else None
    except ValueError:
        try:
            number = float(value)
        except ValueError:
            return None
        return int(number) if number.is_integer() else None


def _word_error(error: msgspec.ValidationError, path: str) -> Corrupt:
    text, _, place = str(error).partition(" - at `")
    place = place.rstrip("`") or "$"
    matched = re.fullmatch(r"Expected `(.+?)`, got `(.+)`", text)
    if matched:
        return Corrupt(
            "a wrong value in the table metadata",
            path=path,
            json_path=place,
            expected=matched[1],
            seen=matched[2],
        )
    matched = re.fullmatch(r"Object missing required field `(.+)`", text)
    if matched:
        return Corrupt(
            "a key is missing from the table metadata", path=path, json_path=f"{place}.{matched[1]}"
        )
    return Corrupt("a wrong value in the table metadata", path=path, json_path=place, seen=text)
