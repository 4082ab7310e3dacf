"""A Delta table: its log, its versions, and what is true of it now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from lakelens.caching import cached_property
from lakelens.errors import Corrupt, LakeError, Missing, Unsupported
from lakelens.formats.access import WeakLruCache
from lakelens.formats.base import OpenRequest, name_table
from lakelens.formats.delta import FORMAT
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.context import LogContext, read_schema
from lakelens.formats.delta.discovery import TICK, guess_role, is_hidden
from lakelens.formats.delta.replay import Replay
from lakelens.formats.delta.vectors import place_vector
from lakelens.formats.delta.version import DeltaSnapshot
from lakelens.io.store import walk
from lakelens.model.collections import Document, Items
from lakelens.model.facts.traits import Traits, Vocabulary
from lakelens.model.schema import Schema
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table, TableSource

_TIMES = "createdTime timestamp inCommitTimestamp modificationTime deletionTimestamp lastUpdated"
VOCABULARY = Vocabulary(
    dict.fromkeys(_TIMES.split(), "time"),
    free=frozenset({"configuration", "partitionValues", "tags", "operationParameters", "operationMetrics"}),
)


class DeltaTable(Table):
    """A table whose log says which files it has. Opening it lists the log and reads none of its commits.

    `snapshots` are the versions that can be restored, by their numbers.
    """

    vocabulary = VOCABULARY

    def __init__(self, request: OpenRequest) -> None:
        if request.branch is not None:
            raise Unsupported("a Delta table has no branches", path=request.path)
        context = self._context = LogContext(request.store, request.path.rstrip("/"))
        versions = context.log.versions
        self._versions = versions if request.version is None else _cut(versions, request)
        self._replay = Replay(context)
        context.read_metadata = self._find_metadata
        self._make = WeakLruCache(lambda version: DeltaSnapshot(self, context, self._replay, version))
        super().__init__(
            TableSource(
                format="delta",
                driver=FORMAT,
                location=context.root,
                name=request.name or name_table(context.root),
                evidence=request.evidence,
                access=context.access,
                catalog=request.catalog,
                traits=self._describe_traits,
                format_version=self._find_reader_version,
                schema=lambda: context.columns.schema,
                schemas=self._list_schemas,
                partitioning=lambda: context.partitioning,
                properties=lambda: context.configuration,
                metadata=self._gather_metadata,
                columns=lambda: context.file_columns,
                snapshots=lambda: Items(self._versions, self._make),
                current=lambda: self.newest,
                count=lambda: len(self._versions),
                has=lambda version: version in self._known,
                find=lambda version: self._make(version) if version in self._known else None,
                find_at=self._find_at,
                list_files=self._list_objects,
                mark=self._mark_log,
            )
        )

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self._versions)

    @property
    def newest(self) -> DeltaSnapshot:
        """The newest version, as what it is."""
        return self._make(self._versions[-1])

    def _find_metadata(self) -> Action | None:
        return self.newest.state.metadata

    def _find_at(self, moment: datetime) -> DeltaSnapshot | None:
        """Find the newest version that is not after a moment, where a later version counts as later, as engines have it."""
        found, newest = None, None
        for version in self._versions:
            snapshot = self._make(version)
            time = snapshot.committed_at
            if time is not None:
                newest = time if newest is None or time > newest else newest + TICK
                if newest > moment:
                    break
                found = snapshot
        return found

    def _mark_log(self) -> tuple[str, Any]:
        newest, log = self._versions[-1], self._context.log
        return f"version {newest}", (newest, len(log.commits), len(log.checkpoints))

    def _describe_traits(self) -> Traits:
        return Traits(
            "Delta", "Delta Lake table", has_branches=False, has_sequence_numbers=False, keeps_log=True
        )

    def _find_reader_version(self) -> int | None:
        found = self.newest.protocol.get("minReaderVersion")
        return found if type(found) is int else None

    @cached_property
    def features(self) -> dict[str, tuple[str, ...]]:
        """The features that the protocol names: what readers, and what writers have to know."""
        protocol = self.newest.protocol
        found = {}
        for side in ("reader", "writer"):
            named = protocol.get(f"{side}Features")
            found[side] = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
        return found

    @cached_property
    def _hides(self) -> Callable[[str], bool]:
        """Whether engines leave a file alone, by its relative path: see `is_hidden`."""
        columns = {field.source_name for field in self.partitioning.fields}
        mirrors = self._context.configuration.get("delta.universalFormat.enabledFormats", "")
        return lambda path: is_hidden(path, columns, "iceberg" in mirrors)

    def _list_schemas(self) -> Iterator[Schema]:
        """List the schemas that versions have had, each by the version that set it."""
        context, log = self._context, self._context.log
        seen: set[str] = set()
        for version in self._versions:
            actions = self._make(version).commit.actions if version in log.commits else ()
            found = [action for action in actions if action.kind == "metaData"]
            if not seen and not found and (version not in log.commits or version == self._versions[0]):
                found = [action for action in [self._make(version).state.metadata] if action]
            for action in found:
                text = str(action.fields.get("schemaString"))
                if text in seen:
                    continue
                seen.add(text)
                try:
                    yield read_schema(action).schema
                except LakeError as error:
                    context.findings.add_error(error, action.path, (version,))

    def _gather_metadata(self) -> Document:
        """Gather what is newest of the actions that are not about files, each under its kind."""
        state, found = self.newest.state, dict[str, Any]()
        for kind, action in (("protocol", state.protocol), ("metaData", state.metadata)):
            if action is not None:
                found[kind] = dict(action.fields)
        if state.transactions:
            found["txn"] = [dict(action.fields) for action in state.transactions.values()]
        if state.domains:
            found["domainMetadata"] = [dict(action.fields) for action in state.domains.values()]
        return Document(found, "metadata", VOCABULARY)

    def _list_objects(self) -> Iterator[StoredFile]:
        """List every object below the table's directory with its role, and what of the newest version names it."""
        context, state = self._context, self.newest.state
        by: dict[str, dict[str, None]] = {}
        for actions, word in ((state.files, "live"), (state.tombstones, "tombstone")):
            for (path, _), action in actions.items():
                places = [context.locate(path)]
                if action.vector is not None:
                    with suppress(LakeError):
                        places.append(place_vector(action, context).path)
                for place in places:
                    by.setdefault(place, {}).setdefault(f"version {state.version} ({word})")
        for version in self._versions:
            if version in context.log.commits:
                by.setdefault(context.log.commits[version].path, {}).setdefault(f"version {version}")
        for version, checkpoints in context.log.checkpoints.items():
            for checkpoint in checkpoints:
                own: list[tuple[str, int | None]] = [(info.path, info.size) for info in checkpoint.files]
                parts = context.access.attempt(partial(context.list_parts, checkpoint), own[0][0], own)
                for path, _ in parts:
                    by.setdefault(path, {}).setdefault(f"checkpoint of version {version}")
        for info in walk(context.store, context.root):
            if not info.is_dir:
                below, named = info.path.removeprefix(f"{context.root}/"), tuple(by.get(info.path, ()))
                yield StoredFile(info.path, below, info.size, guess_role(below), named, info.modified)


def _cut(versions: tuple[int, ...], request: OpenRequest) -> tuple[int, ...]:
    """The versions up to the one that was asked for. Raises `Missing`."""
    try:
        wanted = int(str(request.version))
    except ValueError:
        raise Unsupported(
            f"{request.version!r} is no version of a Delta table", path=request.path, hint="a number"
        ) from None
    if wanted not in versions:
        near = f"there are {versions[0]} to {versions[-1]}" if versions else "no version can be restored"
        raise Missing(f"no version {wanted}", path=request.path, hint=near)
    return tuple(version for version in versions if version <= wanted)


def open_delta(request: OpenRequest) -> DeltaTable:
    """Open what detection found. Raises `Corrupt` for a log of which no version can be restored."""
    table = DeltaTable(request)
    if not table.snapshot_count:
        reasons = "; ".join(finding.message for finding in table.findings) or "no version can be restored"
        message = f"no version of the table can be restored: {reasons}"
        raise Corrupt(message, path=f"{table.location}/_delta_log")
    return table
