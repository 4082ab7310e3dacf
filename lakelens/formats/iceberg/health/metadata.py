"""The metadata of an Iceberg table: snapshots that may go, metadata files that pile up, what makes the document large.

Which snapshots `expire_snapshots` would end follows `RemoveSnapshots`: every branch keeps its newest and those that are
young enough, a tag keeps its own; of those that no ref reaches the young ones stay. Now is the time of the newest commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.model.measures.measure import Call, DocumentPart, DocumentParts, Limit, Measure, count
from lakelens.model.measures.rules import (
    MIB,
    find_emptied,
    list_manifest_parts,
    measure_manifests,
    name_source,
    quote_name,
    say_emptied,
)

if TYPE_CHECKING:
    from lakelens.formats.iceberg.health.rules import IcebergHealth
    from lakelens.formats.iceberg.metadata.document import Document, SnapshotIndex
    from lakelens.model.measures.figures import FileFigures, Reach
    from lakelens.model.scan.splits import SplitFigure
    from lakelens.model.snapshot import Ref

_DAY = 86_400_000
_AGE = "history.expire.max-snapshot-age-ms"
_KEEP = "history.expire.min-snapshots-to-keep"
_LOG = "write.metadata.previous-versions-max"
_CLEANS = "write.metadata.delete-after-commit.enabled"
_NONE = Limit(0, "≤", "lakelens")
_DOCUMENT = Limit(4 * MIB, "≤", "lakelens")
REST = "keys, punctuation"


@dataclass(frozen=True, slots=True)
class Expiry:
    """What expiring would do: how many snapshots there are and would go, the times that count, and who keeps old ones."""

    total: int
    gone: int
    newest: int
    oldest: int
    before: int
    keepers: tuple[str, ...]


def find_expiry(document: Document, refs: Iterable[Ref], age: int, keep: int) -> Expiry | None:
    """Find which snapshots would go if those older than `age` milliseconds were expired at the newest commit."""
    index = document.snapshots
    moments = dict(index.iter_moments())
    if not moments:
        return None
    newest = max(moments.values())
    before = newest - age
    kept: set[int] = set()
    reached: set[int] = set()
    keepers: list[str] = []
    for ref in refs:
        if ref.snapshot_id not in moments:
            continue
        own = (
            _keep_branch(index, ref, moments, before, newest, keep)
            if ref.type == "branch"
            else {ref.snapshot_id}
        )
        expires = ref.max_ref_age_ms is not None and ref.name != "main"
        if expires and newest - moments[ref.snapshot_id] > (ref.max_ref_age_ms or 0):
            continue
        if any(moments[number] < before for number in own - kept):
            keepers.append(f"{ref.type} {ref.name}")
        kept |= own
        if ref.type == "branch":
            parent: int | None = ref.snapshot_id
            ancestors: set[int] = set()
            while parent is not None and parent in moments and parent not in ancestors:
                ancestors.add(parent)
                parent = index.find_parent(parent)
            reached |= ancestors
        else:
            reached |= own
    kept |= {number for number, at in moments.items() if number not in reached and at >= before}
    return Expiry(
        len(moments), len(moments) - len(kept), newest, min(moments.values()), before, tuple(keepers)
    )


def _keep_branch(
    index: SnapshotIndex, ref: Ref, moments: Mapping[int, int], before: int, newest: int, keep: int
) -> set[int]:
    """Keep the snapshots of a branch that stay: its newest, and those that are young enough."""
    least = ref.min_snapshots_to_keep or keep
    limit = before if ref.max_snapshot_age_ms is None else newest - ref.max_snapshot_age_ms
    kept: set[int] = set()
    number = ref.snapshot_id
    while number is not None and number in moments and number not in kept:
        if len(kept) >= least and moments[number] < limit:
            break
        kept.add(number)
        number = index.find_parent(number)
    return kept


def measure_metadata(
    rules: IcebergHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Manifests, snapshots, metadata files, and the document itself."""
    if rules.snapshot is not None:
        manifests = rules.snapshot.manifests
        figure = rules.read("manifests", "commit.manifest.min-count-to-merge", 100)
        target = rules.read("target", "commit.manifest.target-size-bytes", 8 * MIB).value
        limit = Limit(figure.value, "≤", name_source(figure), figure.property)
        calls = (rules.call_procedure("rewrite_manifests", "sorts the entries of manifests by partition"),)
        yield from measure_manifests(manifests, figures, limit, target, calls)
        emptied = find_emptied(manifests)
        name = "manifests of which nothing is live"
        yield Measure(name, "metadata", len(emptied), "count", _NONE, say_emptied(emptied) if emptied else "")
    age, keep = rules.read("age", _AGE, 5 * _DAY), rules.read("keep", _KEEP, 1)
    expiry = find_expiry(rules.context.document, rules.table.refs, age.value, keep.value)
    expire = _call_expire(rules, expiry)
    if expiry is not None:
        yield _measure_age(rules, expiry, age, expire)
    yield _measure_files(rules)
    yield _measure_document(rules, documents, expire)


def _call_expire(rules: IcebergHealth, expiry: Expiry | None) -> tuple[Call, ...]:
    """`expire_snapshots`, where it ends any."""
    if expiry is None or not expiry.gone or not _collects(rules):
        return ()
    try:
        before = datetime.fromtimestamp(expiry.before / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ()
    moment = f"{before:%Y-%m-%d %H:%M:%S}.{before.microsecond // 1000:03d} UTC"
    why = f"expires {expiry.gone:,} of {count(expiry.total, 'snapshot')}"
    return (rules.call_procedure("expire_snapshots", why, f"older_than => TIMESTAMP '{moment}'"),)


def _collects(rules: IcebergHealth) -> bool:
    """Check whether procedures may delete files at all."""
    return str(rules.table.properties.get("gc.enabled", "true")).lower() != "false"


def _measure_age(rules: IcebergHealth, expiry: Expiry, age: SplitFigure, expire: tuple[Call, ...]) -> Measure:
    """Measure how much older than the newest commit the oldest snapshot is."""
    limit = Limit(age.value / 1000, "≤", name_source(age), age.property)
    value = (expiry.newest - expiry.oldest) / 1000
    advice = ""
    if not limit.keeps(value):
        keepers = ", ".join(expiry.keepers[:3]) or "retention"
        more = f" and {len(expiry.keepers) - 3:,} more" if len(expiry.keepers) > 3 else ""
        advice = (
            f"kept by {keepers}{more}"
            if not expire
            else f"expire_snapshots ends {expiry.gone:,} of {expiry.total:,}"
        )
        if not _collects(rules):
            advice = "gc.enabled is false: nothing may be expired"
    return Measure("age of the oldest snapshot", "metadata", value, "seconds", limit, advice, expire)


def _measure_files(rules: IcebergHealth) -> Measure:
    """Measure the number of metadata files beside the one in use, and who removes those that no log names."""
    table = rules.table
    figure = rules.read("log", _LOG, 100)
    limit = Limit(figure.value + 1, "≤", name_source(figure), f"{figure.property}, and the one in use")
    names = {name.name for name in rules.folder.names}
    logged = {line.metadata_file.rsplit("/", 1)[-1] for line in rules.context.typed.metadata_log}
    current = rules.context.document.path.rsplit("/", 1)[-1]
    outside = len(names - logged - {current})
    cleans = str(table.properties.get(_CLEANS, "false")).lower() == "true"
    if limit.keeps(len(names)):
        return Measure("metadata.json files", "metadata", len(names), "files", limit)
    calls: list[Call] = []
    words = []
    if outside and _collects(rules):
        calls.append(rules.call_procedure("remove_orphan_files", "removes metadata files that no log names"))
        words.append(
            f"{count(outside, 'file')} in no log: remove_orphan_files removes what is older than 3 days"
        )
    if not cleans:
        name = quote_name(table.name)
        statement = f"ALTER TABLE <catalog>.{name} SET TBLPROPERTIES ('{_CLEANS}' = 'true')"
        calls.append(Call(statement, "lets no more metadata files pile up"))
        words.append("delete-after-commit is off: on, no more pile up")
    return Measure(
        "metadata.json files", "metadata", len(names), "files", limit, "; ".join(words), tuple(calls)
    )


def _measure_document(rules: IcebergHealth, documents: DocumentParts, expire: tuple[Call, ...]) -> Measure:
    """Measure the bytes of the document, which every commit writes again."""
    size = len(rules.context.document.text)
    own = [part for part in documents if part.document == _name_document(rules) and part.name != REST]
    largest = max(own, key=lambda part: part.size_bytes, default=None)
    place = (
        ""
        if largest is None or not size
        else f"{100 * largest.size_bytes / size:.0f} % of it are {largest.name}"
    )
    advice, calls = "", ()
    if not _DOCUMENT.keeps(size) and largest is not None:
        helps = largest.name in ("snapshots", "snapshot-log", "statistics", "partition-statistics")
        calls = expire if helps else ()  # type: ignore[assignment]
        alone = f"nothing makes {largest.name} smaller but having less of it"
        advice = "fewer snapshots make it smaller" if calls else alone
    return Measure("metadata.json, size", "metadata", size, "bytes", _DOCUMENT, advice, calls, place)


def _name_document(rules: IcebergHealth) -> str:
    return rules.context.document.path.rsplit("/", 1)[-1]


def list_document_parts(rules: IcebergHealth) -> Iterator[DocumentPart]:
    """List every key of the metadata document with the bytes that it takes there, and the manifests of the state."""
    text, name = rules.context.document.text, _name_document(rules)
    stored = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    kinds: dict[bytes, Any] = {b"[": list[msgspec.Raw], b"{": dict[str, msgspec.Raw]}
    parts = []
    for key, value in stored.items():
        part = bytes(value)
        kind = kinds.get(part.lstrip()[:1])  # only a list or an object has a number of items
        items = None if kind is None else len(msgspec.json.decode(part, type=kind))
        parts.append(DocumentPart(name, key, items, len(part)))
    yield from sorted(parts, key=lambda part: -part.size_bytes)
    yield DocumentPart(name, REST, None, len(text) - sum(part.size_bytes for part in parts))
    if rules.snapshot is not None:
        yield from list_manifest_parts(rules.snapshot.manifests)
