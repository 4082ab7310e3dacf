"""Paimon's JSON documents: snapshots (tags and changelogs are snapshots too), schemas, statistics, consumers.

Each document is kept whole (`raw`, every key, 64-bit integers exact) beside a typed reading of the keys that are known.
See "Snapshot" and "Schema" of the Paimon table specification. Refused: what is not a JSON object, and documents that
lack a key every reader needs. Tolerated, with a note: integers that a JSON tool has rounded or quoted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from lakelens.errors import Corrupt, LakeError
from lakelens.model.datafile import StatisticsFile
from lakelens.model.facts.traits import Place, ValueKind, Vocabulary

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext


MAX_LONG = 2**63 - 1
NO_WATERMARK = -(2**63)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SnapshotDocument(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The keys of a snapshot, tag or changelog document; absent and null are the same, unknown keys are in the raw one."""

    version: int = 1
    uuid: str | None = None
    id: int | None = None
    schema_id: int
    base_manifest_list: str
    base_manifest_list_size: int | None = None
    delta_manifest_list: str
    delta_manifest_list_size: int | None = None
    changelog_manifest_list: str | None = None
    changelog_manifest_list_size: int | None = None
    index_manifest: str | None = None
    commit_user: str | None = None
    writer_version: str | None = None
    commit_identifier: int | None = None
    commit_kind: str
    time_millis: int
    log_offsets: dict[str, int | None] | None = None
    total_record_count: int | None = None
    delta_record_count: int | None = None
    changelog_record_count: int | None = None
    watermark: int | None = None
    statistics: str | None = None
    properties: dict[str, Any] | None = None
    next_row_id: int | None = None
    operation: str | None = None
    # only in a tag, and only when it was given a time to live
    tag_create_time: Any = None
    tag_time_retained: Any = None


class SchemaDocument(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The keys of a schema document; the fields stay JSON, `codecs.paimon.types` reads them."""

    version: int = 1
    id: int | None = None
    fields: list[dict[str, Any]]
    highest_field_id: int | None = None
    partition_keys: list[str] = []
    primary_keys: list[str] = []
    options: dict[str, str | None] = {}
    comment: str | None = None
    time_millis: int = 0


class StatisticsDocument(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The keys of a statistics document; the values of columns are texts, whatever the column's type."""

    snapshot_id: int
    schema_id: int
    merged_record_count: int | None = None
    merged_record_size: int | None = None
    col_stats: dict[str, dict[str, Any]] | None = None


class ConsumerDocument(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Where a consumer goes on reading."""

    next_snapshot: int


Document = TypeVar("Document", SnapshotDocument, SchemaDocument, StatisticsDocument, ConsumerDocument)


def parse_json(data: bytes, path: str) -> dict[str, Any]:
    """Parse the JSON object that a file holds, integers exact. Raises `Corrupt` with the byte.

    >>> parse_json(b'{"id" : 9223372036854775807}', "snapshot-1")
    {'id': 9223372036854775807}
    >>> parse_json(b"", "snapshot-1")
    Traceback (most recent call last):
    lakelens.errors.Corrupt: snapshot-1: empty file (at byte 0; expected a JSON object)
    """
    if not data.strip():
        raise Corrupt("empty file", path=path, offset=0, expected="a JSON object")
    try:
        parsed = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        seen = data[error.start : error.start + 8]
        raise Corrupt("not UTF-8 text", path=path, offset=error.start, expected="JSON", seen=seen) from error
    except json.JSONDecodeError as error:
        offset = len(error.doc[: error.pos].encode())
        text = error.doc[error.pos : error.pos + 40] or "the end of the file"
        raise Corrupt("not valid JSON", path=path, offset=offset, expected=error.msg, seen=text) from error
    except (RecursionError, ValueError) as error:  # absurd nesting; an integer of thousands of digits
        raise Corrupt("not readable JSON", path=path, offset=0, seen=str(error)) from error
    if not isinstance(parsed, dict):
        raise Corrupt(
            "not a JSON object", path=path, json_path="$", expected="an object", seen=type(parsed).__name__
        )
    return parsed


def parse_millis(millis: int) -> datetime | None:
    """Parse a time in milliseconds since 1970; None outside of the years 1 to 9999.

    >>> parse_millis(1704067200123).isoformat(), parse_millis(2**62)
    ('2024-01-01T00:00:00.123000+00:00', None)
    """
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        return None


def parse_document(kind: type[Document], raw: Mapping[str, Any], path: str) -> tuple[Document, list[str]]:
    """Parse the typed reading of a document, and notes on integers that were not written as such.

    Raises `Corrupt` with the JSON path.

    >>> document, notes = parse_document(ConsumerDocument, {"nextSnapshot": "7"}, "consumer-a")
    >>> document.next_snapshot, notes
    (7, ["$.nextSnapshot is written as '7', not as an integer"])
    """
    integers = _integer_keys(kind)
    notes: list[str] = []
    tidied = {}
    for key, value in raw.items():
        if value is None:
            continue  # the default: absent and null mean the same
        tidied[key] = _tidy_integer(key, value, notes) if key in integers else value
    try:
        return msgspec.convert(tidied, kind), notes
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `")
        json_path = place.rstrip("`") or "$"
        raise Corrupt(f"bad document: {reason}", path=path, json_path=json_path) from error
    except UnicodeEncodeError as error:  # it cannot quote such a text in a message of its own
        seen = error.object[error.start : error.end]
        message = "bad document: a text that is no Unicode"
        raise Corrupt(
            message, path=path, json_path="$", expected="no lone surrogates", seen=ascii(seen)
        ) from None


def parse_snapshot(
    raw: Mapping[str, Any], path: str, number: int | None
) -> tuple[SnapshotDocument, list[str]]:
    """Parse the document of `snapshot-NUMBER` or `changelog-NUMBER`, or of a tag, with notes as `parse_document`.

    The number in the file's name takes precedence over the id inside, which a JSON tool may have rounded. Raises
    `LakeError` where there is neither.
    """
    document, notes = parse_document(SnapshotDocument, raw, path)
    if number is None and document.id is None:
        raise LakeError("the document has no snapshot id", path=path)
    if number is not None and document.id not in (None, number):
        notes.append(f"$.id is {document.id}, the file is named for {number}")
    return document, notes


@cache
def _integer_keys(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Made once for each kind of document: it evaluates every annotation."""
    fields = msgspec.structs.fields(kind)
    return frozenset(field.encode_name for field in fields if field.type in (int, int | None))


def _tidy_integer(key: str, value: Any, notes: list[str]) -> Any:
    """An integer as it was meant, with a note when a tool has rounded or quoted it."""
    try:
        meant = (
            int(value)
            if isinstance(value, str) or (isinstance(value, float) and value.is_integer())
            else value
        )
    except ValueError:
        return value
    if not isinstance(meant, int) or isinstance(meant, bool):
        return value
    if meant != value or not isinstance(value, int):
        notes.append(f"$.{key} is written as {value!r}, not as an integer")
    if not -MAX_LONG - 1 <= meant <= MAX_LONG:
        notes.append(f"$.{key} is {meant}, more than 64 bits hold: a tool has rounded it")
        meant = max(-MAX_LONG - 1, min(MAX_LONG, meant))
    elif abs(meant) > 2**53 and meant % 1024 == 0 and meant != NO_WATERMARK:
        notes.append(f"$.{key} is {meant}, a number that floating point holds: a tool may have rounded it")
    return meant


# The statistics that ANALYZE wrote: a document of its own, which later snapshots name too.


def read_statistics(context: TableContext, path: str, name: str) -> StatisticsFile:
    """Read the statistics of a snapshot. Raises `LakeError` when they cannot be read."""
    data = context.store.read(path)
    raw = parse_json(data, path)
    document, _ = parse_document(StatisticsDocument, raw, path)
    columns, source = document.col_stats or {}, context.source()
    return StatisticsFile("table", path, name, document.snapshot_id, len(data), columns, raw, _source=source)


# What the keys of Paimon's JSON documents mean, and what their lists hold, in words.
#
# Follows "Snapshot" and "Schema" of the Paimon table specification.

_KINDS: dict[str, ValueKind] = {"timeMillis": "time", "watermark": "time"}
_SPECIAL = {("watermark", NO_WATERMARK): "none", ("commitIdentifier", MAX_LONG): "a batch write"}
# keys of a user, or of an engine, are below these
_FREE = frozenset(("options", "properties", "logOffsets"))


def format_items(place: Place, items: Sequence[Any], document: Any) -> str:
    """Columns that came to a schema or went from it, and a whole document that came or went. Empty where it has no words.

    >>> format_items(("fields", 2), [{"id": 2, "name": "note", "type": "STRING"}], {})
    'column note STRING'
    >>> format_items(("snapshot/snapshot-7",), [{"id": 7, "commitKind": "COMPACT", "baseManifestList": "m"}], {})
    'snapshot 7, COMPACT'
    """
    if not items or not all(isinstance(item, Mapping) for item in items):
        return ""
    only = items[0]
    if len(place) >= 2 and place[-2] == "fields":
        if len(items) > 1:
            return f"{len(items):,} columns: {', '.join(str(item.get('name')) for item in items[:5])}"
        kind = only.get("type")
        word = kind.get("type", "") if isinstance(kind, Mapping) else kind if isinstance(kind, str) else ""
        return f"column {only.get('name')} {word}".rstrip()
    if len(items) == 1 and "commitKind" in only:
        return f"snapshot {only.get('id')}, {only['commitKind']}"
    if len(items) == 1 and isinstance(only.get("fields"), list) and "highestFieldId" in only:
        number = len(only["fields"])
        return f"schema {only.get('id')}: {number:,} column{'' if number == 1 else 's'}"
    return ""


VOCABULARY = Vocabulary(_KINDS, _SPECIAL, _FREE, format_items)
