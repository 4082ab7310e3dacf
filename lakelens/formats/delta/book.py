"""The defect book of Delta: what writers are known to get wrong in the log, and who wrote a table, as commits say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lakelens.codecs.numbers import read_moment, read_number
from lakelens.codecs.temporal import read_interval
from lakelens.codecs.text.objects import find_object, parse_object
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.defects import STATISTICS, list_footer_writers, sample_footers, shorten
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.discovery import HINT
from lakelens.io.store import find_info
from lakelens.model.check.defect import DefectBook, RuleTexts, Writer, read_once

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.model.finding import Finding

_rule = RuleTexts(__package__, "defects.toml")
_MOST_COMMITS = 200
_MOST_FILES = 2_000
_SECONDS = 10**11  # milliseconds in 1973, seconds in the year 5138
_WEEK = timedelta(days=7)
_ENGINES = (
    ("delta-spark", re.compile(r"Delta-Lake/(\d[\w.-]*)")),
    ("delta-rs", re.compile(r"delta-rs:(?:py-|rust-)?(\d[\w.-]*)")),
    ("delta-kernel", re.compile(r"Kernel-(\d[\w.-]*)")),
)
_BARE = re.compile(r"[:\[,]\s*-?(?:Infinity|NaN)\b")
_MINUTES = re.compile(r"T[\d:.]+[+-]\d\d:(\d\d)$")


def _list_adds(table: DeltaTable) -> list[Action]:
    """List the adds of the newest version, up to 2,000."""
    found: list[Action] = read_once(
        table, "adds", lambda: list(table.newest.state.files.values())[:_MOST_FILES]
    )
    return found


def _read_statistics(action: Action) -> tuple[str, dict[str, Any]]:
    """Read the statistics of an add as text, and parsed; nothing of them where they cannot be."""
    text = action.fields.get("stats")
    return (text, find_object(text)) if isinstance(text, str) else ("", {})


def _name(action: Action) -> str:
    return str(action.fields["path"]).rpartition("/")[2]


@_rule("modification-time-in-seconds")
def seconds(table: DeltaTable) -> Iterator[Finding]:
    """The Python writer of delta-rs 0.7 wrote seconds for milliseconds: whatever goes by a file's age takes it for old."""
    for action in _list_adds(table):
        stored = read_number(action.fields, "modificationTime")
        if stored is not None and _SECONDS // 100 < stored < _SECONDS:
            message = f"modificationTime of {_name(action)} is {stored}"
            yield seconds.report(shorten(table, action.path), message, [action.version])


@_rule("time-zone-cut-to-minutes")
def cut_zones(table: DeltaTable) -> Iterator[Finding]:
    """Local times before there were zones are some seconds apart from UTC; Delta on Spark wrote the offset to the minute:
    the bound is up to a minute beside the value, and readers skip files with rows that fit.
    """
    for action in _list_adds(table):
        _, held = _read_statistics(action)
        for side in ("minValues", "maxValues"):
            for name, value in _walk(held.get(side), ()):
                matched = _MINUTES.search(value) if isinstance(value, str) else None
                if matched is not None and int(matched[1]) % 15:
                    message = f"{side} of {'.'.join(name)} of {_name(action)} is {value}"
                    yield cut_zones.report(shorten(table, action.path), message, [action.version])


def _walk(held: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(held, Mapping) and len(names) < 100:
        for name, inner in held.items():
            yield from _walk(inner, (*names, name))
    elif names:
        yield names, held


@_rule("path-encoding")
def path_encoding(table: DeltaTable) -> Iterator[Finding]:
    """Paths are URIs, which readers decode once; writers that encode them twice, or write them as they are, leave files that
    other readers do not find.
    """
    context = table._context
    for action in _list_adds(table):
        recorded = action.fields["path"]
        if "%" not in recorded:
            continue
        right = unquote(recorded)
        if find_info(context.store, context.locate(right)) is not None:
            continue
        for other in dict.fromkeys((recorded, unquote(right))):
            if other != right and find_info(context.store, context.locate(other)) is not None:
                message = f"{recorded} is not at {right}, and is at {other}"
                yield path_encoding.report(shorten(table, action.path), message, [action.version])


@_rule("logical-names")
def logical_names(table: DeltaTable) -> Iterator[Finding]:
    """Where columns are mapped, files, statistics and partition values have physical names; under logical ones readers find
    nothing: they skip no files, and give NULL for a partition.
    """
    physical = table._context.columns.physical
    logical = {name for name, known in physical.items() if known != name} - set(physical.values())
    for action in _list_adds(table) if logical else ():
        _, held = _read_statistics(action)
        sides = {name: held.get(name) for name in ("minValues", "maxValues", "nullCount")}
        for what, keys in {**sides, "partitionValues": action.fields.get("partitionValues")}.items():
            wrong = sorted(logical.intersection(keys if isinstance(keys, Mapping) else ()))
            if wrong:
                message = f"{what} of {_name(action)} has {', '.join(wrong)}, which are no physical names"
                yield logical_names.report(shorten(table, action.path), message, [action.version])
                break


@_rule("stale-hint")
def stale_hint(table: DeltaTable) -> Iterator[Finding]:
    """Some readers fail where the hint cannot be followed, although the log has all that they need; writers at one time may
    leave a hint of two halves.
    """
    context = table._context
    path = f"{context.folder}/{HINT}"
    if find_info(context.store, path) is None:
        return
    try:
        version = read_number(parse_object(context.store.read(path), what="the hint"), "version")
    except Corrupt as error:
        yield stale_hint.report(shorten(table, path), error.message)
        return
    if version not in context.log.checkpoints:
        yield stale_hint.report(shorten(table, path), f"there is no complete checkpoint of version {version}")


@_rule("logical-row-count")
def logical_rows(table: DeltaTable) -> Iterator[Finding]:
    """numRecords is the number of stored rows; engines subtract the vector's themselves, so that COUNT is too small."""
    vectors = {
        table._context.locate(action.key[0]): read_number(action.vector, "cardinality")
        for action in _list_adds(table)
        if action.vector is not None
    }
    for file, footer in sample_footers(table) if vectors else ():
        deleted = vectors.get(file.path)
        if deleted and file.record_count is not None and file.record_count + deleted == footer.num_rows:
            message = f"numRecords is {file.record_count:,} of {footer.num_rows:,} rows, the vector deletes {deleted:,}"
            yield logical_rows.report(shorten(table, file.path), message)


@_rule("bare-infinity")
def bare_infinity(table: DeltaTable) -> Iterator[Finding]:
    """JSON has no word for infinity: readers refuse the statistics, or the whole table."""
    for action in _list_adds(table):
        text, held = _read_statistics(action)
        if held and _BARE.search(re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)):
            message = f"stats of {_name(action)} have Infinity or NaN without quotes"
            yield bare_infinity.report(shorten(table, action.path), message, [action.version])


@_rule("empty-log-file")
def empty_log_file(table: DeltaTable) -> Iterator[Finding]:
    """A writer that dies while it writes leaves an empty file: as a commit it counts, compacted ones hide others."""
    log = table._context.log
    checkpoints = (info for held in log.checkpoints.values() for one in held for info in one.files)
    for info in (*log.commits.values(), *log.compacted.values(), *log.checksums.values(), *checkpoints):
        if not info.size:
            yield empty_log_file.report(shorten(table, info.path), "the file has 0 bytes")


@_rule("empty-data-file")
def empty_data_file(table: DeltaTable) -> Iterator[Finding]:
    """A file that was not written to its end was committed: no reader of Parquet opens it."""
    for action in _list_adds(table):
        if read_number(action.fields, "size") == 0:
            yield empty_data_file.report(
                shorten(table, action.path), f"{_name(action)} has 0 bytes", [action.version]
            )


@_rule("duplicate-actions")
def duplicate_actions(table: DeltaTable) -> Iterator[Finding]:
    """The order of actions in a commit means nothing: what a file that is added and removed at once is, readers decide each
    in their own way.
    """
    seen: set[tuple[int, tuple[str, str]]] = set()
    for action in _list_actions(table, table.newest.id, "add", "remove"):
        if (action.version, action.key) in seen:
            message = f"{action.key[0]} is added or removed more than once"
            yield duplicate_actions.report(shorten(table, action.path), message, [action.version])
        seen.add((action.version, action.key))


@_rule("checkpoint-without-domains")
def lost_domains(table: DeltaTable) -> Iterator[Finding]:
    """Whoever reads the checkpoint does not know the clustering columns, or gives row ids twice."""
    for version, checkpoint, stored in _list_checkpoints(table):
        set_by: dict[str, bool] = {}
        for action in _list_actions(table, version, "domainMetadata"):
            set_by[str(action.fields.get("domain"))] = action.fields.get("removed") is not True
        kept = {str(one.fields.get("domain")) for one in stored if one.kind == "domainMetadata"}
        lost = sorted(name for name, is_set in set_by.items() if is_set and name not in kept)
        if lost:
            message = (
                f"the domains {', '.join(lost)} are set by commits up to version {version} and not in it"
            )
            yield lost_domains.report(shorten(table, checkpoint), message, [version])


@_rule("checkpoint-without-tombstones")
def lost_tombstones(table: DeltaTable) -> Iterator[Finding]:
    """VACUUM goes by tombstones: without them a file that readers of older versions still need is taken for nobody's, and
    the lite VACUUM never deletes it.
    """
    retention = read_interval(table._context.configuration, "delta.deletedFileRetentionDuration", _WEEK)
    for version, checkpoint, stored in _list_checkpoints(table):
        moment = table._make(version).committed_at
        if moment is None or any(one.kind == "remove" for one in stored):
            continue
        live = {one.key for one in stored if one.kind == "add"}
        gone = 0
        for action in _list_actions(table, version, "remove"):
            removed = read_moment(action.fields, "deletionTimestamp")
            is_young = removed is not None and moment - removed < retention
            gone += is_young and action.key not in live
        if gone:
            message = f"{gone:,} files were removed within the retention, and it has no tombstone"
            yield lost_tombstones.report(shorten(table, checkpoint), message, [version])


def _list_checkpoints(table: DeltaTable) -> Iterator[tuple[int, str, list[Action]]]:
    """List the newest three checkpoints that can be read, with their versions and actions."""
    context = table._context
    for version in sorted(context.log.checkpoints)[-3:]:
        for checkpoint in context.log.checkpoints[version]:
            try:
                parts = [context.read(path, version) for path, _ in context.list_parts(checkpoint)]
            except LakeError:  # a finding of the version
                continue
            yield version, checkpoint.files[0].path, [action for part in parts for action in part.actions]


def _list_actions(table: DeltaTable, until: int, *kinds: str) -> Iterator[Action]:
    """List the actions of some kinds in the last commits up to a version."""
    context = table._context
    for version in sorted(number for number in context.log.commits if number <= until)[-_MOST_COMMITS:]:
        try:
            held = context.read(context.log.commits[version].path, version)
        except LakeError:  # a finding of the version
            continue
        yield from (action for action in held.actions if action.kind in kinds)


@_rule("two-checkpoints")
def two_checkpoints(table: DeltaTable) -> Iterator[Finding]:
    """Some readers count the files of both together, and refuse the table; parts of two writers do not fit together."""
    for version, held in table._context.log.checkpoints.items():
        kinds = {checkpoint.kind for checkpoint in held}
        if {"classic", "multi-part"} <= kinds:
            message = f"version {version} has a checkpoint in one file, and one in parts"
            yield two_checkpoints.report(shorten(table, held[0].files[0].path), message, [version])


@_rule("null-counts-name")
def null_counts(table: DeltaTable) -> Iterator[Finding]:
    """The Java kernel wrote `nullCounts` for `nullCount`, which no reader looks for: null tests skip nothing."""
    for action in _list_adds(table):
        _, held = _read_statistics(action)
        if "nullCounts" in held and "nullCount" not in held:
            message = f"stats of {_name(action)} have nullCounts, which is called nullCount"
            yield null_counts.report(shorten(table, action.path), message, [action.version])


def list_writers(table: DeltaTable) -> tuple[Writer, ...]:
    """See `DefectBook.list_writers`: `engineInfo` of commits, then the libraries that wrote data files."""
    found: dict[Writer, None] = {}
    for snapshot in table.snapshots[-_MOST_COMMITS:]:
        text = getattr(snapshot, "engine_info", None) or ""
        for product, pattern in _ENGINES:
            matched = pattern.search(text)
            if matched:
                found[Writer(product, matched[1], "engineInfo of commits")] = None
        named = text.partition("/")[0].strip().lower()
        if named and not any(pattern.search(text) for _, pattern in _ENGINES):
            found[Writer(named.split()[0], "", "engineInfo of commits")] = None
    return tuple(dict.fromkeys((*found, *list_footer_writers(table))))


BOOK = DefectBook((*_rule.made, *STATISTICS), list_writers)
