"""What the keys of an Iceberg metadata document mean, and what its lists hold, in words.

Follows "Table Metadata Fields", "Snapshots" and "Snapshot References" of the Iceberg table specification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from lakelens.model.facts.traits import Place, ValueKind, Vocabulary

_KINDS: dict[str, ValueKind] = {
    "last-updated-ms": "time",
    "timestamp-ms": "time",
    "max-ref-age-ms": "duration",
    "max-snapshot-age-ms": "duration",
    "current-snapshot-id": "id",
    "snapshot-id": "id",
    "parent-snapshot-id": "id",
}
_SPECIAL = {("current-snapshot-id", -1): "none"}
# keys of a user, or of an engine, are below these
_FREE = frozenset(("properties", "summary"))


def format_items(place: Place, items: Sequence[Any], document: Any) -> str:
    """Say what came to a list of the document, or went from it; a ref that came or went too. Empty where it has no words.

    >>> format_items(("schemas", 1), [{"schema-id": 1}, {"schema-id": 2}], {})
    'schemas 1 to 2'
    >>> format_items(("refs", "eom"), [{"type": "tag", "snapshot-id": 7}], {})
    'tag at 7'
    """
    known = document if isinstance(document, Mapping) else {}
    if not all(isinstance(item, Mapping) for item in items):
        return ""
    if len(place) > 1 and place[-2] == "fields":
        return ", ".join(_format_field(item, known) for item in items[:5]) + (", …" if len(items) > 5 else "")
    if len(place) != 2:
        return ""
    name, key = place
    if name == "refs" and isinstance(key, str):
        ref = items[0]
        return f"{ref.get('type', 'ref')} at {ref.get('snapshot-id')}"
    if not isinstance(key, int):
        return ""
    only = items[0] if items else {}
    if name == "schemas":
        words = _format_ids("schema", [schema.get("schema-id") for schema in items])
        fields = only.get("fields")
        if len(items) > 1 or not isinstance(fields, list):
            return words
        return f"{words}: {len(fields):,} column{'' if len(fields) == 1 else 's'}"
    if name == "partition-specs":
        words = _format_ids("spec", [spec.get("spec-id") for spec in items])
        if len(items) > 1:
            return words
        names = _name_columns(known)
        parts = [_format_transform(field, names) for field in only.get("fields") or ()]
        return f"{words}: {', '.join(parts) or 'unpartitioned'}"
    if name == "sort-orders":
        words = _format_ids("order", [order.get("order-id") for order in items])
        if len(items) > 1:
            return words
        names = _name_columns(known)
        parts = [
            f"{_format_transform(field, names)} {field.get('direction', '')} {field.get('null-order', '')}".strip()
            for field in only.get("fields") or ()
        ]
        return f"{words}: {', '.join(parts) or 'unsorted'}"
    if name == "snapshots":
        return _format_snapshots(items, known)
    return _format_entries(str(name), items)


def _format_field(field: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Format a column, `note string (id 9)`, or a field of a partition spec or a sort order."""
    if "transform" in field:
        return _format_transform(field, _name_columns(document))
    kind = field.get("type")
    word = kind.get("type") if isinstance(kind, Mapping) else kind
    return f"{field.get('name')} {word} (id {field.get('id')})"


def _format_ids(noun: str, ids: Sequence[Any]) -> str:
    """`schema 4`, `schemas 1 to 4`, `schemas 1, 3`; of many that leave gaps only their number."""
    if len(ids) == 1:
        return f"{noun} {ids[0]}"
    if all(isinstance(one, int) for one in ids) and list(ids) == list(range(ids[0], ids[0] + len(ids))):
        return f"{noun}s {ids[0]} to {ids[-1]}"
    return f"{noun}s {', '.join(map(str, ids))}" if len(ids) <= 5 else f"{len(ids):,} {noun}s"


def _format_transform(field: Mapping[str, Any], names: Mapping[Any, str]) -> str:
    sources = field.get("source-ids") or [field.get("source-id")]
    columns = ", ".join(names.get(source, f"column {source}") for source in sources)
    transform = field.get("transform")
    return columns if transform == "identity" else f"{transform}({columns})"


def _name_columns(document: Mapping[str, Any]) -> dict[Any, str]:
    """Give the full names of the columns that any schema of the document has, by id; the newest name of each."""
    found: dict[Any, str] = {}

    def walk(fields: Any, prefix: str) -> None:
        for field in fields if isinstance(fields, list) else ():
            if isinstance(field, Mapping):
                name = f"{prefix}{field.get('name')}"
                found[field.get("id")] = name
                inner = field.get("type")
                walk(inner.get("fields") if isinstance(inner, Mapping) else None, f"{name}.")

    for schema in document.get("schemas") or [document.get("schema") or {}]:
        walk(schema.get("fields") if isinstance(schema, Mapping) else None, "")
    return found


def _format_snapshots(snapshots: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> str:
    """Say how many snapshots, and how many of them only a branch beside main has."""
    branches = _find_branches(document)
    on = Counter(
        branch for snapshot in snapshots if (branch := branches.get(snapshot.get("snapshot-id"))) is not None
    )
    if len(snapshots) == 1:
        (only,), where = snapshots, next(iter(on), None)
        summary = only.get("summary")
        operation = summary.get("operation") if isinstance(summary, Mapping) else None
        words = f"snapshot {only.get('snapshot-id')}" + (f", {operation}" if operation else "")
        return f"{words}, on {where}" if where is not None else words
    said = [f"{count:,} of them on {branch}" for branch, count in on.most_common(3)]
    return ", ".join([f"{len(snapshots):,} snapshots", *said])


def _find_branches(document: Mapping[str, Any]) -> dict[Any, str]:
    """Find the snapshots that branches have and main has not, each with the first such branch."""
    refs = document.get("refs")
    heads = {
        name: ref.get("snapshot-id")
        for name, ref in (refs.items() if isinstance(refs, Mapping) else ())
        if isinstance(ref, Mapping) and ref.get("type") == "branch" and name != "main"
    }
    if not heads:
        return {}
    parents = {
        one.get("snapshot-id"): one.get("parent-snapshot-id")
        for one in document.get("snapshots") or ()
        if isinstance(one, Mapping)
    }
    main: set[Any] = set()
    here = document.get("current-snapshot-id")
    while here in parents and here not in main:
        main.add(here)
        here = parents[here]
    found: dict[Any, str] = {}
    for name, head in heads.items():
        here = head
        while here in parents and here not in main and here not in found:
            found[here] = name
            here = parents[here]
    return found


def _format_entries(name: str, items: Sequence[Mapping[str, Any]]) -> str:
    """Logs and statistics by their number; of one its time, its file, or the snapshot that it is about."""
    if name in ("snapshot-log", "metadata-log"):
        noun, nouns = "entry", "entries"
    elif name in ("statistics", "partition-statistics"):
        noun, nouns = "file", "files"
    elif name == "encryption-keys":
        noun, nouns = "key", "keys"
    else:
        return ""
    if len(items) > 1:
        return f"{len(items):,} {nouns}"
    only = items[0]
    place = str(only.get("metadata-file") or only.get("statistics-path") or "").rsplit("/", 1)[-1]
    what = place or (f"snapshot {only['snapshot-id']}" if "snapshot-id" in only else "")
    at, moment = only.get("timestamp-ms"), ""
    with suppress(ValueError, OverflowError, OSError):
        moment = f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S}" if isinstance(at, int) else ""
    return ", ".join(filter(None, (f"1 {noun}: {what}" if what else f"1 {noun}", moment)))


VOCABULARY = Vocabulary(_KINDS, _SPECIAL, _FREE, format_items)
