"""What a version of a table is: the actions of a checkpoint and of the commits after it, reconciled.

See "Action Reconciliation" of the Delta protocol: the newest protocol and metadata count, the newest transaction of each
application, the newest domain of each name, and of each logical file, which is a path with a deletion vector, the newest
add or remove. Damage is a finding of the version; what is left of it is reconciled all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lakelens.caching import cached_property
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.access import LruCache
from lakelens.formats.delta.actions import Action, ActionFile
from lakelens.formats.delta.context import READER_FEATURES, LogContext
from lakelens.formats.delta.discovery import Checkpoint

Key = tuple[str, str]
_MOST_FILES = 2_000_000  # of states that are kept


@dataclass(slots=True)
class State:
    """One version: live files and tombstones by what identifies them, and what is newest of all other actions.

    `is_whole` is false where something that leads to it could not be read.
    """

    version: int
    files: dict[Key, Action] = field(default_factory=dict)
    tombstones: dict[Key, Action] = field(default_factory=dict)
    metadata: Action | None = None
    protocol: Action | None = None
    transactions: dict[Any, Action] = field(default_factory=dict)
    domains: dict[Any, Action] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None
    is_whole: bool = True

    def copy(self, version: int) -> State:
        """The same state, to go on from."""
        return State(
            version,
            dict(self.files),
            dict(self.tombstones),
            self.metadata,
            self.protocol,
            dict(self.transactions),
            dict(self.domains),
            self.checkpoint,
            self.is_whole,
        )

    def apply(self, action: Action) -> None:
        """Take in one action, newer than all before."""
        match action.kind:
            case "add":
                key = action.key
                self.files[key] = action
                self.tombstones.pop(key, None)
            case "remove":
                key = action.key
                self.files.pop(key, None)
                self.tombstones[key] = action
            case "metaData":
                self.metadata = action
            case "protocol":
                self.protocol = action
            case "txn":
                self.transactions[str(action.fields.get("appId"))] = action
            case "domainMetadata":
                name = str(action.fields.get("domain"))
                if action.fields.get("removed") is True:
                    self.domains.pop(name, None)
                else:
                    self.domains[name] = action


@dataclass(frozen=True, slots=True)
class Segment:
    """The files of the log that lead to a version: a checkpoint, and commits after it (a compacted one for several)."""

    version: int
    checkpoint: Checkpoint | None
    commits: tuple[tuple[str, int], ...]


class Replay:
    """The versions of one table, reconciled when they are asked for; the last ones are kept."""

    def __init__(self, context: LogContext) -> None:
        self.context = context
        self._states: LruCache[int, State] = LruCache(_MOST_FILES, lambda state: len(state.files) + 100)
        self._newest_kept: list[int] = []
        self._broken: set[str] = set()  # checkpoints that could not be read
        self._metadata: dict[int, Action | None] = {}

    @cached_property
    def known_versions(self) -> frozenset[int]:
        """The versions that can be restored."""
        return frozenset(self.context.log.versions)

    def find_segment(self, version: int) -> Segment:
        """Find what leads to a version: the newest checkpoint at or before it that is not known to be broken."""
        log = self.context.log
        for number in sorted((n for n in log.checkpoints if n <= version), reverse=True):
            commits = self._chain(number, version)
            for checkpoint in log.checkpoints[number]:
                if checkpoint.files[0].path not in self._broken and commits is not None:
                    return Segment(version, checkpoint, commits)
        commits = self._chain(-1, version)
        if commits is None:  # what there is of it: the rest is a finding already
            first = min(log.commits, default=version + 1)
            kept = [n for n in range(max(first, 0), version + 1) if n in log.commits]
            commits = tuple((log.commits[n].path, n) for n in kept)
        return Segment(version, None, commits)

    def _chain(self, after: int, version: int) -> tuple[tuple[str, int], ...] | None:
        """List the commits after a version up to another one; None where one is missing and no compacted one has it."""
        log, found, at = self.context.log, [], after + 1
        while at <= version:
            if at in log.commits:
                found.append((log.commits[at].path, at))
                at += 1
                continue
            last = max((last for first, last in log.compacted if first == at and last <= version), default=-1)
            if last < at:
                return None
            found.append((log.compacted[at, last].path, last))
            at = last + 1
        return tuple(found)

    def find_metadata(self, version: int) -> Action | None:
        """Find the metadata of a version in the commits that lead to it: files are not reconciled for it."""
        passed, at = list[int](), version
        while at not in self._metadata:
            info = self.context.log.commits.get(at)
            if info is None:
                self._metadata[at] = self.find_state(at).metadata if at in self.known_versions else None
                break
            passed.append(at)
            path = info.path
            held = self.context.access.attempt(
                partial(self.context.read, path, at), path, ActionFile(), (version,)
            )
            found = [action for action in held.actions if action.kind == "metaData"]
            if found or at - 1 not in self.known_versions:
                self._metadata[at] = found[-1] if found else self.find_state(at).metadata
                break
            at -= 1
        for number in passed:
            self._metadata[number] = self._metadata[at]
        return self._metadata[version]

    def find_state(self, version: int) -> State:
        """Reconcile a version. What cannot be read is a finding of it."""
        return self._states.get(version, lambda: self._reconcile(version))

    def _reconcile(self, version: int) -> State:
        while True:
            segment = self.find_segment(version)
            start = self._find_kept(segment)
            if start is not None:
                state = start.copy(version)
                break
            state = State(version, checkpoint=segment.checkpoint)
            if segment.checkpoint is None or self._take_checkpoint(state, segment.checkpoint):
                break
        done = start.version if start is not None else -1
        for path, number in segment.commits:
            if number > done:
                self._take_commit(state, path, number)
        if segment.checkpoint is None and segment.commits and segment.commits[0][1] > 0:
            first = segment.commits[0][0].rpartition("/")[2]
            if not first.endswith(".compacted.json"):
                state.is_whole = False
        self._newest_kept = [*self._newest_kept[-7:], version]
        if state.protocol is not None:
            self._note_features(state.protocol, version)
        return state

    def _note_features(self, protocol: Action, version: int) -> None:
        """Keep as a finding that the protocol asks readers for what is not known here."""
        named = protocol.fields.get("readerFeatures")
        names = {str(name) for name in named} if isinstance(named, list | tuple) else set()
        asked = ", ".join(sorted(names - READER_FEATURES))
        number = protocol.fields.get("minReaderVersion")
        if type(number) is int and number > 3:
            asked = f"version {number} of the protocol{' and ' if asked else ''}{asked}"
        if asked:
            message = f"readers have to know {asked}, which is not known here: the log is shown, what rows mean may differ"
            self.context.findings.add("warning", "unknown-feature", protocol.path, message, (version,))

    def _find_kept(self, segment: Segment) -> State | None:
        """Find a state that was reconciled before and that a version can go on from, without reading its checkpoint."""
        ends = {number for _, number in segment.commits}
        for version in sorted(set(self._newest_kept), reverse=True):
            if version < segment.version and version in ends:
                return self.find_state(version)
        return None

    def _take_checkpoint(self, state: State, checkpoint: Checkpoint) -> bool:
        """Take in a checkpoint; False, with a finding, for one of which a file cannot be read."""
        context, found = self.context, list[ActionFile]()
        path = checkpoint.files[0].path
        try:
            for part, _ in context.list_parts(checkpoint):
                found.append(context.read(part, checkpoint.version))
            errors = [error for held in found for error in held.errors]
            kinds = {action.kind for held in found for action in held.actions}
            if not {"protocol", "metaData"} <= kinds:
                message = "a checkpoint has the protocol and the metadata of its version"
                raise Corrupt(message, path=path, seen=", ".join(sorted(kinds)) or "no action")
        except LakeError as unread:
            errors = [unread.without_frames()]
            found = []
        for damage in errors:
            context.findings.add_error(damage, path, (state.version,))
        if errors and (not found or self._has_other(checkpoint, state.version)):
            self._broken.add(path)
            return False
        state.is_whole = not errors
        for held in found:
            for action in held.actions:
                state.apply(action)
        return True

    def _has_other(self, checkpoint: Checkpoint, version: int) -> bool:
        """Check whether a version can be reconciled without a checkpoint."""
        log = self.context.log
        others = (
            other
            for number, held in log.checkpoints.items()
            if number <= version and self._chain(number, version) is not None
            for other in held
        )
        usable = any(other is not checkpoint and other.files[0].path not in self._broken for other in others)
        return usable or self._chain(-1, version) is not None

    def _take_commit(self, state: State, path: str, version: int) -> None:
        context = self.context
        try:
            held = context.read(path, version)
        except LakeError as error:
            context.findings.add_error(error, path, (state.version,))
            state.is_whole = False
            return
        for damage in held.errors:
            context.findings.add_error(damage, path, (state.version,))
            state.is_whole = False
        if not held.actions and not held.errors:
            message = "the commit is empty: no action is in it"
            context.findings.add("warning", "empty-commit", path, message, (version,))
        if not path.endswith(".compacted.json"):
            self._note_repeated(held, path, version)
        for action in held.actions:
            state.apply(action)

    def _note_repeated(self, held: ActionFile, path: str, version: int) -> None:
        """Keep as a finding that a commit adds a path twice, which the protocol does not allow."""
        seen: set[str] = set()
        for action in held.actions:
            if action.kind != "add":
                continue
            name = action.key[0]
            if name in seen:
                message = f"{name} is added twice in one commit"
                self.context.findings.add("warning", "repeated-add", path, message, (version,))
            seen.add(name)

    def list_double(self, state: State) -> Iterator[str]:
        """List the paths that are live twice, with different vectors: rows of such a file are read twice."""
        seen: set[str] = set()
        for name, _ in state.files:
            if name in seen:
                yield name
            seen.add(name)
