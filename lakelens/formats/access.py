"""What every format's objects share: recorded locations found where they are now, damage kept as findings, stored keys
as attributes, and bytes that are explained by modules which load late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from lakelens.errors import LakeError, Missing
from lakelens.io.relocation import Locator, split_location
from lakelens.io.store import find_info
from lakelens.io.tracing import TracingStore
from lakelens.model.finding import Findings
from lakelens.model.storage import Reads, Relocation

if TYPE_CHECKING:
    from lakelens.model.explanation import Explanation

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


class StoredKey(Generic[T]):
    """A stored key as an attribute under its own name in snake case, read by the object's `_find_stored`."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, made: None, owner: type) -> StoredKey[T]: ...
    @overload
    def __get__(self, made: Any, owner: type) -> T: ...
    def __get__(self, made: Any, owner: type) -> StoredKey[T] | T:
        if made is None:
            return self
        value: T = made._find_stored(self._name)
        return value


def explain_late(module: str, thing: Any, *needs: Any) -> Explanation:
    """The bytes of an object of a table by the `explain_object` of a module, which is loaded when it is first asked for."""
    explanation: Explanation = import_module(module).explain_object(thing, *needs)
    return explanation


def _name_recorded(recorded: str, path: str) -> str | None:
    return f"it is recorded as {recorded}" if recorded != path else None
