"""What a failed writer left behind: files that no state refers to, written since its base, tied to it by their names.

named            the exception says that its writer wrote it
nothing came     the name has the id of a writer none of whose files was committed since the base
others came      the writer of that id did commit files: a task that was tried again, or one of several commits
not known        the name says nothing of its writer
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from lakelens.analysis.check.strays import find_strays
from lakelens.display import Named
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    from lakelens.model.check.attempt import ConflictRules, Failure
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

_MOST = 200  # newest commits whose writers are looked at


@dataclass(frozen=True, slots=True)
class Leftover(Named):
    """A file that nothing refers to: the id of its writer by its name, and what ties it to the one that failed."""

    relative_path: str
    role: str
    size_bytes: int
    modified: datetime | None
    writer: str
    why: str


class Leftovers(Items[Leftover]):
    """Files that a failed writer may have left, as a listing has them."""

    __slots__ = ()
    facts = (
        Fact("relative_path"),
        Fact("role"),
        Fact("size_bytes", "int64"),
        Fact("modified", "time"),
        Fact("writer"),
        Fact("why"),
    )

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return sum(file.size_bytes for file in self)


def find_leftovers(
    table: Table, rules: ConflictRules, base: Snapshot | None, failure: Failure | None
) -> Leftovers:
    """Find what nothing refers to and was written since the base, and tie each file to its writer."""
    strays = find_strays(table)
    since = None if base is None else base.committed_at
    files = [
        stray
        for stray in (*strays.orphans, *strays.young)
        if since is None or stray.modified is None or stray.modified >= since
    ]
    writers = [rules.name_writer(stray.relative_path.rpartition("/")[2]) for stray in files]
    counts, known = Counter(writers), _list_writers(table, rules, since) if any(writers) else set()
    written = () if failure is None else failure.written
    left = []
    for stray, writer in zip(files, writers, strict=True):
        if stray.relative_path.rpartition("/")[2] in written:
            why = "the exception says that its writer wrote it"
        elif not writer:
            why = "no commit names it; its name does not say who wrote it"
        elif writer in known:
            why = "its writer did commit other files: a task tried again, or one of several commits"
        else:
            why = f"nothing of its writer was committed; files of that writer here: {counts[writer]}"
        left.append(Leftover(stray.relative_path, stray.role, stray.size_bytes, stray.modified, writer, why))
    return Leftovers(left)


def _list_writers(table: Table, rules: ConflictRules, since: datetime | None) -> set[str]:
    """List the writers whose files were committed since a time, by the names of data files and manifests."""
    names: list[str] = []
    for snapshot in table.snapshots[-_MOST:]:
        moment = snapshot.committed_at
        if since is None or moment is None or moment >= since:
            names += [file.path for file in rules.changes(snapshot)[0]]
            names += [manifest.path for manifest in snapshot.manifests]
    return {rules.name_writer(name.rpartition("/")[2]) for name in names}
