"""How a format draws its tables: what it is asked for, and what it answers for all formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.map.boxes import Box, Chart, State, Tier, count_noun, last_name

if TYPE_CHECKING:
    from lakelens.model.comparison import FileComparison
    from lakelens.model.deletes import LiveRows
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

# files whose deletes are looked into where the metadata alone does not give the live rows
MANY_FILES = 2_000
# files whose footers are read, where nothing else has their rows
_FEW_FOOTERS = 100
_TOUCHED: dict[str, State] = {"created": "new", "rewritten": "changed", "removed": "gone"}


@dataclass(frozen=True)
class Since(Named):
    """The change that a map marks: what was added from the snapshot `before` (None: from nothing) to `after`.

    With `is_known` False there is no snapshot to compare with: what the commit of `after` says of itself is new. `touched`
    are the objects that a trace has seen, by path: "created", "rewritten" or "removed".
    """

    before: Snapshot | None
    after: Snapshot | None
    is_known: bool = True
    touched: Mapping[str, str] | None = None

    def state_of(self, path: str | None, state: State) -> State:
        """The state of a file: as a trace saw it, else as the format found it."""
        if self.touched is None or path is None:
            return state
        return _TOUCHED.get(self.touched.get(path, ""), "kept")

    def compare(self) -> FileComparison | None:
        """The files compared with those before; None where there is nothing to compare, or damage forbids it."""
        if self.before is None or self.after is None:
            return None
        try:
            compared = self.after.compare_files(self.before)
            len(compared.added)
        except LakeError:
            return None
        return compared


def draw_plain_chart(table: Table, since: Since) -> Chart:
    """Draw a snapshot's chain as any format has it: its manifests and its files."""
    snapshot = since.after
    if snapshot is None:
        return Chart((Tier("table", (Box(table.name, "absent", ("nothing was committed yet",)),)),))
    known = {manifest.path for manifest in since.before.manifests} if since.before is not None else set()
    named = snapshot.manifests
    files = (len(snapshot.files), snapshot.files.record_count)
    top = Box(last_name(snapshot.path or table.location), "new", (f"snapshot {snapshot.id}",))
    some = [manifest for manifest in named if manifest.path not in known]
    lists = Box(count_noun(len(named), "manifest"), "new" if some else "kept", count=len(named))
    data = Box(count_noun(files[0], "file"), "kept", (count_noun(files[1], "row"),), count=files[0])
    return Chart((Tier("snapshot", (top,)), Tier("manifests", (lists,)), Tier("files", (data,))))


def find_live_rows(snapshot: Snapshot) -> LiveRows:
    """The live rows as the cards have them; of a table of few files counted where its figures do not say."""
    known = snapshot.known_live_rows
    if known.count is not None:
        return known
    figures = snapshot.known_figures
    few = figures.files if figures.files is not None else _count_listed(snapshot)
    most = MANY_FILES if snapshot.id is not None else _FEW_FOOTERS
    return snapshot.live_rows if few is not None and few <= most else known


def _count_listed(snapshot: Snapshot) -> int | None:
    """The files as the lists count them; None where nothing counts them."""
    counts: list[Any] = [one.count_entries() for one in snapshot.manifests]
    return sum(counts) if counts and None not in counts else None


@dataclass
class Tally:
    """Files, rows and bytes, added up; rows and bytes become None where one of them is not known.

    `paths` are the files that hold what is counted, where several of those may be in one.
    """

    files: int = 0
    rows: int | None = 0
    bytes: int | None = 0
    paths: set[str] = field(default_factory=set)

    def add(self, files: int, rows: int | None, size: int | None = None, paths: Iterable[str] = ()) -> None:
        """Add some files."""
        self.files += files
        self.rows = None if self.rows is None or rows is None else self.rows + rows
        self.bytes = None if self.bytes is None or size is None else self.bytes + size
        self.paths.update(paths)

    def merge(self, other: Tally) -> None:
        """Add another tally."""
        self.add(other.files, other.rows, other.bytes, other.paths)
