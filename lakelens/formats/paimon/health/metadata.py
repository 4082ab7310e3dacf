"""The metadata of a Paimon table: manifests, entries that cancel out, snapshots that may go, and documents.

Which snapshots `expire_snapshots` would end follows `ExpireSnapshotsImpl`: older than `snapshot.time-retained`, but for the
newest `snapshot.num-retained.min`, and for what a consumer has yet to read. From 2.0 on a snapshot is as old as the commit
that followed it. Now is the time of the newest commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.index.global_index_meta_spans import explain_source_meta
from lakelens.errors import LakeError
from lakelens.formats.paimon.maintenance.deletion import is_new_engine
from lakelens.formats.paimon.splits import parse_size
from lakelens.io.ahead import fetch
from lakelens.model.measures.measure import Call, DocumentPart, Limit, Measure, count
from lakelens.model.measures.rules import MIB, list_manifest_parts, measure_manifests, name_source, quote

if TYPE_CHECKING:
    from lakelens.formats.paimon.health.rules import PaimonHealth
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.measures.figures import FileFigures, Reach
    from lakelens.model.measures.measure import DocumentParts

    Ranges = list[tuple[int, int]]


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
    """Parse a length of time as Paimon's options write it, in whole seconds. Raises `ValueError`.

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
    """List the manifests that a reader of the state opens: those of base and delta."""
    if rules.snapshot is None:
        return []
    found: list[PaimonManifest] = []
    for listed in rules.snapshot.manifest_lists:
        if listed.role in ("base", "delta"):
            found += listed.walk()[0]
    return found


def _measure_cancelled(
    rules: PaimonHealth, manifests: list[PaimonManifest], calls: tuple[Call, ...]
) -> Measure:
    """Measure the bytes of manifests with DELETE entries, each of which cancels an ADD entry that readers read as well."""
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
    """Measure how much older than the newest commit the oldest snapshot is, and how many expiring would end."""
    snapshots = rules.table.snapshots
    moments = [snapshot.committed_at for snapshot in snapshots if snapshot.committed_at is not None]
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
    """List the documents of the branch by folder, and the manifests of the state."""
    context = rules.table.context
    fetch(context.store, listings=[context.layout.folder(folder) for folder in _FOLDERS])
    for folder in _FOLDERS:
        listed = context.list_folder(context.layout.folder(folder))
        found = [info for info in listed.values() if not info.is_dir]
        if found:
            size = sum(info.size or 0 for info in found)
            yield DocumentPart("documents of the branch", folder, len(found), size)
    yield from list_manifest_parts(list_read(rules))


# How much of a Paimon table its indexes cover: data files without a file index, rows without a global index.
#
# A global index over rows with ids covers ranges of ids; that of a table with keys names the data files that it was made
# from.

_ALL = Limit(0, "≤", "lakelens")
_SUFFIX = ".index"


def list_index_columns(rules: PaimonHealth) -> Sequence[str]:
    """List the columns of files that say what is indexed, where anything is."""
    names: list[str] = []
    if _list_indexed(rules):
        names += ("embedded_file_index", "extra_files")
    if rules.snapshot is not None and any(file.global_index for file in rules.snapshot.index_files):
        names.append("path" if rules.has_keys else "first_row_id")
    return names


def _list_indexed(rules: PaimonHealth) -> dict[str, str]:
    """List the file indexes that the options ask for: columns by the type of index."""
    options = rules.table.options
    start, end = "file-index.", ".columns"
    return {
        key[len(start) : -len(end)]: str(value)
        for key, value in options.items()
        if key.startswith(start) and key.endswith(end) and len(key) > len(start) + len(end)
    }


def measure_indexes(
    rules: PaimonHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Files without the file index that options ask for; rows that a global index does not cover."""
    wanted = _list_indexed(rules)
    if wanted and len(figures.data):
        yield _measure_files(rules, figures, wanted)
    yield from _measure_sources(rules, figures) if rules.has_keys else _measure_global(rules, figures)


def _measure_sources(rules: PaimonHealth, figures: FileFigures) -> Iterator[Measure]:
    """For each index of a table with keys the data files that no file of it was made from."""
    paths = figures.column("path")
    if paths is None:
        return
    names = {str(path).rsplit("/", 1)[-1] for path in paths.take(figures.data).to_pylist()}
    sources: dict[tuple[str, tuple[int, ...]], set[str]] = {}
    for kind, fields, facts in _walk_indexes(rules):
        sources.setdefault((kind, fields), set()).update(_list_sources(facts))
    for (kind, fields), covered in sources.items():
        columns = ", ".join(_name_field(rules, number) for number in fields)
        value = len(names - covered)
        advice = (
            f"{count(value, 'data file')} of {len(names):,} named by no file of the index" if value else ""
        )
        name = f"files without the {kind} index of {columns}"
        yield Measure(name, "columns", value, "files", _ALL, advice, (), columns)


def _list_sources(facts: Mapping[str, Any]) -> Iterator[str]:
    """List the data files that an index file says it was made from; none where that is damaged."""
    meta = facts.get("source_meta")
    if not isinstance(meta, bytes):
        return
    try:
        leaves = list(explain_source_meta(meta).leaves())
    except LakeError:
        return
    yield from (str(leaf.value) for leaf in leaves if leaf.label == "file name")


def _measure_files(rules: PaimonHealth, figures: FileFigures, wanted: dict[str, str]) -> Measure:
    import numpy as np

    embedded, extra = figures.column("embedded_file_index"), figures.column("extra_files")
    has = np.zeros(len(figures), np.bool_)
    if embedded is not None:
        has |= embedded.is_valid().to_numpy(zero_copy_only=False)
    if extra is not None:
        named = (any(str(name).endswith(_SUFFIX) for name in names or ()) for names in extra.to_pylist())
        has |= np.fromiter(named, np.bool_, len(figures))
    value = int((~has[figures.data]).sum())
    kinds = ", ".join(f"{kind} of {columns}" for kind, columns in list(wanted.items())[:3])
    call = rules.call_procedure("rewrite_file_index", "builds the file indexes that are missing", tried=False)
    advice = f"asked for: {kinds}; rewrite_file_index builds it" if value else ""
    name = "files without a file index"
    return Measure(name, "columns", value, "files", _ALL, advice, (call,))


def _measure_global(rules: PaimonHealth, figures: FileFigures) -> Iterator[Measure]:
    """For each global index the rows that no file of it covers."""
    import numpy as np

    first = figures.numbers("first_row_id")[figures.data]
    known = np.flatnonzero(first >= 0)
    rows = figures.rows[figures.data]
    held = join_ranges((int(first[n]), int(first[n] + rows[n]) - 1) for n in known.tolist() if rows[n])
    for (kind, fields), ranges in _group_indexes(rules).items():
        columns = ", ".join(_name_field(rules, number) for number in fields)
        value = count_uncovered(held, ranges)
        arguments = (f"index_column => {quote(columns)}", f"index_type => {quote(kind)}")
        why = "covers the rows that came after the index"
        call = rules.call_procedure("create_global_index", why, *arguments, tried=False)
        total = sum(end - start + 1 for start, end in held)
        advice = (
            f"{count(value, 'row')} of {total:,} came after it: create_global_index covers them"
            if value
            else ""
        )
        name = f"rows without the {kind} index of {columns}"
        yield Measure(name, "columns", value, "count", _ALL, advice, (call,), columns)


def _group_indexes(rules: PaimonHealth) -> dict[tuple[str, tuple[int, ...]], Ranges]:
    """Group the row ranges of each global index, by its type and the columns that it is of."""
    found: dict[tuple[str, tuple[int, ...]], Ranges] = {}
    for kind, fields, facts in _walk_indexes(rules):
        start, end = facts.get("row_range_start"), facts.get("row_range_end")
        if isinstance(start, int) and isinstance(end, int):
            found.setdefault((kind, fields), []).append((start, end))
    return {key: join_ranges(ranges) for key, ranges in found.items()}


def _walk_indexes(rules: PaimonHealth) -> Iterator[tuple[str, tuple[int, ...], Mapping[str, Any]]]:
    """Walk the files of global indexes: type, columns, and what the index manifest says of each."""
    for file in () if rules.snapshot is None else rules.snapshot.index_files:
        facts = file.global_index
        if facts:
            extra = facts.get("extra_field_ids") or ()
            numbers = [facts.get("index_field_id"), *(extra if isinstance(extra, Iterable) else ())]
            yield file.index_type, tuple(number for number in numbers if isinstance(number, int)), facts


def join_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges of row ids, both ends in them, as few as they can be, in order.

    >>> join_ranges([(5, 9), (0, 4), (20, 30), (25, 26)])
    [(0, 9), (20, 30)]
    """
    joined: Ranges = []
    for start, end in sorted(one for one in ranges if one[0] <= one[1]):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def count_uncovered(held: Ranges, covered: Ranges) -> int:
    """Count how many ids of some joined ranges are in none of the others.

    >>> count_uncovered([(0, 9), (20, 29)], [(0, 4), (8, 21)])
    11
    """
    total = sum(end - start + 1 for start, end in held)
    place = 0
    for start, end in held:
        while place < len(covered) and covered[place][1] < start:
            place += 1
        number = place
        while number < len(covered) and covered[number][0] <= end:
            total -= min(end, covered[number][1]) - max(start, covered[number][0]) + 1
            number += 1
    return total


def _name_field(rules: PaimonHealth, number: int) -> str:
    column = rules.table.schema.find_column(number)
    return f"#{number}" if column is None else column.name
