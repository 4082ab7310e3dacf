"""Versions of a row that do not fit the predicate: found by row id in the files that a commit wrote or took rows from.

Follows "Row Lineage" of the Iceberg table specification: a row that is updated or moved keeps its `_row_id`. The version
after one that ended is in a file that the commit added; the version before is in a file that the commit removed or that
its deletion vectors are for. So only the files of those commits are opened, and not all that keep row ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError

if TYPE_CHECKING:
    from lakelens.analysis.life.past import Past
    from lakelens.analysis.life.records import OpenedFile
    from lakelens.analysis.life.rows import Life, Version
    from lakelens.model.snapshot import Snapshot


def list_relatives(past: Past, lives: Sequence[Life], opened: Sequence[OpenedFile]) -> set[str]:
    """The paths of the files in which further versions may be, of those that the commits of the known versions concern."""
    files = {one.file.path: one.file for one in opened}
    snapshots = {state.snapshot.id: state.snapshot for state in past.states}
    after, before = set[int | None](), set[int | None]()
    for life in lives:
        for version in life.versions:
            after.update(end.snapshot_id for end in version.ends if not end.is_followed)
            if _is_carried(version, files.get(version.file)):
                before.add(version.since_id)
    paths: set[str] = set()
    for number in after:
        paths.update(_list_added(snapshots.get(number)))
    for number in before:
        paths.update(_list_sources(snapshots.get(number)))
    return paths


def _is_carried(version: Version, file: Any) -> bool:
    """Whether the first version that is known came from another file: its row id is not one that its file was given."""
    first = getattr(file, "first_row_id", None)
    if version.number != 1 or version.row_id is None or file is None:
        return False
    return first is None or not first <= version.row_id < first + (file.record_count or 0)


def _list_added(snapshot: Snapshot | None) -> Iterator[str]:
    """The data files that a commit added."""
    if snapshot is None:
        return
    try:
        yield from (file.path for file in snapshot.changes.added if file.content == "data")
    except LakeError:
        return


def _list_sources(snapshot: Snapshot | None) -> Iterator[str]:
    """The data files that a commit removed, or took rows from."""
    if snapshot is None:
        return
    try:
        changes = snapshot.changes
        yield from (file.path for file in changes.removed if file.content == "data")
        for file in changes.added:
            target = getattr(file, "referenced_data_path", None)
            if file.content != "data" and target is not None:
                yield target
    except LakeError:
        return
