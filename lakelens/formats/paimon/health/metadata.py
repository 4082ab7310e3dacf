"""The metadata of a Paimon table: manifests, entries that cancel out, snapshots that may go, and documents.

Which snapshots `expire_snapshots` would end follows `ExpireSnapshotsImpl`: older than `snapshot.time-retained`, but for the
newest `snapshot.num-retained.min`, and for what a consumer has yet to read. From 2.0 on a snapshot is as old as the commit
that followed it. Now is the time of the newest commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from lakelens.formats.paimon.maintenance.states import is_new_engine
from lakelens.formats.paimon.splits import parse_size
from lakelens.io.ahead import fetch
from lakelens.model.health.manifests import list_manifest_parts, measure_manifests
from lakelens.model.health.measure import Call, DocumentPart, Limit, Measure
from lakelens.model.health.rules import MIB, name_source

if TYPE_CHECKING:
    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.measure import DocumentParts
    from lakelens.model.health.reach import Reach

_FOLDERS = ("snapshot", "schema", "tag", "changelog", "consumer")
_DURATION = re.compile(r"(\d+)\s*([a-zµ]*)")
_SECONDS = {
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}


def parse_seconds(text: str) -> int:
    """A length of time as Paimon's options write it, in whole seconds. Raises `ValueError`.

    >>> parse_seconds("1 h"), parse_seconds("90min"), parse_seconds("5000")
    (3600, 5400, 5)
    """
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None or found[2] not in _SECONDS:
        raise ValueError(text)
    return int(int(found[1]) * _SECONDS[found[2]])


def measure_metadata(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Manifests, and snapshots."""
    if rules.snapshot is not None:
        manifests = list_read(rules)
        figure = rules.read("manifests", "manifest.merge-min-count", 30)
        target = rules.read("target", "manifest.target-file-size", 8 * MIB, parse_size).value
        limit = Limit(figure.value, "≤", name_source(figure), figure.property)
        calls = (rules.call_procedure("compact_manifest", "merges manifests", tried=False),)
        yield from measure_manifests(manifests, figures, limit, target, calls)
        yield _measure_cancelled(rules, manifests, calls)
    yield from _measure_age(rules)


def list_read(rules: PaimonHealth) -> list[PaimonManifest]:
    """The manifests that a reader of the state opens: those of base and delta."""
    if rules.snapshot is None:
        return []
    found: list[PaimonManifest] = []
    for listed in rules.snapshot.manifest_lists:
        if listed.role in ("base", "delta"):
            found += listed.walk()[0]  # type: ignore[arg-type]
    return found


def _measure_cancelled(
    rules: PaimonHealth, manifests: list[PaimonManifest], calls: tuple[Call, ...]
) -> Measure:
    """The bytes of manifests with DELETE entries, each of which cancels an ADD entry that readers read as well."""
    figure = rules.read("full", "manifest.full-compaction-threshold-size", 16 * MIB, parse_size)
    limit = Limit(figure.value, "≤", name_source(figure), figure.property)
    chosen = [manifest for manifest in manifests if manifest.deleted_files_count]
    size = sum(manifest.size_bytes or 0 for manifest in chosen)
    gone = sum(manifest.deleted_files_count or 0 for manifest in chosen)
    live = sum(manifest.added_files_count or 0 for manifest in manifests)
    advice = (
        f"compact_manifest leaves out {2 * gone:,} of {live + gone:,} entries" if size > figure.value else ""
    )
    name = "manifests with DELETE entries"
    return Measure(name, "metadata", size, "bytes", limit, advice, calls if gone else ())


def _measure_age(rules: PaimonHealth) -> Iterator[Measure]:
    """How much older than the newest commit the oldest snapshot is, and how many expiring would end."""
    snapshots = rules.table.snapshots
    moments = [one.committed_at for one in snapshots if one.committed_at is not None]
    if not moments:
        return
    newest, oldest = max(moments), moments[0]
    age = rules.read("age", "snapshot.time-retained", 3600, parse_seconds)
    keep = rules.read("keep", "snapshot.num-retained.min", 10)
    value = max((newest - oldest).total_seconds(), 0.0)
    limit = Limit(age.value, "≤", name_source(age), age.property)
    if not limit.keeps(value):
        kept = moments[max(len(moments) - keep.value, 0)]
        if (newest - kept).total_seconds() > age.value:
            words = f"{keep.property}: the newest {keep.value} are kept"
            limit = Limit((newest - kept).total_seconds(), "≤", name_source(keep), words)
    advice, calls = "", ()
    if not limit.keeps(value):
        before = (newest - timedelta(seconds=age.value)).replace(microsecond=0)
        least = min(rules.table.consumers.values(), default=None)
        gone = count_expired(rules.table, before, keep.value)
        if gone > 0:
            why = f"expires {gone:,} of {len(moments):,} snapshots"
            moment = f"older_than => TIMESTAMP '{before:%Y-%m-%d %H:%M:%S} UTC'"
            calls = (rules.call_procedure("expire_snapshots", why, moment, f"retain_min => {keep.value}"),)  # type: ignore[assignment]
            advice = f"expire_snapshots ends {gone:,} of {len(moments):,}"
        else:
            reader = f"a consumer has yet to read from snapshot {least} on"
            advice = "too young to go: each is as old as the commit after it" if least is None else reader
    yield Measure("age of the oldest snapshot", "metadata", value, "seconds", limit, advice, calls)


def count_expired(table: PaimonTable, before: datetime, keep: int) -> int:
    """How many snapshots would go: the oldest, up to one that is young enough, among the newest, or still to be read."""
    snapshots = list(table.snapshots)
    least = min(table.consumers.values(), default=None)
    gone = 0
    later = 1 if is_new_engine(table, {}) else 0
    for place, one in enumerate(snapshots[: max(len(snapshots) - max(keep, 1), 0)]):
        moment = snapshots[place + later].committed_at
        is_needed = least is not None and (one.id or 0) >= least
        if is_needed or moment is None or moment >= before:
            break
        gone += 1
    return gone


def list_document_parts(rules: PaimonHealth) -> Iterator[DocumentPart]:
    """The documents of the branch by folder, and the manifests of the state."""
    context = rules.table.context
    fetch(context.store, listings=[context.layout.folder(folder) for folder in _FOLDERS])
    for folder in _FOLDERS:
        listed = context.list_folder(context.layout.folder(folder))
        found = [info for info in listed.values() if not info.is_dir]
        if found:
            size = sum(info.size or 0 for info in found)
            yield DocumentPart("documents of the branch", folder, len(found), size)
    yield from list_manifest_parts(list_read(rules))
