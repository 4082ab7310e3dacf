"""What data files say of themselves, beside the metadata: the rows of their footers and, with `data=True`, every value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.analysis.claims import find_column, name_written
from lakelens.errors import LakeError, Unsupported
from lakelens.model.arrow import arrow_type
from lakelens.model.check.checking import Checking, RowCheck
from lakelens.model.check.ledger import Ledger, LedgerLine, format_figure
from lakelens.model.check.survey import Survey
from lakelens.model.collections import Items
from lakelens.model.storage import KNOWN_FORMATS
from lakelens.progress import read_each, track

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.stats import ColumnBounds
    from lakelens.model.storage import Storage


# The footers of data files: whether they have as many rows as their entries record.
#
# Of at most a thousand files every footer is read; of more a sample, the same one each time. What was left out is said.

#: Data files of which every footer is read.
MOST_FOOTERS = 1_000
_FORMATS = ("parquet", "orc", "avro")


class Described(NamedTuple):
    """A file as its entries describe it."""

    path: str
    file_format: str
    record_count: int | None
    content: str
    size_bytes: int | None = None


def list_described(
    survey: Survey, lost: pa.Array, formats: Collection[str] = _FORMATS
) -> Sequence[Described]:
    """List the files of live entries that are not `lost`, each once, of some formats; deletion vectors are left out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not survey.entries.num_rows or not survey.needed.any():
        return ()
    entries = survey.entries
    is_chosen = pc.and_(
        pa.array(survey.needed),
        pc.is_in(entries["file_format"], value_set=pa.array(list(formats), pa.string())),
    )
    is_chosen = pc.and_(is_chosen, pc.fill_null(pc.not_equal(entries["content"], "deletion_vector"), True))
    if not pc.any(is_chosen).as_py():
        return ()
    if len(lost):
        is_chosen = pc.and_(is_chosen, pc.invert(pc.is_in(entries["path"], value_set=lost)))
    keys = ["path", "file_format", "record_count", "content"]
    live = entries.select([*keys, "size_bytes"]).filter(is_chosen)
    chosen = live.group_by(keys, use_threads=False).aggregate([("size_bytes", "max")])

    def describe(row: int) -> Described:
        return Described(*(chosen[name][row].as_py() for name in (*keys, "size_bytes_max")))

    return Items(range(chosen.num_rows), describe)


def check_footers(survey: Survey, lost: pa.Array) -> None:
    """Compare the rows that entries record with the files' own."""
    storage = survey.table.storage
    # the rows of files of a format that is known and not decoded are not looked at: that is no damage
    for name, number in Counter(
        file.file_format for file in list_described(survey, lost, KNOWN_FORMATS)
    ).items():
        what = f"what {number:,} {name} file{'s' * (number != 1)} hold{'s' * (number == 1)}"
        survey.ledger.leave(what, f"lakelens knows {KNOWN_FORMATS[name]} and does not decode it")
    files = list_described(survey, lost)
    if storage is None or not files:
        return
    chosen = files
    if len(files) > MOST_FOOTERS:
        chosen = Random(0).sample(files, MOST_FOOTERS)
        what = f"the footers of {len(files) - MOST_FOOTERS:,} of {len(files):,} data files"
        survey.ledger.leave(what, f"a sample of {MOST_FOOTERS:,} was read")
    noun = "file's own footer" if len(chosen) == 1 else "files' own footers"
    line = survey.ledger.line("rows of files", "entries", f"{len(chosen):,} {noun}")
    unread = Counter[str]()
    found = read_each(
        chosen,
        lambda file: storage.read_footer(file.path, file.file_format).facts,
        "footers",
        lambda files: storage.follow(files, lambda file: (file.path, file.size_bytes)),
    )
    for file, read in found:
        if isinstance(read, Unsupported):
            unread[read.reason] += 1
        elif isinstance(read, LakeError):
            code, users = type(read).__name__.lower(), partial(survey.list_users, file.path)
            line.differ("error", code, read.path or file.path, read.reason, users)
        elif file.record_count == read.num_rows or file.record_count is None:
            line.agree()
        else:
            users = partial(survey.list_users, file.path)
            what = "rows of the file"
            line.compare(file.record_count, read.num_rows, "record-count", file.path, what, users, "error")
    for reason, number in unread.items():
        survey.ledger.leave(f"the footers of {number:,} data file{'s' * (number != 1)}", reason)


def check_rows(survey: Survey, lost: pa.Array) -> None:
    """Read the rows of every file that is there, and compare them with what is recorded."""
    storage = survey.table.storage
    if storage is None or not survey.entries.num_rows:
        return
    unread = silent = 0
    files = storage.follow(_list_files(survey, lost), lambda file: (file.path, file.size_bytes), whole=True)
    for file in track(files, "data files"):
        snapshots = survey.list_users(file.path)
        try:
            silent += _check_file(survey, storage, file, snapshots)
        except Unsupported:
            unread += 1
        except LakeError as error:
            line = survey.ledger.line("bounds and counts", "entries", "rows")
            code = type(error).__name__.lower()
            line.differ("error", code, error.path or file.path, error.reason, snapshots)
    if silent:
        why = "rows of Avro come without types, and values of some types do not order here"
        survey.ledger.leave(f"the bounds of {silent:,} column{'s' * (silent != 1)} of data files", why)
    if unread:
        survey.ledger.leave(
            f"the rows of {unread:,} data file{'s' * (unread != 1)}", "lakelens cannot read them"
        )


def _list_files(survey: Survey, lost: pa.Array) -> Iterator[DataFile]:
    """List each file that some state needs and that is there, once, as its first entry describes it."""
    import numpy as np
    import pyarrow as pa

    chosen = survey.entries.select(["number", "entry", "path", "content", "file_format"])
    chosen = chosen.filter(pa.array(survey.needed))
    seen: set[str] = set(lost.to_pylist())
    wanted: dict[int, list[int]] = {}
    for row in range(chosen.num_rows):
        path, content, kind = (chosen[name][row].as_py() for name in ("path", "content", "file_format"))
        if path not in seen and content != "deletion_vector" and kind in _FORMATS:
            seen.add(path)
            wanted.setdefault(chosen["number"][row].as_py(), []).append(chosen["entry"][row].as_py())
    for number, places in wanted.items():
        numbers = set(np.array(places).tolist())
        try:
            for place, entry in enumerate(survey.manifests[number].iterate_entries()):
                if place in numbers:
                    yield entry.file
        except LakeError:
            continue  # the damage is a finding already


def _check_file(survey: Survey, storage: Storage, file: DataFile, snapshots: Sequence[int]) -> int:
    """Compare the rows of one file; how many of its columns have bounds that could not be compared."""
    footer = storage.read_footer(file.path, file.file_format)
    checks: list[RowCheck] = [*_list_columns(file, footer), *Checking.of(survey.table).list_row_checks(file)]
    if not checks:
        return 0
    rows = 0
    for piece in storage.read_columns(file.path, file.file_format):
        rows += piece.num_rows
        for check in checks:
            check.add(piece)
    line = survey.ledger.line("rows that were read", "footers", "rows")
    line.compare(footer.num_rows, rows, "record-count", file.path, "rows", snapshots, "error")
    for check in checks:
        check.finish(survey.ledger, snapshots)
    return sum(isinstance(check, ColumnCheck) and check.is_silent for check in checks)


def _list_columns(file: DataFile, footer: Any) -> Iterator[RowCheck]:
    """List a check for each column that the metadata says something of, and that the file has."""
    columns = getattr(footer, "columns", None) or ()
    is_typed = file.file_format != "avro"
    for bound in file.bounds.values():
        name = name_written(file, bound)
        column = None if name is None else find_column(columns, bound, name)
        path = name if column is None and columns == () else getattr(column, "path", None)
        if path is not None:
            yield ColumnCheck(file.path, bound, tuple(path.split(".")), is_typed=is_typed)


@dataclass
class ColumnCheck(RowCheck):
    """Bounds and counts of one leaf column, compared with its values. Leaves inside lists and maps are left out."""

    path: str
    bound: ColumnBounds
    steps: tuple[str, ...]
    is_typed: bool
    values: int = 0
    nulls: int = 0
    nans: int = 0
    absent: int = 0  # rows of which a struct around the leaf is null
    lower: Any = None
    upper: Any = None
    is_found: bool = True

    def add(self, rows: Any) -> None:
        """See `RowCheck.add`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._find(rows) if self.is_found else None
        if column is None:
            self.is_found = False
            return
        self.values += len(column)
        self.nulls += column.null_count
        if pa.types.is_floating(column.type):
            nan = pc.is_nan(column)
            self.nans += pc.sum(nan).as_py() or 0
            column = column.filter(pc.fill_null(pc.invert(nan), False))
        if self.is_typed and column.null_count < len(column) and self._has_bounds:
            self._widen(column)

    @property
    def _has_bounds(self) -> bool:
        return self.bound.lower is not None or self.bound.upper is not None

    @property
    def is_silent(self) -> bool:
        """Whether there are bounds, and nothing can be said of them."""
        return self._has_bounds and not (self.is_typed and self.is_found)

    def _find(self, rows: Any) -> Any:
        """The leaf; None where it is inside of a list or a map, twice in the file, or of another type than recorded."""
        import pyarrow as pa
        import pyarrow.compute as pc

        name, *further = self.steps
        whole = ".".join(self.steps)
        if whole in rows.column_names:
            name, further = whole, []
        if rows.column_names.count(name) != 1:
            return None
        column = rows[name]
        above = None
        for step in further:
            above = column
            # -1 also where the struct has two of that name
            if not pa.types.is_struct(column.type) or column.type.get_field_index(step) < 0:
                return None
            column = pc.struct_field(column, step)
        self.absent += 0 if above is None else above.null_count
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return None if pa.types.is_nested(column.type) and self._has_bounds else column

    def _widen(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            kind = arrow_type(self.bound.type)
            if not _is_alike(column.type, kind):
                self.is_typed = False
                return
            plain = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
            if isinstance(column.type, pa.BaseExtensionType):
                column = pa.chunked_array([chunk.storage for chunk in column.chunks])
            ends = pc.min_max(column if column.type == plain else column.cast(plain))
            low, high = ends["min"].as_py(), ends["max"].as_py()
        except (pa.ArrowException, ValueError, OverflowError, KeyError):
            self.is_typed = False  # values that Arrow or Python cannot order
            return
        self.lower = low if self.lower is None else min(self.lower, low)
        self.upper = high if self.upper is None else max(self.upper, high)

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        if not self.is_found:
            return
        bound, line = self.bound, ledger.line("bounds and counts", "entries", "rows")
        users = tuple(snapshots)
        nulls, values = self.nulls, self.values
        if self.absent and bound.values == values - self.absent:
            # ORC counts a leaf only where the struct around it is there
            nulls, values = nulls - self.absent, values - self.absent
        for recorded, found, code, noun in (
            (bound.nulls, nulls, "null-count", "nulls"),
            (bound.values, values, "value-count", "values"),
            (bound.nans, self.nans, "nan-count", "NaNs"),
        ):
            line.compare(recorded, found, code, self.path, f"{noun} of {bound.name}", users, "error")
        if self.is_typed:
            self._compare_bound(line, "lower", bound.lower, self.lower, users)
            self._compare_bound(line, "upper", bound.upper, self.upper, users)

    def _compare_bound(
        self, line: LedgerLine, side: str, recorded: Any, found: Any, users: tuple[int, ...]
    ) -> None:
        if recorded is None or found is None:
            return
        recorded, found = _compare_as(recorded), _compare_as(found)
        try:
            holds = recorded <= found if side == "lower" else recorded >= found
        except TypeError:  # another kind of value: nothing can be said
            return
        said = f"{format_figure(recorded)} recorded, a row has {format_figure(found)}"
        message = f"{side} bound of {self.bound.name}: {said}"
        line.require(holds, f"{side}-bound", self.path, message, users)


def _is_alike(stored: Any, today: Any) -> bool:
    """Check whether values of the file's type order as those of today's do: a column may have been replaced by another.

    >>> import pyarrow as pa
    >>> _is_alike(pa.int32(), pa.int64()), _is_alike(pa.int32(), pa.string())
    (True, False)
    """
    import pyarrow.types as kinds

    families = (
        kinds.is_integer,
        kinds.is_floating,
        kinds.is_decimal,
        kinds.is_date,
        kinds.is_time,
        kinds.is_timestamp,
        kinds.is_boolean,
        lambda kind: kinds.is_string(kind) or kinds.is_large_string(kind),
    )
    for family in families:
        if family(stored) or family(today):
            return bool(family(stored) and family(today))
    return True


def _compare_as(value: Any) -> Any:
    """Compare a value in the form in which bounds and rows compare: a UUID as its bytes."""
    return getattr(value, "bytes", value)
