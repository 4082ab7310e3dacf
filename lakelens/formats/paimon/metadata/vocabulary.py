"""What the keys of Paimon's JSON documents mean, and what their lists hold, in words.

Follows "Snapshot" and "Schema" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakelens.formats.paimon.metadata.wire import MAX_LONG, NO_WATERMARK
from lakelens.model.facts.vocabulary import Place, ValueKind, Vocabulary

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
    if len(place) >= 2 and place[-2] == "fields":
        if len(items) > 1:
            return f"{len(items):,} columns: {', '.join(str(item.get('name')) for item in items[:5])}"
        return f"column {items[0].get('name')} {_format_type(items[0].get('type'))}".rstrip()
    only = items[0]
    if len(items) == 1 and "commitKind" in only:
        return f"snapshot {only.get('id')}, {only['commitKind']}"
    if len(items) == 1 and isinstance(only.get("fields"), list) and "highestFieldId" in only:
        number = len(only["fields"])
        return f"schema {only.get('id')}: {number:,} column{'' if number == 1 else 's'}"
    return ""


def _format_type(kind: Any) -> str:
    return kind if isinstance(kind, str) else str(kind.get("type", "")) if isinstance(kind, Mapping) else ""


VOCABULARY = Vocabulary(_KINDS, _SPECIAL, _FREE, format_items)
