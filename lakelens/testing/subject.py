"""A table under test: opened again and again through a store that only reads, with what seems to be damaged or changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lakelens.errors import LakeError, NotATable
from lakelens.formats.base import Candidate, Format, OpenRequest
from lakelens.formats.registry import describe_candidate, get_format, load_formats
from lakelens.io.local import open_source
from lakelens.io.memory import MemoryStore
from lakelens.io.store import ObjectInfo, Store
from lakelens.io.tracing import TracingStore
from lakelens.model.table import Table


class NotConforming(AssertionError):
    """What a format does otherwise than it has to."""


@dataclass(frozen=True)
class Subject:
    """A table to check: the format, and the directory, which nothing may change."""

    format: Format
    path: str

    def __str__(self) -> str:
        return f"{self.format.name}:{Path(self.path).name}"

    @property
    def store(self) -> Store:
        """The store that the directory is in."""
        return open_source(self.path)[0]

    def open(self, changed: Mapping[str, bytes] | None = None) -> Table:
        """The table, opened again; `changed` are bytes that objects seem to have, by path."""
        store = TracingStore(Changed(self.store, changed or {}))
        place = describe_candidate(store, self.path)
        evidence = self.format.detect(place)
        if evidence is None:
            raise NotATable("not recognised by the format under test", path=self.path)
        return self.format.open(OpenRequest(store, self.path, evidence))


class Changed:
    """A store in which some objects have other bytes."""

    def __init__(self, store: Store, objects: Mapping[str, bytes]) -> None:
        self.store, self.objects = store, objects
        self.scheme = store.scheme

    def info(self, path: str) -> ObjectInfo:
        """See `Store`."""
        if path in self.objects:
            return ObjectInfo(path, len(self.objects[path]))
        return self.store.info(path)

    def list(self, path: str) -> list[ObjectInfo]:
        """See `Store`."""
        return [self.info(one.path) if one.path in self.objects else one for one in self.store.list(path)]

    def read(self, path: str) -> bytes:
        """See `Store`."""
        return self.objects[path] if path in self.objects else self.store.read(path)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """See `Store`."""
        if path not in self.objects:
            return self.store.read_range(path, start, length)
        return MemoryStore({"/x": self.objects[path]}).read_range("/x", start, length)


def find_subjects(format: Format | str, *directories: str | os.PathLike[str]) -> list[Subject]:
    """The tables of a format in directories: each that its `detect` is surest of, below which nothing is looked for.

    Parameters
    ----------
    format
        The format, or the name of one that is installed.
    *directories
        Tables, or directories of tables, at any depth.

    Raises
    ------
    Unsupported
        No format of that name is installed.
    NotConforming
        No table of the format is there: a kit that checks nothing would always be content.

    Examples
    --------
    >>> from lakelens.samples import sample
    >>> [str(subject) for subject in find_subjects("paimon", sample("paimon").location)]
    ['paimon:paimon']
    """
    chosen = get_format(format) if isinstance(format, str) else format
    found = [subject for one in directories for subject in _walk(chosen, str(Path(one).resolve()))]
    if not found:
        raise NotConforming(f"no table of {chosen.name} is in {', '.join(map(str, directories))}")
    return found


def _walk(format: Format, path: str) -> Iterator[Subject]:
    place = describe_candidate(open_source(path)[0], path)
    evidence = format.detect(place)
    ours = 0.0 if evidence is None else evidence.confidence
    others = max(_ask_others(format, place), default=0.0)
    if ours and ours >= others:
        yield Subject(format, path)
    elif others < 0.5:  # what is inside of another format's table is that table's
        for child in place.children.values():
            if child.is_dir:
                yield from _walk(format, child.path)


def _ask_others(format: Format, place: Candidate) -> Iterator[float]:
    """How certain the other installed formats are of a place."""
    for other in load_formats().values():
        if other.name != format.name:
            with suppress(LakeError):
                evidence = other.detect(place)
                yield 0.0 if evidence is None else evidence.confidence


def require(holds: object, words: str) -> None:
    """Raise `NotConforming` unless something holds."""
    if not holds:
        raise NotConforming(words)


def hash_directory(path: str) -> dict[str, tuple[int, int, str]]:
    """Size, time and content of every file below a directory."""
    return {
        str(file.relative_to(path)): (
            file.stat().st_size,
            file.stat().st_mtime_ns,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in sorted(Path(path).rglob("*"))
        if file.is_file()
    }
