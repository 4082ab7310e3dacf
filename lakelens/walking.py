"""The walk through a warehouse: what each directory is, a table, a view, none of these, or one that cannot be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import TypeAlias

from lakelens import options
from lakelens.errors import LakeError, NotATable
from lakelens.formats.base import Format, ViewFound
from lakelens.formats.registry import describe_candidate, detect_at, find_rule
from lakelens.io.ahead import Answers, fetch
from lakelens.io.local import LocalStore
from lakelens.io.store import ObjectInfo, Store
from lakelens.io.tracing import ReadCounts, TracingStore
from lakelens.io.waves import is_far
from lakelens.lazy import dataclass
from lakelens.model.storage import Evidence
from lakelens.model.warehouse.catalog import Folder, FoundView

# directories that are looked at to say that a directory, which is no table, holds some: here, and where each is a request
_LOOKED_AT, _LOOKED_AT_FAR = 200, 16


@dataclass(frozen=True, slots=True)
class Detected:
    """A table: where it is, why it is one of its format, and what a store behind a network has answered to know it."""

    store: Store
    path: str
    format: Format
    evidence: Evidence
    answers: Answers | None = None

    def count_listed(self) -> int:
        """Count how many entries the listings among the answers have."""
        count = 0
        for question, answer in (self.answers or {}).items():
            if question[0] == "list":
                with suppress(LakeError):
                    count += len(answer())
        return count


@dataclass(frozen=True, slots=True)
class _Directory:
    """One that is to be looked at: what a listing says of it, unless it is the root, and how deep it is."""

    path: str
    level: int
    known: ObjectInfo | None = None


Seen: TypeAlias = Detected | FoundView | LakeError | Folder


class TableWalk:
    """What each directory below a path is; a table's own directories are not walked.

    Here one directory is looked at after the other, in path order. Where each request waits for a network the directories
    of one level are looked at together, each at first by its listing alone. `done` and `known` count directories, `counts`
    what was read of a store behind a network. With `most` no more are looked at.
    """

    def __init__(self, store: Store, path: str, depth: int, most: int | None = None) -> None:
        self.store, self.depth, self.most = store, depth, most
        self.counts = ReadCounts()
        self.done, self.known = 0, 1
        self._is_far = is_far(store)
        self._pending = deque([_Directory(path, 0)])

    def __iter__(self) -> Iterator[Seen]:
        while self._pending and (self.most is None or self.done < self.most):
            # the directories that are looked at next: all that are known of a store behind a network
            most = len(self._pending) if self._is_far else 1
            if self.most is not None:
                most = min(most, self.most - self.done)
            batch = [self._pending.popleft() for _ in range(most)]
            below: list[_Directory] = []
            jobs = [partial(self._judge, directory) for directory in batch]
            for result in (
                self.counts.waves.run_together(jobs, options.max_connections) if self._is_far else iter(jobs)
            ):
                seen, children = result()
                self.done += 1
                self.known += len(children)
                below += children
                yield seen
            self._pending.extendleft(reversed(below))

    def _judge(self, directory: _Directory) -> tuple[Seen, list[_Directory]]:
        """Judge what one directory is, and those below it that are to be looked at then."""
        here, level = directory.path, directory.level
        # what is read is kept for this directory alone: a table that is opened later asks again
        is_root = directory.known is None
        traced = TracingStore(self.store, self.counts, ahead=is_root) if self._is_far else None
        if traced is not None:
            traced.keep_by(find_rule())
        answers: Answers = {}
        if directory.known is not None:
            answers["info", here] = partial(getattr, directory, "known")
        try:
            with nullcontext() if traced is None else traced.moment(answers):
                store = traced or self.store
                if self._is_far and directory.known is None:
                    fetch(store, infos=[directory.path], listings=[directory.path])
                place = describe_candidate(store, directory.path, known=directory.known, ahead=False)
                found = None
                with suppress(NotATable):
                    found = Detected(self.store, place.path, *detect_at(place), answers or None)
        except ViewFound as view:
            return FoundView(here, view.format, view.evidence, view.opener), []
        except LakeError as error:
            return error, []
        if found is not None:
            return found, []
        children = place.children.values()
        below = [child for child in children if child.is_dir and not child.name.startswith(("_", "."))]
        files, is_deepest = sum(not child.is_dir for child in children), level >= self.depth
        known = [_Directory(child.path, level + 1, child if self._is_far else None) for child in below]
        return Folder(here, files, is_deepest), [] if is_deepest else known


def count_tables(store: Store, path: str) -> str:
    """Count how many tables a directory holds, in words; empty for none in the first directories."""
    most = _LOOKED_AT if isinstance(store, LocalStore) else _LOOKED_AT_FAR
    walk = TableWalk(store, path, 4, most)
    count = sum(isinstance(seen, Detected) for seen in walk)
    least = "at least " if walk.known > walk.done else ""
    return f"{least}{count} table{'' if count == 1 else 's'}" if count else ""
