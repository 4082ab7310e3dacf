"""Whether a place is a Paimon table, which snapshot is current, and where its files are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field
from itertools import pairwise
from typing import Any

from lakelens.errors import AccessDenied, LakeError, Missing
from lakelens.formats.base import Candidate
from lakelens.formats.paimon.metadata.layout import list_keys, list_numbers
from lakelens.formats.paimon.metadata.wire import parse_json
from lakelens.io.ahead import fetch, list_few
from lakelens.io.store import Store, list_names
from lakelens.lazy import dataclass
from lakelens.model.finding import Findings
from lakelens.model.storage import Evidence

# How the current snapshot is found: the hint files `LATEST` and `EARLIEST`, checked against the listing.
#
# As the engine does: `LATEST` is trusted only if there is no snapshot after the one it names; otherwise, and without a
# hint, the highest number in the folder is taken. `EARLIEST` is trusted if the snapshot that it names is there. Hints may
# be stale, missing or garbage: that is a finding, never an error.

_MOST_TRUSTED = 10_000  # snapshots, where only hints say how many there are
HINTS = ("EARLIEST", "LATEST")


@dataclass(frozen=True, slots=True)
class SnapshotPointer:
    """The current snapshot's id (None before the first commit), how it was found, and the hints' texts.

    `ids` are the snapshots that the engine sees, `stray` those whose files are outside of the range of the hints.
    """

    latest: int | None
    reason: str
    ids: tuple[int, ...] = ()
    stray: tuple[int, ...] = ()
    hints: dict[str, str] = field(default_factory=dict)


def find_latest(store: Store, folder: str, findings: Findings) -> SnapshotPointer:
    """Find the current snapshot of a branch: lists its `snapshot` folder once and reads the hints that are there."""
    try:
        names = list_names(store, folder)
    except AccessDenied as refused:
        if not getattr(store, "is_far", False):
            raise
        return _trust_hints(store, folder, findings, refused)
    ids = tuple(list_numbers(names, "snapshot"))
    hints: dict[str, str] = {
        name: _read_hint(store, f"{folder}/{name}", findings) for name in HINTS if name in names
    }
    if not ids:
        if hints:
            findings.add("warning", "stale-hint", f"{folder}/LATEST", "there are hints and no snapshots")
        return SnapshotPointer(None, "no snapshot yet", hints=hints)
    gaps = [(low, high) for low, high in pairwise(ids) if high != low + 1]
    for low, high in gaps[:10]:
        message = f"no snapshot between {low} and {high}: ids of a table are consecutive"
        findings.add("warning", "snapshot-gap", folder, message)
    earliest = _choose_earliest(hints.get("EARLIEST"), ids, f"{folder}/EARLIEST", findings)
    latest, reason = _choose(hints.get("LATEST"), ids, folder, findings)
    seen = tuple(number for number in ids if earliest <= number <= latest)
    return SnapshotPointer(latest, reason, seen, tuple(sorted({*ids} - {*seen})), hints)


def _trust_hints(store: Store, folder: str, findings: Findings, refused: AccessDenied) -> SnapshotPointer:
    """The pointer where files may be read and not listed: what the hints say. Raises what refused where they say nothing."""
    hints: dict[str, str] = {}
    for name in HINTS:
        with suppress(LakeError):  # one that is not there is refused, too
            hints[name] = store.read(f"{folder}/{name}")[:256].decode("utf-8", "replace")
    earliest, latest = (parse_hint(hints.get(name, "")) for name in HINTS)
    if latest is None:
        raise refused
    first = latest if earliest is None else max(earliest, latest - _MOST_TRUSTED + 1)
    message = (
        f"may not be listed: the hints name snapshots {min(first, latest)} to {latest}, others are not known"
    )
    findings.add("warning", "not-listed", folder, message)
    ids = tuple(range(min(first, latest), latest + 1))
    return SnapshotPointer(
        latest, f"the LATEST hint says {latest}, and nothing may be listed", ids, hints=hints
    )


def _choose(hint: str | None, ids: tuple[int, ...], folder: str, findings: Findings) -> tuple[int, str]:
    highest, path = ids[-1], f"{folder}/LATEST"
    if hint is None:
        return highest, f"the highest number, {highest}: there is no LATEST hint"
    number = parse_hint(hint)
    if number is None:
        findings.add("warning", "stale-hint", path, f"the hint holds {hint[:40]!r}, not a snapshot number")
        return highest, f"the highest number, {highest}: the LATEST hint is unreadable"
    if number == highest:
        return highest, f"the LATEST hint says {number}, and there is no later one"
    if number in ids and number + 1 not in ids:
        message = (
            f"the hint says {number}; snapshots up to {highest} are above a gap, the engine does not see them"
        )
        findings.add("warning", "stale-hint", path, message)
        return number, f"the LATEST hint says {number}, and snapshot {number + 1} is not there"
    findings.add("warning", "stale-hint", path, f"the hint says {number}, the highest snapshot is {highest}")
    return highest, f"the highest number, {highest}: the LATEST hint says {number}, which is stale"


def _read_hint(store: Store, path: str, findings: Findings) -> str:
    try:
        return store.read(path)[:256].decode("utf-8", "replace")
    except Missing:
        return ""
    except LakeError as error:
        findings.add_error(error, path)
        return ""


def parse_hint(text: str) -> int | None:
    """Parse the number that a hint holds; None for anything else."""
    stripped = text.strip()
    return int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) < 20 else None


def _choose_earliest(hint: str | None, ids: tuple[int, ...], path: str, findings: Findings) -> int:
    if hint is None:
        return ids[0]
    number = parse_hint(hint)
    if number == ids[0]:
        return ids[0]
    said = f"{hint[:40]!r}" if number is None else str(number)
    if number is not None and number in ids:
        # the engine leaves this itself when it fast-forwards to a branch, whose hint it copies
        message = f"the hint says {said}; the engine does not see earlier snapshots, from {ids[0]} on, that are there"
        findings.add("note", "stale-hint", path, message)
        return number
    findings.add("warning", "stale-hint", path, f"the hint says {said}, the earliest snapshot is {ids[0]}")
    return ids[0]


# Whether a directory is a Paimon table: by `schema/schema-N`, `snapshot/snapshot-N` or `tag/tag-NAME`.
#
# Any one of them is enough: a table without a commit has only a schema, a partly copied one perhaps only a tag.

#: The snapshots and schemas that are read first, where each request waits for a network: a card shows 5 snapshots, and what
#: is new in each of them.
NEWEST, _MOST_SCHEMAS = 6, 16


def detect_table(place: Candidate) -> Evidence | None:
    """Detect why the place is a Paimon table; None when it is not."""
    if not place.info.is_dir:
        return None
    if place.refused is not None:
        # a directory that may not be listed is known by its hint, and by the snapshot that this names
        try:
            number = parse_hint(
                place.store.read(place.child("snapshot", "LATEST"))[:256].decode("utf-8", "replace")
            )
        except LakeError:
            return None
        name = f"snapshot/snapshot-{number}"
        if number is None or not _looks_right(place, name, _is_snapshot):
            return None
        reason = (
            f"snapshot/LATEST names snapshot-{number}, which is one; the directory itself may not be listed"
        )
        return Evidence("paimon", (reason,), ("snapshot/LATEST", name), confidence=1.0)
    schemas, snapshots = (list_numbers(_list(place, kind), kind) for kind in ("schema", "snapshot"))
    tags = [] if schemas and snapshots else list_keys(_list(place, "tag"), "tag")
    if not (schemas or snapshots or tags):
        return None
    newest = [
        *(f"schema/schema-{n}" for n in schemas[-_MOST_SCHEMAS:]),
        *(f"snapshot/snapshot-{n}" for n in snapshots[-NEWEST:]),
    ]
    few = [info.path for info in list_few(place.store, place.child("manifest"))]
    fetch(
        place.store, documents=[*map(place.child, newest), *few], meanwhile="lakelens.formats.paimon.opening"
    )
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
