"""What `OPTIMIZE` and `REORG … APPLY (PURGE)` would rewrite.

    files     of the partitions that `where` reads: those below `min_file_size` (1 GiB), and those of whose rows a vector
              deletes more than `max_deleted_rows_ratio` (5 %)
    bins      of one partition, by size from the smallest: as many as `max_file_size` (1 GiB) holds; a bin of one file stays
    zorder    all files, a bin for each partition; a file comes out for each `max_file_size`
    cluster   of a clustered table: files that are not clustered, and those of z-cubes of these columns below 100 GiB, unless
              all are of one; with `full` those of other columns too
    reorg     files with a vector, and those whose Parquet schema has columns that the table has not; bins of one as well

Removed and added files change no row. Follows `OptimizeTableCommand`, `OptimizeTableStrategy` and `ReorgTableHelper` of
delta-spark 3.3. Files of one size are in no order that is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.delta.action_file import DeltaFile
from lakelens.formats.delta.context import MAPPED_NAME, read_schema
from lakelens.formats.delta.maintenance.commits import (
    Commits,
    assume,
    has_feature,
    read_now,
    read_size,
    refuse,
    write_name,
)
from lakelens.model.fileset import FileSet
from lakelens.model.maintenance import Assumption, Group, Output, Piece, Proposal
from lakelens.model.stats import list_terms

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_GIB = 1 << 30
_CUBE, _BIN = 100 << 30, 150 << 30  # a z-cube that is large enough, and one that is full
_ROW_COLUMNS = (
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
)


@dataclass
class Bin:
    """Files of one partition that are written together, and into how many files at most."""

    name: str
    files: list[DeltaFile]
    outputs: int
    why: str

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size_bytes or 0 for file in self.files)


@dataclass
class Rewrite:
    """One rewriting of a table's files, planned: `refusal` says why the engine would refuse it."""

    table: DeltaTable
    values: Mapping[str, Any]
    is_reorg: bool = False
    refusal: str | None = None
    bins: list[Bin] = field(default_factory=list)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The clustering columns, by their names in files; none where the table is not clustered."""
        return tuple(name for name, _ in self.table.newest.clustering) if self.is_clustered else ()

    @cached_property
    def logical_columns(self) -> tuple[str, ...]:
        """The clustering columns by today's names."""
        return tuple(name for _, name in self.table.newest.clustering) if self.is_clustered else ()

    @cached_property
    def is_clustered(self) -> bool:
        """Whether the table may have clustering columns."""
        return has_feature(self.table, "clustering")

    @cached_property
    def most(self) -> int:
        """How large a new file should be."""
        size: int = self.values.get("max_file_size", _GIB)
        return size

    def plan(self) -> None:
        """Find the bins, or why there are none. Raises `LakeError` for a predicate that is not understood."""
        self.refusal = self._refuse_columns()
        files = self._list_candidates() if self.refusal is None else []
        if self.refusal is None:
            self.pack_files(files)

    def pack_files(self, files: list[DeltaFile]) -> None:
        """Find the bins of some files."""
        order: Sequence[str] = self.values.get("zorder_by", ())
        if self.is_reorg:
            files = list(self._find_purged(files))
            limit = self.most
        elif self.columns:
            files, limit = self._pick_cubes(files), _BIN
        elif order:
            limit = 2**63 - 1
        else:
            files, limit = [file for file in files if self._is_chosen(file)], self.most
        parts: dict[Any, list[DeltaFile]] = {}
        for file in files:
            stored = file.raw.get("partitionValues")
            texts = stored.items() if isinstance(stored, Mapping) else ()
            key = tuple(sorted((name, value is None, str(value)) for name, value in texts))
            parts.setdefault(key, []).append(file)
        is_spread = bool(order or self.columns) and not self.is_reorg
        for held in parts.values():
            ordered = held if is_spread else sorted(held, key=lambda file: file.size_bytes or 0)
            for packed in pack(ordered, limit):
                if len(packed) > 1 or self.is_reorg or is_spread:
                    why = f"{len(packed):,} files, of which one is made"
                    if is_spread:
                        why = f"by {', '.join(order or self.logical_columns)}"
                    elif self.is_reorg:
                        why = "rows that a vector deletes, or columns that were dropped"
                    made = Bin(str(packed[0].partition) or "", packed, 1, why)
                    if is_spread:
                        made.outputs = max(1, made.size // max(self.most, 1))
                    self.bins.append(made)

    def _refuse_columns(self) -> str | None:
        order = self.values.get("zorder_by", ())
        if self.is_clustered and "where" in self.values:
            return "the table is clustered: the engine takes no predicate for it"
        if self.is_clustered and order:
            return "the table is clustered: the engine takes no ZORDER BY for it"
        if self.values.get("full") and not self.columns:
            return "FULL is for tables with clustering columns"
        parts = {field.source_name.lower() for field in self.table.partitioning.fields}
        known = {name.lower() for name, _ in self.table.schema.leaves()}
        known |= {column.name.lower() for column in self.table.schema.fields}
        settings = self.table._context.configuration
        most = read_size(settings, "delta.dataSkippingNumIndexedCols", 32)
        indexed = [
            leaf.name.lower() for leaf in self.table._context.columns.leaves if leaf.name.lower() not in parts
        ]
        chosen = settings.get("delta.dataSkippingStatsColumns")
        for column in order:
            name = column.strip("`").lower()
            if name in parts:
                return f"{column} is a partition column: the files of a partition have one value of it"
            if name not in known:
                return f"there is no column {column}"
            if (
                chosen is None
                and str(settings.get("delta.dataSkippingNumIndexedCols")) != "-1"
                and name not in indexed[:most]
            ):
                return f"there are no statistics of {column}, which ZORDER BY needs"
        return None

    def _list_candidates(self) -> list[DeltaFile]:
        """List the files of the partitions that the predicate reads."""
        where = self.values.get("where")
        newest = self.table.newest
        if where is None:
            return cast("list[DeltaFile]", list(newest.files))
        explained = self.table.explain(where, snapshot=newest)
        parts = {field.source_name.lower() for field in self.table.partitioning.fields}
        others = sorted(
            {term.column for term in list_terms(explained.known) if term.column.lower() not in parts}
        )
        if others:
            self.refusal = f"{', '.join(others)} is no partition column: the predicate may name these alone"
            return []
        return cast("list[DeltaFile]", list(explained.kept))

    def _is_chosen(self, file: DeltaFile) -> bool:
        least: int = self.values.get("min_file_size", _GIB)
        if (file.size_bytes or 0) < least:
            return True
        if file.vector_id is None:
            return False
        ratio: float = self.values.get("max_deleted_rows_ratio", 0.05)
        return not file.record_count or (file.deleted_rows or 0) / file.record_count > ratio

    def _pick_cubes(self, files: Sequence[DeltaFile]) -> list[DeltaFile]:
        """Pick the files that are clustered again."""
        own: list[DeltaFile] = []
        others: list[DeltaFile] = []
        sizes: dict[str | None, int] = {}
        for file in sorted(files, key=lambda file: str(file.tags.get("ZCUBE_ID") or "")):
            cube, by = file.tags.get("ZCUBE_ID"), file.tags.get("ZCUBE_ZORDER_BY")
            try:
                is_same = cube is None or by is None or tuple(json.loads(by)) == self.logical_columns
            except (ValueError, TypeError, RecursionError):
                is_same = False
            (own if is_same and file.clustering_provider in (None, "liquid") else others).append(file)
            if is_same:
                sizes[cube] = sizes.get(cube, 0) + (file.size_bytes or 0)
        small = [file for file in own if (cube := file.tags.get("ZCUBE_ID")) is None or sizes[cube] < _CUBE]
        if self.values.get("full") and others:
            return small + others
        cubes = {file.tags.get("ZCUBE_ID") for file in small}
        return [] if len(cubes) == 1 and None not in cubes else small

    def _find_purged(self, files: Sequence[DeltaFile]) -> Iterator[DeltaFile]:
        """Find the files with deleted rows or dropped columns. Raises `LakeError` for a footer that cannot be read."""
        context = self.table._context
        metadata = context.metadata
        schema = read_schema(metadata).schema.raw if metadata is not None else {}
        is_mapped = context.configuration.get("delta.columnMapping.mode", "none").lower() != "none"
        kept = {str(context.configuration.get(name)).lower() for name in _ROW_COLUMNS}
        for file in files:
            if file.vector_id is not None and (file.record_count is None or file.deleted_rows):
                yield file
                continue
            leaves = (leaf.path.lower().split(".") for leaf in getattr(file.footer.facts, "leaves", ()))
            if any(names[0] not in kept and not has_column(schema, names, is_mapped) for names in leaves):
                yield file


def pack(files: Sequence[DeltaFile], most: int) -> list[list[DeltaFile]]:
    """Pack files in their order: the next bin begins with the file that the last one does not hold."""
    bins: list[list[DeltaFile]] = [[]]
    size = 0
    for file in files:
        own = file.size_bytes or 0
        if size + own > most:
            bins.append([])
            size = 0
        bins[-1].append(file)
        size += own
    return [packed for packed in bins if packed]


def has_column(kind: Any, names: Sequence[str], is_mapped: bool) -> bool:
    """Check whether a type of the schema has the column of a Parquet file, by its names from the top, in lower case.

    >>> item = {"type": "struct", "fields": [{"name": "X", "type": "integer"}]}
    >>> schema = {"type": "struct", "fields": [{"name": "a", "type": {"type": "array", "elementType": item}}]}
    >>> [has_column(schema, ["a", "list", "element", name], False) for name in "xy"]
    [True, False]
    """
    match kind.get("type") if isinstance(kind, Mapping) else None:
        case "struct":
            for held in kind.get("fields", ()):
                said = held.get("metadata") if is_mapped else None
                name = str(said.get(MAPPED_NAME, held["name"]) if isinstance(said, Mapping) else held["name"])
                if names and name.lower() == names[0]:
                    return has_column(held.get("type"), names[1:], is_mapped)
            return False
        case "array":
            wraps = 2 if len(names) > 1 and names[0] in ("list", "bag") else 1
            return has_column(kind.get("elementType"), names[wraps:], is_mapped)
        case "map":
            side = "keyType" if len(names) > 1 and names[1] == "key" else "valueType"
            return has_column(kind.get(side), names[2:], is_mapped)
    return True


def plan_optimize(table: DeltaTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    call = f"OPTIMIZE {write_name(table)}"
    if "where" in values:
        call += f" WHERE {values['where']}"
    call += " FULL" if values.get("full") else ""
    if values.get("zorder_by"):
        call += f" ZORDER BY ({', '.join(values['zorder_by'])})"
    return _propose(Rewrite(table, values), call)


def plan_reorg(table: DeltaTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    where = f" WHERE {values['where']}" if "where" in values else ""
    return _propose(
        Rewrite(table, values, is_reorg=True), f"REORG TABLE {write_name(table)}{where} APPLY (PURGE)"
    )


def _propose(rewrite: Rewrite, call: str) -> Proposal:
    table, values = rewrite.table, rewrite.values
    try:
        rewrite.plan()
    except LakeError as error:
        if "where" in values:  # what the predicate is blamed for is the caller's
            raise
        return refuse(table, call, str(error), fails=True)
    if rewrite.refusal is not None:
        return refuse(table, call, rewrite.refusal)
    files = [file for packed in rewrite.bins for file in packed.files]
    commits = Commits(table, 1 if files else 0, read_now(values))
    notes = [*commits.describe()]
    if files:
        notes.insert(0, "No data file is deleted: VACUUM does that, when the table's retention has passed.")
    settings = [
        f"spark.databricks.delta.optimize.{name} = {values[option]}"
        for option, name in (
            ("min_file_size", "minFileSize"),
            ("max_file_size", "maxFileSize"),
            ("max_deleted_rows_ratio", "maxDeletedRowsRatio"),
        )
        if option in values
    ]
    assumptions = [*assume(table), *(Assumption(f"The session sets {setting}.") for setting in settings)]
    return Proposal(
        changes="The rows do not change." if files else "Nothing is rewritten.",
        call=call,
        reads=FileSet(lambda: files, lambda: table._context.file_columns) if files else (),
        replaces=[Piece(file.path, "data", file.size_bytes, "rewritten") for file in files],
        writes=[*_list_outputs(rewrite), *commits.writes],
        deletes=commits.deletes,
        lost=commits.lost,
        groups=[
            Group(packed.name, len(packed.files), packed.size, packed.why, packed.outputs)
            for packed in rewrite.bins
        ],
        assumptions=assumptions,
        notes=notes,
    )


def _list_outputs(rewrite: Rewrite) -> Iterator[Output]:
    if not rewrite.bins:
        return
    least = size = 0
    for packed in rewrite.bins:
        rows = sum(file.record_count or 0 for file in packed.files)
        left = rows - sum(file.deleted_rows or 0 for file in packed.files)
        least += left > 0 or not rows
        size += packed.size * left // rows if rows else packed.size
    count = sum(packed.outputs for packed in rewrite.bins)
    yield Output(
        "data", count, size, True, None, None, least, count, "by the bytes of the rows that are left"
    )
