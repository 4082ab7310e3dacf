"""Whether a directory is a Paimon table: by `schema/schema-N`, `snapshot/snapshot-N` or `tag/tag-NAME`.

Any one of them is enough: a table without a commit has only a schema, a partly copied one perhaps only a tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lakelens.errors import LakeError
from lakelens.formats.base import Candidate
from lakelens.formats.paimon.discovery.pointer import parse_hint
from lakelens.formats.paimon.metadata.layout import list_keys, list_numbers
from lakelens.formats.paimon.metadata.wire import parse_json
from lakelens.io.ahead import fetch
from lakelens.io.store import list_names
from lakelens.model.storage import Evidence

#: The snapshots that are read with the newest schema, where each request waits for a network: a card shows 5, and what
#: is new in each of them.
NEWEST = 6


def detect_table(place: Candidate) -> Evidence | None:
    """Why the place is a Paimon table; None when it is not."""
    if not place.info.is_dir:
        return None
    if place.refused is not None:
        return _detect_by_hint(place)
    schemas, snapshots = (list_numbers(_list(place, kind), kind) for kind in ("schema", "snapshot"))
    tags = [] if schemas and snapshots else list_keys(_list(place, "tag"), "tag")
    if not (schemas or snapshots or tags):
        return None
    newest = [
        *(f"schema/schema-{n}" for n in schemas[-1:]),
        *(f"snapshot/snapshot-{n}" for n in snapshots[-NEWEST:]),
    ]
    fetch(place.store, documents=map(place.child, newest))
    schema = f"schema/schema-{schemas[-1]}" if schemas else None
    snapshot = f"snapshot/snapshot-{snapshots[-1]}" if snapshots else None
    tag = f"tag/tag-{tags[0]}" if tags else None
    probe = schema or snapshot or tag or ""
    looks_right = _looks_right(place, probe, _is_schema if schema else _is_snapshot)
    if not looks_right and not (schemas and snapshots):
        return None
    files = tuple(name for name in (schema, snapshot, tag) if name)
    others = ("iceberg",) if "metadata" in place.children else ()
    return Evidence(
        "paimon",
        _list_reasons(schemas, snapshots, tags, looks_right),
        files,
        confidence=1.0 if looks_right else 0.9,
        candidates=tuple(f"snapshot-{number}" for number in snapshots[-20:]),
        others=others,
    )


def _detect_by_hint(place: Candidate) -> Evidence | None:
    """Why a directory that may not be listed is a Paimon table: its hint, and the snapshot that this names."""
    try:
        number = parse_hint(
            place.store.read(place.child("snapshot", "LATEST"))[:256].decode("utf-8", "replace")
        )
    except LakeError:
        return None
    name = f"snapshot/snapshot-{number}"
    if number is None or not _looks_right(place, name, _is_snapshot):
        return None
    reason = f"snapshot/LATEST names snapshot-{number}, which is one; the directory itself may not be listed"
    return Evidence("paimon", (reason,), ("snapshot/LATEST", name), confidence=1.0)


def _list_reasons(
    schemas: list[int], snapshots: list[int], tags: list[str], looks_right: bool
) -> tuple[str, ...]:
    reasons = []
    if schemas:
        reasons.append(
            f"schema/ holds schema-{schemas[-1]}{'' if looks_right else ', which does not read as one'}"
        )
    if snapshots:
        many = f"{len(snapshots)} snapshots up to " if len(snapshots) > 1 else ""
        reasons.append(f"snapshot/ holds {many}snapshot-{snapshots[-1]}")
    elif tags:
        reasons.append(
            f"tag/ holds tag-{tags[0]}{f' and {len(tags) - 1} more' if len(tags) > 1 else ''}, and there is no snapshot"
        )
    else:
        reasons.append("there is no snapshot: nothing has been committed yet")
    return tuple(reasons)


def _list(place: Candidate, folder: str) -> Iterable[str]:
    found = place.children.get(folder)
    return list_names(place.store, place.child(folder)) if found is not None and found.is_dir else ()


def _looks_right(place: Candidate, name: str, check: Callable[[dict[str, Any]], bool]) -> bool:
    path = place.child(*name.split("/"))
    try:
        return check(parse_json(place.store.read(path), path))
    except LakeError:
        return False


def _is_schema(raw: dict[str, Any]) -> bool:
    return "fields" in raw and ("primaryKeys" in raw or "highestFieldId" in raw or "partitionKeys" in raw)


def _is_snapshot(raw: dict[str, Any]) -> bool:
    return "schemaId" in raw and ("deltaManifestList" in raw or "commitKind" in raw)
