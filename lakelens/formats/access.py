"""The storage side of every format: recorded locations found where they are now, damage kept as findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lakelens.errors import LakeError, Missing
from lakelens.io.relocation import Locator, split_location
from lakelens.io.store import find_info
from lakelens.io.tracing import TracingStore
from lakelens.model.finding import Findings
from lakelens.model.storage import Reads, Relocation

T = TypeVar("T")


class TableAccess:
    """The storage side of one open table: `store`, `locator`, `findings`."""

    def __init__(self, store: TracingStore, locator: Locator, findings: Findings | None = None) -> None:
        self.store = store
        self.locator = locator
        self.findings = findings if findings is not None else Findings()

    def find_recorded(self, recorded: str) -> tuple[str, int]:
        """Where a recorded file is now, and its size; the recorded place itself is tried second. Raises `Missing`."""
        path = self.locator.locate(recorded)
        for place in (path, split_location(recorded)[1]):
            info = find_info(self.store, place)
            if info is not None and not info.is_dir:
                return place, info.size
        raise Missing("no such file", path=path, hint=_name_recorded(recorded, path))

    def read_recorded(self, recorded: str) -> tuple[str, bytes]:
        """Where a recorded file is now, and its bytes; the recorded place itself is tried second. Raises `Missing`."""
        path = self.locator.locate(recorded)
        try:
            return path, self.store.read(path)
        except Missing as missing:
            _, original = split_location(recorded)
            if original == path or find_info(self.store, original) is None:
                raise Missing(missing.message, path=path, hint=_name_recorded(recorded, path)) from missing
            return original, self.store.read(original)

    def attempt(self, action: Callable[[], T], path: str, default: T, snapshots: Sequence[int] = ()) -> T:
        """The action's result; what it raises becomes a finding, and `default` is the result."""
        try:
            return action()
        except LakeError as error:
            self.findings.add_error(error, path, snapshots)
            return default

    def count_reads(self) -> Reads:
        """What was read so far."""
        counts = self.store.counts
        return Reads(
            counts.requests, len(counts.files), counts.bytes, counts.seconds, tuple(sorted(counts.files))
        )

    def describe_relocation(self, recorded_location: str | None) -> Relocation:
        """The mapping of locations that was used so far."""
        return Relocation(
            recorded_location, self.locator.root, tuple(self.locator.mapping), tuple(self.locator.unmapped)
        )


def _name_recorded(recorded: str, path: str) -> str | None:
    return f"it is recorded as {recorded}" if recorded != path else None
