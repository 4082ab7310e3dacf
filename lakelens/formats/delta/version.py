"""A version of a Delta table as a snapshot: what its commit says, and the files that are live in it.

Times follow "In-Commit Timestamps" of the protocol: the time in the commit where it has one, else when its file was stored.
A copy of a table has lost the latter; then the writer's word counts, `commitInfo.timestamp`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.numbers import read_moment, read_number
from lakelens.codecs.text.objects import find_object, parse_object, read_text
from lakelens.errors import LakeError
from lakelens.formats.delta.action_file import DeltaFile, make_file
from lakelens.formats.delta.actions import Action, ActionFile, clean_path
from lakelens.formats.delta.context import LogContext, make_partitioning, read_configuration, read_schema
from lakelens.formats.delta.live_files import LiveFiles
from lakelens.formats.delta.manifests import LogFile, LogSegment
from lakelens.formats.delta.replay import Replay, State
from lakelens.formats.delta.vectors import describe_vectors, place_vector
from lakelens.model.collections import Document
from lakelens.model.comparison import WholeComparison
from lakelens.model.datafile import DataFile, IndexFile
from lakelens.model.facts.traits import Amount, Figures
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import ManifestLists
from lakelens.model.schema import PartitionSpec, Schema
from lakelens.model.snapshot import Snapshot, SnapshotAnswers

if TYPE_CHECKING:
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.table import Table

#: A commit is stored soon after its writer has looked at the clock; what is further apart was copied since.
_SOON = timedelta(minutes=10)
_COUNTED = 1_000  # live files whose statistics are read for a card


class DeltaSnapshot(Snapshot):
    """One version. `operation`, `isolation_level`, `user_metadata` and so on are what its commit says of itself: it is read
    when one of them is asked for.

    `tombstones` are the files that were removed and may not be deleted yet; `transactions` and `domains` the newest of
    each application and name; `protocol` what readers and writers have to know.
    """

    id: int

    def __init__(self, table: Table, context: LogContext, replay: Replay, version: int) -> None:
        self._table, self.context, self._replay = table, context, replay
        self.id = version
        log = context.log
        self.parent_id = version - 1 if version - 1 in replay.known_versions else None
        commit = log.commits.get(version)
        first = log.checkpoints.get(version)
        found = [commit] if commit is not None else list(first[0].files) if first else []
        found += [info for (_, last), info in log.compacted.items() if last == version]
        #: its commit; where that was cleaned, the checkpoint of it, or the compacted commits that end with it
        self.path = found[0].path if found else context.folder
        self._source = context.source()

    @cached_property
    def commit(self) -> ActionFile:
        """The actions of its commit; none where that is gone. What cannot be read is a finding."""
        held = self._replay.read_commit(self.id)
        for error in held.errors:
            self.context.findings.add_error(error, self.path or "", (self.id,))
        return held

    @cached_property
    def commit_info(self) -> Mapping[str, Any]:
        """What the writer says of its commit: free, but for `operation`, `operationMetrics` and the like."""
        return self.commit.find("commitInfo") or {}

    @property
    def isolation_level(self) -> str | None:
        """How the commit was isolated from others."""
        return read_text(self.commit_info, "isolationLevel")

    @property
    def engine_info(self) -> str | None:
        """Which engine wrote the commit."""
        return read_text(self.commit_info, "engineInfo")

    @property
    def user_metadata(self) -> str | None:
        """What the writer's user added to the commit."""
        return read_text(self.commit_info, "userMetadata")

    @property
    def operation_metrics(self) -> Mapping[str, Any]:
        """What the writer counted."""
        return find_object(self.commit_info.get("operationMetrics"))

    @property
    def operation_parameters(self) -> Mapping[str, Any]:
        """What the operation was asked to do."""
        return find_object(self.commit_info.get("operationParameters"))

    def _find_time(self) -> datetime | None:
        """Find when it was committed, as time travel counts; see the head of this module."""
        exact = read_moment(self.commit_info, "inCommitTimestamp")
        if exact is not None:
            return exact
        stored, said = self.context.times.get(self.id), read_moment(self.commit_info, "timestamp")
        info = self.context.log.commits.get(self.id)
        written = (
            None if info is None else info.modified
        )  # before it was made later than the commit before it
        if said is None or (written is not None and abs(written - said) <= _SOON):
            return stored
        if stored is not None:
            message = "commits are stored at other times than writers say: the table was copied; times are the writers'"
            self.context.findings.add("note", "modification-times", self.context.folder, message)
        return said

    @cached_property
    def state(self) -> State:
        """Its reconciled actions."""
        return self._replay.find_state(self.id)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """What readers and writers have to know to use it."""
        return {} if self.state.protocol is None else self.state.protocol.fields

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The table properties at the time."""
        return read_configuration(self.metadata)

    @property
    def transactions(self) -> Mapping[str, Mapping[str, Any]]:
        """The newest transaction of each application."""
        return {name: action.fields for name, action in self.state.transactions.items()}

    @property
    def domains(self) -> Mapping[str, Mapping[str, Any]]:
        """The newest domain metadata of each name, those of the system among it."""
        return {name: action.fields for name, action in self.state.domains.items()}

    @cached_property
    def clustering(self) -> tuple[tuple[str, str], ...]:
        """The clustering columns, each by its name in files and today's; none where the table is not clustered."""
        domain = find_object(self.domains.get("delta.clustering", {}).get("configuration"))
        named = domain.get("clusteringColumns")
        known = {".".join(leaf.physical): leaf.name for leaf in self.context.columns.leaves}
        columns = [names for names in named if isinstance(names, list)] if isinstance(named, list) else []
        listed = (".".join(map(str, names)) for names in columns)
        return tuple((name, known.get(name, name)) for name in listed)

    @property
    def metadata(self) -> Action | None:
        """The metadata at the time; None where no commit that leads here has any that can be read."""
        found = self._replay.find_metadata(self.id)
        return self.state.metadata if found is None else found

    def _read_schema(self) -> Schema | None:
        """Read the columns at the time; None, with a finding, where they cannot be read."""
        metadata = self.metadata
        if metadata is None:
            return None
        nothing: Schema | None = None
        return self.context.access.attempt(
            lambda: read_schema(metadata).schema, metadata.path, nothing, (self.id,)
        )

    @cached_property
    def tombstones(self) -> FileSet:
        """The files that were removed and are still named, for readers of older versions and for VACUUM."""
        return FileSet(
            lambda: self._make_files(self.state.tombstones.values()), lambda: self.context.file_columns
        )

    @cached_property
    def change_files(self) -> FileSet:
        """The change data files of its commit."""
        return FileSet(
            lambda: self._make_files([one for one in self.commit.actions if one.kind == "cdc"]),
            lambda: self.context.file_columns,
        )

    def _make_files(self, actions: Any) -> list[DataFile]:
        found: list[DataFile] = []
        for action in actions:
            try:
                found.append(make_file(action, self.context))
            except LakeError as error:
                self.context.findings.add_error(error, action.path, (self.id,))
        return found

    def _open_files(self) -> FileSet:
        def load() -> list[DataFile]:
            self._replay.note_doubles(self.id, (path for path, _ in self.state.files))
            return self._make_files(self.state.files.values())

        return FileSet(load, lambda: self.context.file_columns, lambda: LiveFiles(self))

    def note_doubles(self, paths: Iterable[str]) -> None:
        """Keep as findings which of the recorded paths of its files are live twice."""
        self._replay.note_doubles(self.id, map(clean_path, paths))

    def _name_lists(self) -> ManifestLists[LogSegment]:
        """Name what leads to it: the checkpoint's files, and the commits after it."""
        context, lists = self.context, []
        has_checkpoint = self._replay.find_segment(self.id).checkpoint is not None
        checkpoint = self.state.checkpoint if has_checkpoint else None
        segment = self._replay.find_segment(self.id)  # without a checkpoint that turned out to be broken
        if checkpoint is None and not segment.commits and self.id in context.log.checkpoints:
            checkpoint = context.log.checkpoints[self.id][0]  # damaged, and all that there is
        if checkpoint is not None:
            error: LakeError | None = None
            parts: Sequence[tuple[str, int | None]] = [(info.path, info.size) for info in checkpoint.files]
            try:
                parts = context.list_parts(checkpoint)
            except LakeError as damage:
                error = damage.without_frames()
            own = {info.path for info in checkpoint.files}
            files = [
                LogFile(context, path, checkpoint.version, "checkpoint" if path in own else "sidecar", size)
                for path, size in parts
            ]
            lists.append(LogSegment(context, "checkpoint", tuple(files), error))
        after = -1 if checkpoint is None else checkpoint.version
        named = self._replay.log_files
        files = [named[path] for path, version in segment.commits if version > after]
        lists.append(LogSegment(context, "commits", tuple(files)))
        return ManifestLists(lists)

    def _list_index_files(self) -> list[IndexFile]:
        """List the files of deletion vectors, each with the data files whose rows its vectors delete."""
        context, held = self.context, dict[str, list[Any]]()
        for action in self.state.files.values():
            if action.vector is None:
                continue
            try:
                place = place_vector(action, context)
            except LakeError as error:
                context.findings.add_error(error, action.path, (self.id,))
                continue
            held.setdefault(place.path, []).append((action, place))
        return [describe_vectors(context, path, vectors) for path, vectors in sorted(held.items())]

    def _map_vectors(self) -> dict[str, DeleteMatch]:
        found = {}
        for file in self.files:
            for match in file.deletes:
                found[file.recorded_path] = match
        return found

    def _make_partitioning(self) -> PartitionSpec:
        return make_partitioning(self.metadata, self.schema)

    def _count_figures(self) -> Figures:
        return self._count(self.commit.actions)

    def _count_effects(self) -> Figures:
        return self._count(self._replay.list_effective(self.id))

    def _count(self, actions: Iterable[Action]) -> Figures:
        """Count what is added and removed; a file whose vector alone is another one is neither added nor removed."""
        added: dict[str, DeltaFile] = {}
        removed: dict[str, DeltaFile] = {}
        for action in actions:
            if action.kind in ("add", "remove"):
                try:
                    file = make_file(action, self.context)
                except LakeError:
                    continue
                (added if action.kind == "add" else removed)[file.logical_path] = file
        # rows cannot appear without a change of data: what is then added and nothing removed was there, with other facts
        known = set() if removed else {name for name, file in added.items() if file.data_change is False}
        kept = added.keys() & removed.keys()
        deleted = sum((added[name].deleted_rows or 0) - (removed[name].deleted_rows or 0) for name in kept)
        new = [file for name, file in added.items() if name not in kept | known]
        gone = [file for name, file in removed.items() if name not in kept]
        if not self.context.log.commits.get(self.id):
            return Figures()
        rows = _add_up(file.record_count for file in new)
        return Figures(
            rows=rows if self.id == 0 and not any(file.deleted_rows for file in new) else None,
            added_files=len(new),
            removed_files=len(gone),
            added_rows=rows,
            removed_rows=_add_up(file.record_count for file in gone),
            added_bytes=_add_up(file.size_bytes for file in new),
            removed_bytes=_add_up(file.size_bytes for file in gone),
            deleted=Amount(max(deleted, 0), max(deleted, 0)) if kept else None,
        )

    @cached_property
    def checksum(self) -> Mapping[str, Any]:
        """What the checksum of the version (`.crc`) records: numFiles, tableSizeBytes and so on; empty where it has none.

        One that cannot be read is a finding.
        """
        info = self.context.log.checksums.get(self.id)
        if info is None:
            return {}
        nothing: Mapping[str, Any] = {}
        read = partial(parse_object, what="the checksum", path=info.path)
        return self.context.access.attempt(
            lambda: read(self.context.store.read(info.path)), info.path, nothing, (self.id,)
        )

    def _know_figures(self) -> Figures:
        """Add to the figures of its commit what is known of its files: by its actions, else by its checksum.

        Their rows are counted where they are few, and no vector deletes any of them.
        """
        state = self.state
        if not state.is_whole:
            return self.figures
        if state.load_files is not None:
            names = ("numFiles", "tableSizeBytes")
            files, size = (read_number(self.checksum, name) for name in names)
            return replace(self.figures, files=files, size_bytes=size)
        actions = state.files.values()
        size = _add_up(read_number(action.fields, "size") for action in actions)
        rows = None
        if len(actions) <= _COUNTED and all(action.vector is None for action in actions):
            rows = _add_up(file.record_count for file in self._make_files(actions))
        return replace(self.figures, files=len(actions), size_bytes=size, rows=rows)

    def _gather_actions(self) -> Document:
        """Gather the actions of its commit that are not about files, each under its kind."""
        found: dict[str, Any] = {}
        for action in self.commit.actions:
            if action.kind in ("add", "remove", "cdc"):
                continue
            if action.kind in ("txn", "domainMetadata"):
                found.setdefault(action.kind, []).append(dict(action.fields))
            else:
                found[action.kind] = dict(action.fields)
        return Document(found, "snapshot")

    def _write_summary(self) -> Document:
        """Write what the commit says of itself as text: its metrics, who wrote it, and how many actions of a kind it has."""
        apart = ("operationMetrics", "operationParameters", "timestamp", "operation")
        own = {name: value for name, value in self.commit_info.items() if name not in apart}
        parts = ((own, ""), (self.operation_metrics, ""), (self.operation_parameters, "parameter "))
        said = {
            f"{prefix}{name}": value if isinstance(value, str) else json.dumps(value, default=str)
            for part, prefix in parts
            for name, value in part.items()
        }
        counted = Counter(action.kind for action in self.commit.actions)
        said |= {f"{kind} actions": str(count) for kind, count in counted.items() if kind != "commitInfo"}
        return Document(said, "summary")

    late = MappingProxyType(
        {
            "committed_at": _find_time,
            "operation": lambda self: read_text(self.commit_info, "operation"),
            "raw": _gather_actions,
            # the version that set its schema, as far as the log is kept
            "schema_id": lambda self: None if self.metadata is None else self.metadata.version,
            "summary": _write_summary,
        }
    )
    answers = SnapshotAnswers(
        files=_open_files,
        schema=_read_schema,
        # a file of which only the vector, or what is recorded of it, is another is the same file
        compare_files=lambda before, after: WholeComparison(before.files, after.files, name=clean_path),
        manifest_lists=_name_lists,
        partitioning=_make_partitioning,
        index_files=_list_index_files,
        figures=_count_figures,
        effects=_count_effects,
        known_figures=_know_figures,
        deletion_vectors=_map_vectors,
    )


def _add_up(numbers: Any) -> int | None:
    found = list(numbers)
    return None if None in found else sum(found)
