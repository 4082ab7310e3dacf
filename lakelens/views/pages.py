"""The sections of a page: a card, and for a table the cards of what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.manifest import ManifestList
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views import wording
from lakelens.views.card import Card

_MOST = 8  # manifests and files that get a section of their own


def list_sections(thing: Any, describe: Callable[[Any], Card]) -> Sequence[Card]:
    """The cards of a page in order. What cannot be read becomes a section that says so."""
    parts: Iterator[Any] = iter([thing])
    if isinstance(thing, Table):
        parts = _list_table(thing)
    elif isinstance(thing, Snapshot):
        parts = _list_snapshot(thing)
    return [_describe(part, describe) for part in parts]


def _describe(part: Any, describe: Callable[[Any], Card]) -> Card:
    if isinstance(part, LakeError):
        return Card(type(part).__name__, wording.clean(str(part)), alert="ERROR")
    if isinstance(part, Exception):
        return Card("Section", f"view failed: {type(part).__name__}: {wording.clean(part)}", alert="ERROR")
    try:
        return describe(part)
    except Exception as error:
        if display.strict_views:
            raise
        line, _, failure = wording.word_failure(part, error).partition("\n")
        return Card(type(part).__name__, line, alert=failure)


def _list_table(table: Table) -> Iterator[Any]:
    yield table
    yield from _attempt(lambda: [table.schema])
    yield from _attempt(lambda: [table.snapshots] if len(table.snapshots) else [])
    current = table.current
    if current is not None:
        yield from _list_snapshot(current)
    yield from _attempt(lambda: [table.tree()])


def _list_snapshot(snapshot: Snapshot) -> Iterator[Any]:
    if snapshot.id is not None:
        yield snapshot
        yield from _attempt(lambda: [snapshot.changes])
    for manifest_list in _attempt(lambda: list(snapshot.manifest_lists)):
        yield manifest_list
        if not isinstance(manifest_list, Exception):
            yield from _attempt(partial(_head_manifests, manifest_list))
    yield from _attempt(lambda: [snapshot.files, *islice(snapshot.files, _MOST)])
    yield from _attempt(lambda: list(snapshot.index_files[:_MOST]))


def _head_manifests(manifest_list: ManifestList) -> list[Any]:
    return list(manifest_list.manifests[:_MOST])


def _attempt(read: Callable[[], list[Any]]) -> list[Any]:
    try:
        return read()
    except LakeError as error:
        return [error]
    except Exception as error:
        if display.strict_views:
            raise
        return [error]
