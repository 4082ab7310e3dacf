"""What a version of a table is: the actions of a checkpoint and of the commits after it, reconciled.

See "Action Reconciliation" of the Delta protocol: the newest protocol and metadata count, the newest transaction of each
application, the newest domain of each name, and of each logical file, which is a path with a deletion vector, the newest
add or remove. Damage is a finding of the version; what is left of it is reconciled all the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from typing import Any

from lakelens.caching import cached_property
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.access import LruCache
from lakelens.formats.delta.actions import Action, ActionFile
from lakelens.formats.delta.context import CATALOG_FEATURES, READER_FEATURES, LogContext
from lakelens.formats.delta.discovery import Checkpoint
from lakelens.formats.delta.manifests import LogFile
from lakelens.io.ahead import fetch, fetch_along
from lakelens.lazy import dataclass

Key = tuple[str, str]
_MOST_FILES = 2_000_000  # of states that are kept
_LARGE = 256 * 1024  # bytes of a checkpoint whose files are read when they are asked for


class State:
    """One version: live files and tombstones by what identifies them, and what is newest of all other actions.

    Of a large checkpoint the files are read when they are first asked for. `is_whole` is false where something that leads
    to the version could not be read, as far as it was read.
    """

    def __init__(self, version: int, checkpoint: Checkpoint | None = None) -> None:
        self.version = version
        self.checkpoint = checkpoint
        self.metadata: Action | None = None
        self.protocol: Action | None = None
        self.transactions: dict[Any, Action] = {}
        self.domains: dict[Any, Action] = {}
        self.is_whole = True
        #: reads live files and tombstones where that was not done yet
        self.load_files: Callable[[State], None] | None = None
        self._files: dict[Key, Action] = {}
        self._tombstones: dict[Key, Action] = {}

    @property
    def files(self) -> dict[Key, Action]:
        """The live files, in the order in which they were added."""
        self._load()
        return self._files

    @property
    def tombstones(self) -> dict[Key, Action]:
        """The files that were removed and are still named, in the order in which that was done."""
        self._load()
        return self._tombstones

    @property
    def kept_count(self) -> int:
        """How many files are in memory."""
        return len(self._files)

    def _load(self) -> None:
        if self.load_files is not None:
            load, self.load_files = self.load_files, None
            try:
                load(self)
            except BaseException:
                self.load_files = load  # an interrupt: the next one who asks begins again
                raise

    def copy(self, version: int) -> State:
        """The same state, to go on from."""
        made = State(version, self.checkpoint)
        made.metadata, made.protocol, made.is_whole = self.metadata, self.protocol, self.is_whole
        made.transactions, made.domains = dict(self.transactions), dict(self.domains)
        made.load_files = self.load_files
        made.take_files(self)
        return made

    def take_files(self, other: State) -> None:
        """Take over the files of another state, as far as these are in memory."""
        self._files, self._tombstones = dict(other._files), dict(other._tombstones)

    def apply(self, action: Action) -> None:
        """Take in one action, newer than all before; one about files only where files are not read later."""
        match action.kind:
            case "add" | "remove":
                if self.load_files is not None:
                    return
                key = action.key
                self._files.pop(key, None)
                self._tombstones.pop(key, None)
                (self._files if action.kind == "add" else self._tombstones)[key] = action
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
        self._states: LruCache[int, State] = LruCache(_MOST_FILES, lambda state: state.kept_count + 100)
        self._newest_kept: list[int] = []
        self._broken: set[str] = set()  # checkpoints that could not be read
        self._metadata: dict[int, Action | None] = {}
        self._walked: State | None = None
        self._idle: set[tuple[int, int]] = set()  # by version and position

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
            commits = tuple((path, number) for path, number in self._commits if number <= version)
        return Segment(version, None, commits)

    def _chain(self, after: int, version: int) -> tuple[tuple[str, int], ...] | None:
        """List the commits after a version up to another one; None where one is missing and no compacted one has it."""
        log, found, at = self.context.log, [], after + 1
        if not log.compacted:
            start = bisect_left(self._commits, at, key=itemgetter(1))
            chain = self._commits[start : bisect_right(self._commits, version, key=itemgetter(1))]
            return chain if len(chain) == max(0, version - after) else None
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

    @cached_property
    def _commits(self) -> tuple[tuple[str, int], ...]:
        return tuple((info.path, number) for number, info in sorted(self.context.log.commits.items()))

    @cached_property
    def log_files(self) -> dict[str, LogFile]:
        """The commits, and the compacted ones, by their paths: each is one object, however many versions it leads to."""
        log = self.context.log
        named = [(info, version, "commit") for version, info in log.commits.items()]
        named += [(info, last, "compacted") for (_, last), info in log.compacted.items()]
        return {
            info.path: LogFile(self.context, info.path, version, kind, info.size)
            for info, version, kind in named
        }

    def find_metadata(self, version: int) -> Action | None:
        """Find the metadata of a version in the commits that lead to it: files are not reconciled for it."""
        passed, at = list[int](), version
        while at not in self._metadata:
            if at not in self.context.log.commits:
                self._metadata[at] = self.find_state(at).metadata if at in self.known_versions else None
                break
            passed.append(at)
            found = [action for action in self.read_commit(at, version).actions if action.kind == "metaData"]
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

    def list_effective(self, version: int) -> list[Action]:
        """List the actions of a commit without those that add what is there already, or remove what is gone.

        All commits before it are read, a large checkpoint is not: what that alone names counts as new.
        """
        state, at = (
            self._walked,
            min(self.known_versions) if self._walked is None else self._walked.version + 1,
        )
        for number in range(at, version + 1):
            held = self.read_commit(number)
            if state is None or not held.actions:  # where it was cleaned, or is damaged
                known = self.find_state(number) if number in self.known_versions else State(number)
                state = State(number) if known.load_files else known.copy(number)
                continue
            for action in held.actions:
                if action.kind in ("add", "remove"):
                    if action.key in (state.files if action.kind == "add" else state.tombstones):
                        self._idle.add((number, action.position))
                    state.apply(action)
            state.version = number
        self._walked = state
        return [one for one in self.read_commit(version).actions if (version, one.position) not in self._idle]

    def read_commit(self, version: int, asked: int | None = None) -> ActionFile:
        """Read a commit; nothing where it is gone, or, with a finding of the version that was asked for, is damaged."""
        info, nothing = self.context.log.commits.get(version), ActionFile()
        if info is None:
            return nothing
        read = partial(self.context.read, info.path, version)
        return self.context.access.attempt(read, info.path, nothing, (version if asked is None else asked,))

    def _reconcile(self, version: int, *, at_once: bool = False) -> State:
        """Reconcile a version; `at_once` with its files, however large its checkpoint is."""
        while True:
            segment = self.find_segment(version)
            start = self._find_kept(segment, at_once)
            if start is not None:
                state = start.copy(version)
                break
            state = State(version, segment.checkpoint)
            if segment.checkpoint is None:
                break
            if not at_once and sum(info.size for info in segment.checkpoint.files) >= _LARGE:
                state.load_files = self._load_files
            if self._take_checkpoint(state, segment.checkpoint):
                break
        done = start.version if start is not None else -1
        commits = [(path, number) for path, number in segment.commits if number > done]
        for path, number in fetch_along(
            self.context.store, commits, lambda pair: (pair[0], self.log_files[pair[0]].size_bytes or 0)
        ):
            self._take_commit(state, path, number)
        if segment.checkpoint is None:
            first, number = segment.commits[0] if segment.commits else ("", 1)
            state.is_whole &= number == 0 or first.endswith(".compacted.json")
        if not at_once:
            self._newest_kept = [*self._newest_kept[-7:], version]
        if state.protocol is not None:
            self._note_features(state.protocol, version)
        else:
            message = "the log has no protocol that can be read: what readers have to know is not known"
            self.context.findings.add("warning", "no-protocol", self.context.folder, message, (version,))
        return state

    def _load_files(self, state: State) -> None:
        """Read the files of a version of which all else is known; from another checkpoint where its own is damaged."""
        whole = self._reconcile(state.version, at_once=True)
        state.take_files(whole)
        state.checkpoint, state.is_whole = whole.checkpoint, state.is_whole and whole.is_whole

    def _note_features(self, protocol: Action, version: int) -> None:
        """Keep as a finding that the protocol asks readers for what is not known here."""
        named = protocol.fields.get("readerFeatures")
        names = {str(name) for name in named} if isinstance(named, list | tuple) else set()
        asked = ", ".join(sorted(names - READER_FEATURES - CATALOG_FEATURES))
        if names & CATALOG_FEATURES:
            message = "a catalog decides which commits there are: staged ones, of which it alone knows, are not read"
            self.context.findings.add("note", "catalog-managed", protocol.path, message, (version,))
        number = protocol.fields.get("minReaderVersion")
        if type(number) is int and number > 3:
            asked = f"version {number} of the protocol{' and ' if asked else ''}{asked}"
        if asked:
            message = f"readers have to know {asked}, which is not known here: the log is shown, what rows mean may differ"
            self.context.findings.add("warning", "unknown-feature", protocol.path, message, (version,))

    def _find_kept(self, segment: Segment, at_once: bool) -> State | None:
        """Find a state that was reconciled before and that a version can go on from, without reading its checkpoint."""
        ends = {number for _, number in segment.commits}
        for version in sorted(set(self._newest_kept), reverse=True):
            if version < segment.version and version in ends:
                state = self.find_state(version)
                if not at_once or state.load_files is None:
                    return state
        return None

    def _take_checkpoint(self, state: State, checkpoint: Checkpoint) -> bool:
        """Take in a checkpoint; False, with a finding, for one of which a file cannot be read."""
        context, found, errors = self.context, list[ActionFile](), list[LakeError]()
        path = checkpoint.files[0].path
        try:
            # a sidecar has nothing else than files
            read = context.read if state.load_files is None else context.read_others
            parts = [info.path for info in checkpoint.files]
            if state.load_files is None:
                parts = [part for part, _ in context.list_parts(checkpoint)]
                fetch(context.store, documents=parts)
            for part in parts:
                try:
                    found.append(read(part, checkpoint.version))
                    errors += found[-1].errors
                except LakeError as unread:
                    errors.append(unread.without_frames())
            kinds = {action.kind for held in found for action in held.actions}
            if not errors and not {"protocol", "metaData"} <= kinds:
                message = "a checkpoint has the protocol and the metadata of its version"
                raise Corrupt(message, path=path, seen=", ".join(sorted(kinds)) or "no action")
        except LakeError as unread:
            errors, found = [unread.without_frames()], []
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
        """Keep as a finding that a commit adds a path twice, or removes what it adds: the protocol allows neither."""
        seen: set[str] = set()
        gone = {action.key for action in held.actions if action.kind == "remove"}
        for action in held.actions:
            if action.kind != "add":
                continue
            name, vector = action.key
            if name in seen or (name, vector) in gone:
                how = "twice in" if name in seen else "and removed, of which the later counts, by"
                message = f"{name} is added {how} one commit"
                self.context.findings.add("warning", "repeated-add", path, message, (version,))
            seen.add(name)

    def note_doubles(self, version: int, paths: Iterable[str]) -> None:
        """Keep as findings the paths that are live twice, with different vectors: rows of such a file are read twice."""
        seen: set[str] = set()
        for name in paths:
            if name in seen:
                message = f"{name} is live twice, with different deletion vectors"
                commit = self.context.log.commits.get(version)
                path = self.context.folder if commit is None else commit.path
                self.context.findings.add("error", "live-twice", path, message, (version,))
            seen.add(name)
