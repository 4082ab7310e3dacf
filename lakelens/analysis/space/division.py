"""Live data by column: from the footers of the files, or from what the metadata records of many.

Of up to `MOST_FOOTERS` live files every footer is read. Of more the bytes by column that manifests record are used
(Iceberg's `column_sizes`), and only of the largest files without such a record the footers. What is left is not divided, and
said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError, Unsupported
from lakelens.model.arrow import text_array
from lakelens.model.check.references import Referring
from lakelens.model.schema import Schema
from lakelens.model.table import Table
from lakelens.progress import read_each

if TYPE_CHECKING:
    from lakelens.model.stats import FileDivision

#: Live data files of which every footer is read.
MOST_FOOTERS = 2_000
_MOST_FAILURES = 100
_BESIDE = "not recorded by column"  # footers, indexes, filters, and of ORC what lists and maps hold


@dataclass(frozen=True, slots=True)
class LiveFile:
    """One live data file: where it is, and its bytes as listed."""

    path: str
    size_bytes: int


@dataclass
class Division:
    """Bytes of live data by column and by part; `undivided` are those of files that could not be divided.

    `footers` counts the files of which the footer was read, `recorded` those of which the manifests say it, and `failed` has
    what kept footers from being read. `undivided` is by what the files are: their format, or damaged.
    """

    columns: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    undivided: Counter[str] = field(default_factory=Counter)
    undivided_files: Counter[str] = field(default_factory=Counter)
    types: dict[str, str] = field(default_factory=dict)
    footers: int = 0
    recorded: int = 0
    failed: list[tuple[str, LakeError]] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        """All bytes."""
        return self.columns.total() + self.parts.total() + self.undivided.total()


def divide_files(table: Table, files: Sequence[LiveFile], most: int = MOST_FOOTERS) -> Division:
    """Divide the bytes of live data files by column.

    Parameters
    ----------
    table
        A table of any format.
    files
        Its live data files.
    most
        How many footers are read.
    """
    division = Division()
    names = _Names(table)
    rest = list(files)
    if len(rest) > most:
        rest = _take_recorded(table, rest, division)
        rest.sort(key=lambda file: file.size_bytes, reverse=True)
    _take_footers(table, rest[:most], division, names)
    for file in rest[most:]:
        division.undivided["footer not read"] += file.size_bytes
        division.undivided_files["footer not read"] += 1
    division.types = {name: names.types[name] for name in division.columns if name in names.types}
    return division


def _take_recorded(table: Table, files: Sequence[LiveFile], division: Division) -> list[LiveFile]:
    """Take the files of which bytes by column are recorded; those that are left."""
    import numpy as np
    import pyarrow.compute as pc

    if table.current is None or not Referring.of(table).records_column_sizes:
        return list(files)
    found = table.current.files.to_arrow(columns=["path", "column_sizes"])
    sizes = found["column_sizes"].combine_chunks()
    paths = text_array([file.path for file in files])
    places = pc.index_in(paths, value_set=found["path"].combine_chunks())
    is_known = places.is_valid().to_numpy(zero_copy_only=False)
    rows = places.fill_null(0).to_numpy().astype(np.int64)
    wholes = np.fromiter((file.size_bytes for file in files), np.int64, len(files))
    leaves: list[tuple[str, Any]] = []
    totals = np.zeros(len(files), np.int64)
    names = _Names(table)
    for number in range(sizes.type.num_fields):
        name = names.shorten(sizes.type.field(number).name)
        if name:  # the root of an ORC file is no column
            leaf = pc.fill_null(pc.struct_field(sizes, [number]), 0).to_numpy()[rows]
            leaf = np.minimum(np.where(is_known & (leaf > 0), leaf, 0), wholes + 1)  # or the sum may overflow
            leaves.append((name, leaf))
            totals += leaf
    taken = is_known & (totals > 0) & (totals <= wholes)
    for name, leaf in leaves:
        amount = int(leaf[taken].sum())
        if amount:
            division.columns[name] += amount
    left = int((wholes - totals)[taken].sum())
    if left:
        division.parts[_BESIDE] += left
    division.recorded += int(taken.sum())
    division.types.update({name: names.types[name] for name in division.columns if name in names.types})
    return [files[place] for place in np.flatnonzero(~taken).tolist()]


def _take_footers(table: Table, files: Sequence[LiveFile], division: Division, names: _Names) -> None:
    """Take files by their footers."""
    if not files:
        return
    storage = table.storage

    def read(file: LiveFile) -> FileDivision | None:
        if storage is None:
            return None
        # the format that a file's name says; its magic decides
        suffix = file.path.rpartition("/")[2].rpartition(".")[2].lower()
        return storage.divide(
            file.path, suffix if suffix in ("parquet", "orc", "avro") else "text", file.size_bytes
        )

    def follow(files: Iterable[LiveFile]) -> Iterator[LiveFile]:
        if storage is None:
            return iter(files)
        return storage.follow(files, lambda file: (file.path, file.size_bytes))

    for file, found in read_each(files, read, "footers", follow):
        if found is None or isinstance(found, LakeError):
            kind = _describe(file.path, found)
            division.undivided[kind] += file.size_bytes
            division.undivided_files[kind] += 1
            if found is not None and len(division.failed) < _MOST_FAILURES:
                division.failed.append((file.path, found))
            continue
        division.footers += 1
        for (path, number), amount in found.columns.items():
            division.columns[names.find(path, number)] += amount
        division.parts.update(found.parts)


def _describe(path: str, error: LakeError | None) -> str:
    """Describe why a file is not divided."""
    if error is None:
        suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
        known = ("avro", "csv", "json", "blob", "text", "txt", "row", "lance", "vortex", "mosaic", "video")
        return f"{suffix} files" if suffix in known else "files without a footer"
    return "footer not readable" if isinstance(error, Unsupported) else "damaged"


class _Names:
    """Today's names of the columns of files: by field id where the file has them, else by the file's own names."""

    def __init__(self, table: Table) -> None:
        self.types = {field.name: str(field.type) for field in table.schema.fields}
        self._table = table
        self._known: dict[tuple[str, int | None], str] = {}

    def find(self, path: str, number: int | None) -> str:
        """Find the top column of a leaf."""
        if (path, number) not in self._known:
            if number is not None and number in self._ids:
                name = self._ids[number]
            elif number is not None and number in self._older:
                name = f"{self._older[number]} (dropped)"  # another column may have its name today
            else:
                name = self.shorten(path)
            self._known[path, number] = name
        return self._known[path, number]

    def shorten(self, path: str) -> str:
        """Shorten the top column of a path; a name that is a column's goes before its parts."""
        dropped, _, number = path.partition("#")
        if number.isdigit() and path not in self.types:
            if int(number[:18]) in self._ids:
                return self._ids[int(number[:18])]  # of a column that has columns, recorded under its own id
            return f"{self.shorten(dropped)} (dropped)" if dropped else ""
        parts = path.split(".")
        for end in range(1, len(parts) + 1):
            if (name := ".".join(parts[:end])) in self.types:
                return name
        return parts[0]

    @cached_property
    def _ids(self) -> Mapping[int, str]:
        """By the id of a field at any depth the top column that it is part of, for columns of today."""
        return _list_ids(self._table.schema)

    @cached_property
    def _older(self) -> Mapping[int, str]:
        """The same for columns of older schemas."""
        found: dict[int, str] = {}
        for schema in self._table.schemas:
            found.update(_list_ids(schema))
        return found


def _list_ids(schema: Schema) -> dict[int, str]:
    found: dict[int, str] = {}
    for top in schema.fields:
        for _, leaf in top.leaves():
            if leaf.id is not None and leaf.id >= 0:
                found.setdefault(leaf.id, top.name)
        if top.id is not None and top.id >= 0:
            found.setdefault(top.id, top.name)
    return found
