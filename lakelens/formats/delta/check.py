"""What a Delta log records of itself, compared: checksums, checkpoints and the hint with the replayed log, vectors with
their descriptors, the facts of adds with each other, and the protocol with what files use.

See "Version Checksum File", "Checkpoints", "Last Checkpoint File", "Deletion Vectors", "Row Tracking" and "Valid Feature
Names in Table Features" of the Delta protocol.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakelens.codecs.numbers import read_number
from lakelens.codecs.text.objects import find_object, parse_object
from lakelens.errors import LakeError
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.context import read_configuration, read_features
from lakelens.formats.delta.discovery import HINT, Checkpoint
from lakelens.formats.delta.replay import State
from lakelens.formats.delta.values import parse_statistics
from lakelens.formats.delta.vectors import place_vector, read_positions
from lakelens.model.check.checking import Checking
from lakelens.model.check.ledger import LedgerLine
from lakelens.model.check.survey import Survey
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

MOST_CHECKSUMS = 20  # newest ones that are compared
MOST_CHECKPOINTS = 10
MOST_VECTORS = 1_000
_MOST_FILES = 200_000  # of versions that are replayed to be compared
_METADATA = ("id", "schemaString", "partitionColumns")
_PROTOCOL = ("minReaderVersion", "minWriterVersion", "readerFeatures", "writerFeatures")


class DeltaChecking(Checking):
    """What is compared of one Delta table."""

    table: DeltaTable

    def compare_figures(self, survey: Survey) -> None:
        """See `Checking.compare_figures`."""
        of_log = (compare_checksums, compare_checkpoints, compare_hint)
        of_state = (compare_vectors, compare_adds, compare_protocol)
        survey.run(*(partial(compare, self.table, survey) for compare in (*of_log, *of_state)))


def _choose_newest(
    table: DeltaTable, survey: Survey, what: str, listed: Iterable[int], most: int
) -> list[int]:
    """Choose the newest versions that have something which is compared, and say how many others are left."""
    known = [version for version in sorted(listed) if version in table._known]
    if len(known) > most:
        survey.ledger.leave(
            f"{len(known) - most:,} of {len(known):,} {what}", f"the newest {most} were compared"
        )
    return known[-most:]


def _read_newest(actions: Mapping[Any, Action], name: str) -> dict[str, Any]:
    return {str(key): action.fields.get(name) for key, action in actions.items()}


def _compare_alike(
    line: LedgerLine, path: str, version: int, what: str, recorded: Any, found: Any, severity: Any = "warning"
) -> None:
    """Compare two values of any kind, of which a message need not show the whole."""
    message = f"{what} is another one than the log gives"
    line.require(recorded == found, "log-differs", path, message, (version,), severity)


def _compare_actions(
    line: LedgerLine, path: str, version: int, recorded: Mapping[str, Any], state: State, severity: Any
) -> None:
    """Compare what is recorded of metadata and protocol with a replayed version; the order of features means nothing."""
    actions = {"metaData": state.metadata, "protocol": state.protocol}
    for kind, names in (("metaData", (*_METADATA, "configuration")), ("protocol", _PROTOCOL)):
        action = actions[kind]
        if not isinstance(recorded.get(kind), Mapping) or action is None:
            continue
        known, found = (
            {
                name: sorted(map(str, value))
                if name.endswith("Features") and isinstance(value, list)
                else value
                for name in names
                if (value := fields.get(name)) not in (None, [], {})
            }
            for fields in (recorded[kind], action.fields)
        )
        _compare_alike(line, path, version, kind, known, found, severity)


def compare_checksums(table: DeltaTable, survey: Survey) -> None:
    """Compare version checksums with the versions."""
    context = table._context
    chosen = _choose_newest(table, survey, "checksums of versions", context.log.checksums, MOST_CHECKSUMS)
    if not chosen:
        return
    line = survey.ledger.line("checksums of versions", "*.crc", "the replayed log")
    seen = 0
    for version in track(reversed(chosen), "checksums", len(chosen)):
        state = table._replay.find_state(version)
        seen += len(state.files)
        if seen > _MOST_FILES and version != chosen[-1]:
            survey.ledger.leave(f"checksums before version {version + 1}", "the versions have many files")
            return
        path = context.log.checksums[version].path
        try:
            held = parse_object(context.store.read(path), path, "the checksum")
        except LakeError as error:
            line.differ("warning", "checksum", path, error.message, (version,))
            continue
        if state.is_whole:
            _compare_checksum(line, path, table, state, held)


def _compare_checksum(
    line: LedgerLine, path: str, table: DeltaTable, state: State, held: Mapping[str, Any]
) -> None:
    version, files = state.version, list(state.files.values())
    vectors = [action.vector for action in files if action.vector is not None]
    figures = {
        "numFiles": len(files),
        "tableSizeBytes": sum(read_number(action.fields, "size") or 0 for action in files),
        "numMetadata": 1,
        "numProtocol": 1,
        "numDeletionVectorsOpt": len(vectors),
        "numDeletedRecordsOpt": sum(read_number(vector, "cardinality") or 0 for vector in vectors),
        "inCommitTimestampOpt": table._make(version).commit_info.get("inCommitTimestamp"),
        "txnId": table._make(version).commit_info.get("txnId"),
    }
    for name, found in figures.items():
        line.compare(held.get(name), found, "checksum", path, name, (version,))
    _compare_actions(line, path, version, {**held, "metaData": held.get("metadata")}, state, "warning")
    for kind, key, name, actions in (
        ("setTransactions", "appId", "version", state.transactions),
        ("domainMetadata", "domain", "configuration", state.domains),
    ):
        listed = _list_fields(held.get(kind))
        if listed is not None:
            recorded = {str(one.get(key)): one.get(name) for one in listed if not one.get("removed")}
            _compare_alike(line, path, version, kind, recorded, _read_newest(actions, name))
    listed = _list_fields(held.get("allFiles"))
    if listed is not None and all(isinstance(one.get("path"), str) for one in listed):
        keys = {Action("add", one, path, 0, version).key for one in listed}
        _compare_alike(line, path, version, "allFiles", keys, set(state.files))
    histogram = held.get("fileSizeHistogram", held.get("histogramOpt"))
    for name, figure in (("fileCounts", "numFiles"), ("totalBytes", "tableSizeBytes")):
        counts = histogram.get(name) if isinstance(histogram, dict) else None
        if isinstance(counts, list) and all(type(count) is int for count in counts):
            what = f"{name} of the histogram"
            line.compare(sum(counts), figures[figure], "checksum", path, what, (version,))


def _list_fields(held: Any) -> list[dict[str, Any]] | None:
    return held if isinstance(held, list) and all(isinstance(one, dict) for one in held) else None


def compare_checkpoints(table: DeltaTable, survey: Survey) -> None:
    """Compare checkpoints with what a checkpoint before them, or none, and the commits give."""
    context, log = table._context, table._context.log
    chosen = _choose_newest(table, survey, "checkpoints", log.checkpoints, MOST_CHECKPOINTS)
    if not chosen:
        return
    line = survey.ledger.line("checkpoints", "checkpoints", "the commits before them")
    for version in track(chosen, "checkpoints", len(chosen)):
        replayed = _replay_without(table, version)
        if replayed is None:
            what = f"the checkpoint of version {version}"
            survey.ledger.leave(what, "the commits before it are not kept, or cannot be read")
            continue
        if len(replayed.files) > _MOST_FILES:
            survey.ledger.leave(f"the checkpoint of version {version}", f"{len(replayed.files):,} files")
            continue
        for checkpoint in log.checkpoints[version]:
            stored = State(version)
            try:
                parts = [context.read(path, version) for path, _ in context.list_parts(checkpoint)]
            except LakeError as error:
                path = error.path or checkpoint.files[0].path
                line.differ("error", "checkpoint", path, error.reason, (version,))
                continue
            for part in parts:
                for action in part.actions:
                    stored.apply(action)
            if not any(part.errors for part in parts):
                _compare_states(line, checkpoint, stored, replayed)


def _replay_without(table: DeltaTable, version: int) -> State | None:
    """Replay a version without its own checkpoint; None where commits for it are missing or damaged."""
    context, log = table._context, table._context.log
    for base in (*sorted((one for one in log.checkpoints if one < version), reverse=True), -1):
        if any(number not in log.commits for number in range(base + 1, version + 1)):
            continue
        state = State(version)
        if base >= 0:
            start = table._replay.find_state(base)
            if not start.is_whole:
                return None
            _ = start.files
            state = start.copy(version)
        for number in range(base + 1, version + 1):
            try:
                held = context.read(log.commits[number].path, number)
            except LakeError:
                return None
            if held.errors:
                return None
            for action in held.actions:
                state.apply(action)
        return state
    return None


def _compare_states(line: LedgerLine, checkpoint: Checkpoint, stored: State, replayed: State) -> None:
    path, version = checkpoint.files[0].path, checkpoint.version
    lost, added = replayed.files.keys() - stored.files.keys(), stored.files.keys() - replayed.files.keys()
    for keys, words in ((lost, "are live and not in it"), (added, "are in it and not live")):
        name = min(keys)[0] if keys else ""
        message = f"{len(keys):,} file{'s' * (len(keys) != 1)} {words}, {name} among them"
        line.require(not keys, "checkpoint-files", path, message, (version,))
    unknown = stored.tombstones.keys() - replayed.tombstones.keys()
    message = f"{len(unknown):,} tombstones in it are of files that the commits do not remove"
    line.require(not unknown, "checkpoint-tombstones", path, message, (version,), "warning")
    wrong = [
        key
        for key in stored.files.keys() & replayed.files.keys()
        if stored.files[key].fields.get("size") != replayed.files[key].fields.get("size")
        or dict(stored.files[key].fields.get("partitionValues") or {})
        != dict(replayed.files[key].fields.get("partitionValues") or {})
    ]
    name = min(wrong)[0] if wrong else ""
    message = f"{len(wrong):,} files have another size or other partition values in it, {name} among them"
    line.require(not wrong, "checkpoint-files", path, message, (version,))
    both = (("metaData", stored.metadata), ("protocol", stored.protocol))
    recorded = {kind: action.fields for kind, action in both if action is not None}
    _compare_actions(line, path, version, recorded, replayed, "error")
    # old transactions may have expired
    shared = stored.transactions.keys() & replayed.transactions.keys()
    known, found = (
        [state.transactions[name].fields.get("version") for name in shared] for state in (stored, replayed)
    )
    _compare_alike(line, path, version, "txn", known, found, "error")
    domains, wanted = (_read_newest(state.domains, "configuration") for state in (stored, replayed))
    _compare_alike(line, path, version, "domainMetadata", domains, wanted, "error")


def compare_hint(table: DeltaTable, survey: Survey) -> None:
    """Compare the hint with the checkpoint that it names; that it names none is a finding of the listing."""
    context, path = table._context, f"{table._context.folder}/{HINT}"
    try:
        hint = parse_object(context.store.read(path))
    except LakeError:
        return
    line = survey.ledger.line("the hint", HINT, "the checkpoint that it names")
    recorded = hint.get("checksum")
    if isinstance(recorded, str):
        message = f"the checksum of the hint is {recorded}, its content gives {digest_hint(hint)}"
        line.require(recorded == digest_hint(hint), "hint-checksum", path, message, (), "warning")
    version = hint.get("version")
    held = context.log.checkpoints.get(version, ()) if type(version) is int else ()
    kind = "v2" if hint.get("v2Checkpoint") else "multi-part" if hint.get("parts") else "classic"
    checkpoint = next((one for one in held if one.kind == kind), None)
    if checkpoint is None:
        return
    if checkpoint.kind == "multi-part":
        line.compare(hint.get("parts"), len(checkpoint.files), "hint", path, "parts")
    try:
        parts = context.list_parts(checkpoint)
        actions = [action for part, _ in parts for action in context.read(part, checkpoint.version).actions]
    except LakeError:  # a finding of the version that needs it
        return
    adds = sum(action.kind == "add" for action in actions)
    line.compare(hint.get("numOfAddFiles"), adds, "hint", path, "numOfAddFiles")
    if checkpoint.kind != "v2":  # of one with sidecars writers count differently
        line.compare(hint.get("size"), len(actions), "hint", path, "size, the number of actions")
        size = sum(info.size for info in checkpoint.files)
        line.compare(hint.get("sizeInBytes"), size, "hint", path, "sizeInBytes")


def digest_hint(hint: Mapping[str, Any]) -> str:
    """Digest a hint as its `checksum` does: MD5 of its canonical form, without the checksum itself.

    >>> parts = ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]
    >>> digest_hint({"k0": "'v 0'", "checksum": "x", "k1": {"k2": 2, "k3": parts}})
    '6a92d155a59bf2eecbd4b4ec7fd1f875'
    """
    kept = {name: value for name, value in hint.items() if name != "checksum"}
    leaves = (f"{place}={value}" for place, value in sorted(_list_leaves(kept, "")))
    return hashlib.md5(",".join(leaves).encode(), usedforsecurity=False).hexdigest()


def _list_leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _list_leaves(inner, f'{place}{"+" if place else ""}"{_escape(name)}"')
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _list_leaves(inner, f"{place}{'+' if place else ''}{number}")
    else:
        yield place, f'"{_escape(value)}"' if isinstance(value, str) else json.dumps(value)


def _escape(text: str) -> str:
    return quote(text, safe="-._~", errors="surrogatepass")


def compare_vectors(table: DeltaTable, survey: Survey) -> None:
    """Compare the vectors of live files with their descriptors, and with the rows that the files have."""
    context, state = table._context, table.newest.state
    live = [action for action in state.files.values() if action.vector is not None]
    if not live:
        return
    line = survey.ledger.line("deletion vectors", "adds", "the vectors themselves")
    if len(live) > MOST_VECTORS:
        what = f"{len(live) - MOST_VECTORS:,} of {len(live):,} deletion vectors"
        survey.ledger.leave(what, f"the first {MOST_VECTORS:,} were decoded")
    for action in track(live[:MOST_VECTORS], "vectors", len(live)):
        try:
            place = place_vector(action, context)
            positions = read_positions(action, context)
        except LakeError as error:
            code = type(error).__name__.lower()
            line.differ("error", code, error.path or action.path, error.reason, (state.version,))
            continue
        name, found, versions = action.fields["path"], len(positions), (state.version,)
        what = f"rows that the vector of {name} deletes"
        line.compare(place.cardinality, found, "vector-cardinality", place.path, what, versions, "error")
        rows = _count_rows(action)
        message = f"{name} has a deletion vector and no numRecords, which then must be there"
        if line.require(rows is not None, "vector-rows", action.path, message, versions, "warning"):
            last = positions.max() if found else -1
            message = f"the vector of {name} deletes row {last:,}, numRecords is {rows:,}"
            line.require(last < (rows or 0), "vector-rows", place.path, message, versions)


def _count_rows(action: Action) -> int | None:
    text = action.fields.get("stats")
    held = action.fields.get("stats_parsed")
    if isinstance(text, str) and text:
        try:
            held = parse_statistics(text, action.path)
        except LakeError:  # a finding of the file
            return None
    return read_number(held, "numRecords") if isinstance(held, Mapping) else None


def compare_adds(table: DeltaTable, survey: Survey) -> None:
    """Compare the facts of live files with each other and with the table: sizes, partition values, row ids."""
    context, state = table._context, table.newest.state
    line = survey.ledger.line("facts of adds", "adds", "one another, the metadata")
    physical, partitioning = context.columns.physical, context.partitioning
    wanted = {physical.get(field.source_name, field.source_name) for field in partitioning.fields}
    numbered: list[tuple[int, int, str]] = []
    tracks = context.configuration.get("delta.enableRowTracking", "false").lower() == "true"
    for action in state.files.values():
        fields, snapshots = action.fields, (state.version,)
        name, size = fields["path"], read_number(action.fields, "size")
        message = f"the size of {name} is {fields.get('size')!r}"
        line.require(size is not None and size > 0, "add-size", action.path, message, snapshots, "warning")
        if context.metadata is not None:
            keys = set(fields.get("partitionValues") or ())
            message = f"{name} has values of {sorted(keys)}, the partition columns are {sorted(wanted)}"
            line.require(keys == wanted, "add-partition", action.path, message, snapshots, "warning")
        base, rows = read_number(fields, "baseRowId"), _count_rows(action)
        if tracks:
            message = f"{name} has no baseRowId, and the table has row tracking"
            line.require(base is not None, "row-ids", action.path, message, snapshots)
        if base is not None and rows:
            numbered.append((base, base + rows, name))
    _compare_row_ids(line, numbered, state)


def _compare_row_ids(line: LedgerLine, numbered: list[tuple[int, int, str]], state: State) -> None:
    """Row ids are below the high-water mark, and no two files have the same ones."""
    numbered.sort()
    domain = state.domains.get("delta.rowTracking")
    if domain is not None and numbered:
        mark = find_object(domain.fields.get("configuration")).get("rowIdHighWaterMark")
        end = max(end for _, end, _ in numbered)
        message = f"a file has row ids up to {end - 1:,}, rowIdHighWaterMark is {mark}"
        holds = type(mark) is int and end - 1 <= mark
        line.require(holds, "row-ids", domain.path, message, (state.version,))
    for (_, end, name), (begin, _, other) in pairwise(numbered):
        message = f"{other} has row ids from {begin:,} on, those of {name} reach {end - 1:,}"
        line.require(begin >= end, "row-ids", name, message, (state.version,))


def compare_protocol(table: DeltaTable, survey: Survey) -> None:
    """Compare the protocol with what the table uses, and with its own rules."""
    state = table.newest.state
    if state.protocol is None:
        return
    line = survey.ledger.line("the protocol", "protocol", "what the table uses")
    fields, path, snapshots = state.protocol.fields, state.protocol.path, (state.version,)
    reader, writer = (read_number(fields, f"min{side}Version") or 0 for side in ("Reader", "Writer"))
    names = {side: set(features) for side, features in table.features.items()}
    for side, version, least in (("reader", reader, 3), ("writer", writer, 7)):
        listed = fields.get(f"{side}Features")
        there = "there" if listed is not None else "not there"
        message = f"{side}Features is {there}, min{side.title()}Version is {version}"
        line.require((listed is not None) == (version >= least), "protocol", path, message, snapshots)
    if reader >= 3:
        lacking = sorted(names["reader"] - names["writer"])
        message = f"{', '.join(lacking)}: among the readerFeatures and not among the writerFeatures"
        line.require(not lacking, "protocol", path, message, snapshots)
    for feature, legacy, what in _list_used(table, state):
        known = names["reader"] | names["writer"]
        is_named = feature in known or f"{feature}-preview" in known
        is_old = legacy is not None and writer < 7 and writer >= legacy
        message = f"{what}, and the protocol (reader {reader}, writer {writer}) does not name {feature}"
        line.require(is_named or is_old, "protocol-feature", path, message, snapshots)


def _list_used(table: DeltaTable, state: State) -> Iterator[tuple[str, int | None, str]]:
    """List the features that a version uses: the name, the writer version that has it unnamed, and where it shows."""
    configuration = read_configuration(state.metadata)
    schema = str(state.metadata.fields.get("schemaString")) if state.metadata is not None else ""
    shows = {
        "deletionVectors": any(action.vector is not None for action in state.files.values()),
        "columnMapping": configuration.get("delta.columnMapping.mode", "none") != "none",
        "checkConstraints": any(name.startswith("delta.constraints.") for name in configuration),
        "domainMetadata": bool(state.domains),
        "clustering": "delta.clustering" in state.domains,
    }
    for feature, said in read_features().items():
        is_set = any(
            str(configuration.get(name)).lower() == on for name, on in said.get("property", {}).items()
        )
        if shows.get(feature) or is_set or ("schema" in said and said["schema"] in schema):
            yield feature, said.get("unnamed"), said["used"]
