"""The files of a log as manifests: commits, checkpoints and sidecars, whose entries are `add`, `remove` and `cdc`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakelens.formats.delta.action_file import make_file
from lakelens.formats.delta.actions import FILE_ACTIONS, Action
from lakelens.formats.delta.context import LogContext
from lakelens.formats.delta.discovery import LOG
from lakelens.model.collections import Document
from lakelens.model.manifest import Entry, Manifest, ManifestAnswers, ManifestList


def make_entry(action: Action, context: LogContext, kind: str) -> Entry:
    """Make the entry of an action. Those of commits are folded: what one adds another one deletes.

    What a checkpoint adds is there already, and what it removes was taken away before.
    """
    is_folded = kind in ("commit", "compacted")
    gone, there = ("DELETE", "ADD") if is_folded else ("DELETED", "EXISTING")
    status = gone if action.kind == "remove" else there
    file = make_file(action, context)
    raw = {action.kind: dict(action.fields)}
    return Entry(status, file.snapshot_id, None, file, raw=raw, _source=context.source())


def read_entries(manifest: LogFile) -> Iterator[Entry]:
    """Read the entries of a file of the log, in order. Raises `LakeError` at its end for what of it is damaged."""
    held = manifest.context.read(manifest.path, manifest.version)
    for action in held.actions:
        if action.kind in FILE_ACTIONS:
            yield make_entry(action, manifest.context, manifest.kind)
    if held.errors:
        raise held.errors[0]


def count_entries(manifest: LogFile) -> int:
    """Count the entries of a file of the log."""
    held = manifest.context.read(manifest.path, manifest.version)
    return sum(action.kind in FILE_ACTIONS for action in held.actions)


def describe_header(manifest: LogFile) -> Document:
    """Describe what a file of the log says beside its entries."""
    held = manifest.context.read(manifest.path, manifest.version)
    kinds: dict[str, str] = {}
    for action in held.actions:
        kinds[action.kind] = str(int(kinds.get(action.kind, "0")) + 1)
    is_parquet = manifest.path.endswith(".parquet")
    facts = {"format": "parquet" if is_parquet else "json", "schema": None, "codec": None, "metadata": kinds}
    return Document(facts, "header")


class LogFile(Manifest):
    """One file of the log: `kind` is "commit", "compacted", "checkpoint" or "sidecar", `version` its version."""

    answers = ManifestAnswers(
        entries=read_entries,
        count=count_entries,
        columns=lambda manifest: manifest.context.file_columns,
    )
    late = {"header": describe_header}  # noqa: RUF012

    def __init__(self, context: LogContext, path: str, version: int, kind: str, size: int | None) -> None:
        self.context = context
        self.path = path
        self.recorded_path = path.removeprefix(f"{context.root}/")
        self._facts = version, kind
        self._source = context.source()
        self.size_bytes = size
        self.added_snapshot_id = version
        self.raw = {"name": self.recorded_path.removeprefix(f"{LOG}/"), "version": version, "kind": kind}

    @property
    def version(self) -> int:
        """The version of the commit or the checkpoint; of compacted commits the last one."""
        return self._facts[0]

    @property
    def kind(self) -> str:
        """What it is: commit, compacted, checkpoint or sidecar."""
        return self._facts[1]


class LogSegment(ManifestList):
    """The files that lead to a version: `role` is "checkpoint", for its files and sidecars, or "commits", those after it."""

    late = {"header": lambda listed: Document({"format": "listing"}, "header")}  # noqa: RUF012

    def __init__(self, context: LogContext, role: str, manifests: tuple[Any, ...], error: Any = None) -> None:
        self.context = context
        self.role = role
        self.path = self.recorded_path = None
        self.size_bytes = None
        self._read_manifests = manifests, error
