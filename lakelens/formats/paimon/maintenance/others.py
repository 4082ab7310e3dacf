"""What a procedure takes from states that stay, because the engine does not look at them; and what it could not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.paimon.maintenance.deletion import Deletion, find_list

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable

_MOST = 5


def describe_damage(deletion: Deletion) -> list[str]:
    """What could not be read, as sentences; of many the first few."""
    found = [f"Unread: {path}: {reason}." for path, reason in deletion.doubts.items()]
    more = len(found) - _MOST
    return found if more <= 0 else [*found[:_MOST], f"Unread: {more:,} more."]


def warn_of_others(branch: PaimonTable, deletion: Deletion) -> list[str]:
    """A sentence for each other branch that needs files that go: the engine looks at one branch alone."""
    if not deletion.pieces:
        return []
    warnings = []
    for ref in branch.refs.branches:
        if ref.name == branch.branch_name:
            continue
        try:
            other = branch.branch(ref.name)
            needed = {path for state in _list_states(other) for path in _list_needed(state)}
        except LakeError as error:
            warnings.append(f"What branch {ref.name} needs cannot be read: {error.reason}.")
            continue
        taken = len(needed & deletion.pieces.keys())
        if taken:
            which = "1 of the files that go is" if taken == 1 else f"{taken:,} of the files that go are"
            warnings.append(f"{which} needed by branch {ref.name}, which the engine does not look at.")
    return warnings


def find_broken(state: PaimonSnapshot, deletion: Deletion) -> int:
    """How many of the files that go a state that stays needs."""
    return len(deletion.pieces.keys() & set(_list_needed(state)))


def _list_states(branch: PaimonTable) -> Iterator[PaimonSnapshot]:
    for number in branch.pointer.ids:
        found = branch.find_numbered(number)
        if found is not None:
            yield found
    yield from branch.tags.values()


def _list_needed(state: PaimonSnapshot) -> Iterator[str]:
    """The paths of live files, their manifests and lists, and index files of a state."""
    for (path,) in state.files.pick("path"):
        yield path
    for role in ("base", "delta"):
        listed = find_list(state, role)
        if listed is not None:
            yield listed.path or ""
            yield from (manifest.path for manifest in listed.walk()[0])
    for file in state.index_files:
        yield file.path
