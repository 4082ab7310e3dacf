"""How large what a compaction writes would be, and what the commit writes beside it: estimates, and how wrong they may be.

    rows     of files that are merged by key: at least the most rows of one file of a section, less all deletes; at most all
    bytes    what the inputs hold beyond their footers, by rows, and a footer for each output; a few footers are read
    files    a new one after each `target-file-size`

Rows without keys are only copied: their number is exact, less those that deletion vectors take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.paimon.maintenance.deletion import find_list
from lakelens.formats.paimon.splits import list_sections
from lakelens.io.store import find_info
from lakelens.model.maintenance import Output

if TYPE_CHECKING:
    from lakelens.formats.paimon.maintenance.picks import Packed
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.formats.paimon.table import PaimonTable

_SAMPLED = 3
_READ = 12  # footers of one table
_MERGED_FROM = 30
_CHECKED = 1_000
_COMPRESSED = 10  # rows count before they are compressed: files come out smaller than the target
_ENTRY = 120  # bytes of one more entry of a manifest, where nothing shows it
_VALUE, _COLUMN, _GUESSED = 12, 100, 300
_ENDS = 12  # the length of a Parquet footer, and the magic at both ends


@dataclass(frozen=True, slots=True)
class RowRange:
    """How many rows there may be after a merge."""

    least: int
    most: int

    @property
    def middle(self) -> int:
        """The estimate: half way."""
        return (self.least + self.most + 1) // 2


@dataclass(frozen=True, slots=True)
class Estimate:
    """The outputs of one group of inputs."""

    rows: RowRange
    files: int
    most_files: int
    size_bytes: int
    least: int
    most: int
    can_be_none: bool


def count_copied(files: Sequence[Packed], find_deleted: Callable[[str], int | None]) -> RowRange:
    """Count the rows of files that are copied, less those that their vectors delete."""
    total = sum(file.row_count or 0 for file in files)
    deleted = [find_deleted(file.file_name) for file in files]
    known = total - sum(one or 0 for one in deleted)
    return RowRange(known if None not in deleted else 0, known)


def count_merged(
    files: Sequence[PaimonDataFile], drops_deletes: bool, find_deleted: Callable[[str], int | None]
) -> RowRange:
    """Count the rows of files that are merged by key, less those that vectors delete."""
    deletes = sum(file.delete_row_count or 0 for file in files)
    vectors = [find_deleted(file.file_name) for file in files]
    gone = sum(vector or 0 for vector in vectors)
    unknown = any(file.delete_row_count is None for file in files)
    most = sum(file.row_count or 0 for file in files) - (deletes if drops_deletes else 0)
    largest = sum(max(file.row_count or 0 for file in section) for section in list_sections(files))
    if drops_deletes:
        largest = 0 if unknown else max(largest - deletes, 0)
    largest, most = 0 if None in vectors else max(largest - gone, 0), max(most - gone, 0)
    return RowRange(min(largest, most), most)


def estimate_group(files: Sequence[Packed], rows: RowRange, target: int, sizes: FixedSizes) -> Estimate:
    """Estimate the files that a group of inputs becomes."""
    fixed = sizes.find(files)
    total = sum(file.row_count or 0 for file in files)
    stored = sum(max((file.size_bytes or 0) - fixed, 0) for file in files)

    def weigh(count: int) -> int:
        return fixed + round(stored * count / total) if total else 0

    size = weigh(rows.middle)
    number = _count_files(size, rows.middle, target)
    size += fixed * max(number - 1, 0)
    largest = max((file.size_bytes or 0 for file in files), default=0)
    least = 0 if not rows.least else min(weigh(rows.least), largest // 2)
    most = max(weigh(rows.most) + fixed * max(number - 1, 0), sum(file.size_bytes or 0 for file in files))
    most_files = max(number, _count_files(most * _COMPRESSED, rows.most, target))
    return Estimate(rows, number, most_files, size, least, most, rows.least == 0)


def _count_files(size: int, rows: int, target: int) -> int:
    """Count how many files bytes fill; a writer looks at the size after each 1,000 rows alone."""
    return min(max(-(-size // target), 1), -(-rows // _CHECKED)) if rows else 0


class FixedSizes:
    """What files have however few their rows are: a footer, and what each column takes beside values.

    A value is taken to need 12 bytes, a column no more than 100 beside its values. Few footers are read of any table: the
    smallest of those is then taken for the others.
    """

    def __init__(self) -> None:
        self._left = _READ
        self._smallest = _GUESSED
        self._has_read = False

    def find(self, files: Sequence[Packed]) -> int:
        """Find the bytes for a group of files, by its smallest ones."""
        if not files:
            return 0
        found = []
        schema = files[0].context.schema
        columns = len(schema.columns) + (len(schema.key_columns) + 2 if schema.primary_keys else 0)
        for file in nsmallest(_SAMPLED, files, key=lambda file: file.size_bytes or 0):
            size, footer = file.size_bytes or 0, self._find_footer(file)
            bare = size - (file.row_count or 0) * columns * _VALUE
            found.append(max(min(bare, footer + columns * _COLUMN), min(footer, size)))
        return min(found)

    def _find_footer(self, file: Packed) -> int:
        """Find the bytes of a file's footer; a guess for what has none like Parquet's."""
        if file.file_format != "parquet":
            return _GUESSED
        if not self._left:
            return self._smallest
        self._left -= 1
        try:
            size: Any = file.footer.serialized_size
        except (LakeError, AttributeError):
            return self._smallest
        if not isinstance(size, int):
            return self._smallest
        self._smallest = min(self._smallest, size + _ENDS) if self._has_read else size + _ENDS
        self._has_read = True
        return size + _ENDS


def describe_data(estimates: Sequence[Estimate], role: str = "data") -> Output:
    """Describe the line of the data files that are written."""
    rows = RowRange(
        sum(estimate.rows.least for estimate in estimates), sum(estimate.rows.most for estimate in estimates)
    )
    if rows.least == rows.most:
        note = f"{rows.most:,} rows; bytes by those of the inputs"
    else:
        note = f"{rows.least:,} to {rows.most:,} rows: how many keys the inputs share is not known"
    files = sum(estimate.files for estimate in estimates)
    least_files = sum(0 if estimate.can_be_none else 1 for estimate in estimates)
    return Output(
        role,
        files,
        sum(estimate.size_bytes for estimate in estimates),
        least=sum(estimate.least for estimate in estimates),
        most=sum(estimate.most for estimate in estimates),
        least_files=min(least_files, files),
        most_files=sum(estimate.most_files for estimate in estimates),
        note=note,
    )


def list_metadata(
    branch: PaimonTable, entries: int, kind: str, *, index: bool = False, changelog: bool = False
) -> Iterable[Output]:
    """List what one commit writes beside data: a manifest of its entries, two lists, the document and its hint.

    A changelog has a manifest and a list of its own, where it has any rows.
    """
    current = branch.current
    if current is None:
        return
    manifests = [m for m in current.manifests if m.content == "data"]
    merges = len(manifests) + 1 >= _MERGED_FROM
    note = f"{entries:,} entries" + (", and many manifests are merged" if merges else "")
    size, logs = _weigh_manifest(manifests, entries), int(changelog)
    if logs:
        note += ", and one of the changelog"
        size = None if size is None else size + (_weigh_manifest(manifests, 1) or 0)
    yield Output("manifest", 1 + logs, size, least_files=1, most_files=1 + logs + merges, note=note)
    lists = [find_list(current, role) for role in ("base", "delta")]
    sizes = [_find_size(branch, listed.path) for listed in lists if listed is not None]
    total = sum(size or 0 for size in sizes) * (2 + logs) // 2 or None
    yield Output(
        "manifest list",
        2 + logs,
        total,
        least_files=2,
        most_files=2 + logs,
        note="as large as the last commit's",
    )
    if index:
        path = branch.context.layout.shared("manifest", current.index_manifest or "")
        yield write_one("index manifest", _find_size(branch, path), "all index files that are left")
    yield write_one("snapshot", _find_size(branch, current.path), f"snapshot {current.id + 1}, {kind}")
    yield write_hint("LATEST", current.id + 1)


def write_one(role: str, size: int | None, note: str, *, is_estimated: bool = True) -> Output:
    """Write the line of a single file."""
    return Output(role, 1, size, is_estimated, least_files=1, most_files=1, note=note)


def write_hint(name: str, number: int) -> Output:
    """Write the line of a hint, which holds a number as text."""
    return write_one("snapshot hint", len(str(number)), name, is_estimated=False)


def _weigh_manifest(manifests: Sequence[PaimonManifest], entries: int) -> int | None:
    """Weigh the bytes of a manifest of some entries, by the smallest and the largest of others."""
    sizes = sorted(
        ((m.num_added_files or 0) + (m.num_deleted_files or 0), m.file_size or 0) for m in manifests
    )
    if not sizes:
        return None
    (few, small), (many, large) = sizes[0], sizes[-1]
    each = max((large - small) // (many - few), 1) if many > few else _ENTRY
    return max(small + each * (entries - few), each * entries)


def _find_size(branch: PaimonTable, path: str | None) -> int | None:
    try:
        found = None if path is None else find_info(branch.context.store, path)
    except LakeError:
        return None
    return None if found is None else found.size
