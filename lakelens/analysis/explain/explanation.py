"""The answer: which files of a snapshot a predicate needs, and for each file why it is read or why it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.conditions import parse_condition
from lakelens.analysis.explain.files import FileFacts, judge_files, list_leaves
from lakelens.analysis.explain.judgement import (
    ANSWERS,
    Judgement,
    Level,
    Share,
    build_items,
    count_reasons,
    describe_range,
    group_kept,
    group_skipped,
)
from lakelens.analysis.explain.levels import (
    ENOUGH,
    FileGroups,
    Planning,
    count_groups,
    judge_groups,
    judge_manifests,
    sort_manifests,
    try_indexes,
    weigh_planning,
)
from lakelens.analysis.explain.tasks import Tasks, plan_tasks
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.collections import Tabular
from lakelens.model.comparison import sum_known
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet, defer
from lakelens.model.manifest import Manifest
from lakelens.model.measures.rules import find_rewriting
from lakelens.model.scan.placement import open_placement
from lakelens.model.schema import PartitionSpec, Schema
from lakelens.model.snapshot import Snapshot
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms
from lakelens.model.storage import Reads
from lakelens.model.table import Table

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def _list_conjuncts(condition: Condition) -> list[Condition]:
    """List the parts of a predicate that must all hold, those among them that every part of an OR has."""
    if not isinstance(condition, Group):
        return [condition]
    held = [_list_conjuncts(part) for part in condition.parts]
    if condition.kind == "and":
        return [part for parts in held for part in parts]
    first, *others = [{_identify(part): part for part in parts} for parts in held]
    return [condition, *(part for key, part in first.items() if all(key in known for known in others))]


def _identify(part: Condition) -> object:
    return (part.column, part.test, part.values) if isinstance(part, Term) else part


class Explanation(Tabular, Displayable):
    """Why a predicate reads these files of a snapshot, and no others.

    `kept` and `skipped` are data files; an item is skipped only on proof. `levels` says how many manifests and files were
    looked at and left, `groups` what skipped how many files, `answers` what each part of the predicate says of each kept
    file. `predicate` is the text, `condition` what was understood of it.
    """

    def __init__(
        self, table: Table, where: str, snapshot: Snapshot | None, with_row_groups: bool = False
    ) -> None:
        self.table = table
        self.predicate = where
        self.snapshot = snapshot
        self.condition = parse_condition(
            where, table.schema if snapshot is None else _pick_schema(table, snapshot)
        )
        self.with_row_groups = with_row_groups
        self._before = table.reads

    # --- what is judged ------------------------------------------------------------------------------------------------

    @cached_property
    def known(self) -> Condition:
        """The condition under the names by which statistics are known: today's, or `name#id` of a dropped column."""
        today = {found.id: name for name, found in self.table.schema.leaves()}
        is_by_id = self.table.format_version is not None and bool(today)

        def rename(part: Condition) -> Condition:
            if isinstance(part, Group):
                return replace(part, parts=tuple(map(rename, part.parts)))
            if isinstance(part, Term) and is_by_id and not part.type.is_nested and part.field_id is not None:
                return replace(part, column=today.get(part.field_id, f"{part.column}#{part.field_id}"))
            return part

        return rename(self.condition)

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        """The manifests of data files, in the order of their lists."""
        if self.snapshot is None:
            return ()
        return tuple(manifest for manifest in self.snapshot.manifests if manifest.content == "data")

    @cached_property
    def manifest_judgement(self) -> Judgement:
        """What the manifest lists prove of the manifests."""
        return judge_manifests(self.known, self.manifests, open_placement(self.table))

    @cached_property
    def _pool(self) -> FileSet:
        """The files of the manifests that are left; of all of them where a format merges manifests, or they were read."""
        assert self.snapshot is not None
        files = self.snapshot.files
        left = [one for one, kept in zip(self.manifests, self.manifest_judgement.kept, strict=True) if kept]
        return (
            self.snapshot.list_files(left)
            if len(left) < len(self.manifests) and not files.is_loaded
            else files
        )

    @cached_property
    def facts(self) -> FileFacts:
        """What manifests say of the data files of the pool, by column."""
        # without manifests bounds would be read from the files' own footers
        terms = list_terms(self.known) if self.manifests else ()
        leaves = [name for term in terms for name in list_leaves(term)] if self.manifests else None
        return FileFacts(self._pool, open_placement(self.table), leaves)

    @cached_property
    def in_kept_manifests(self) -> NDArray[np.bool_]:
        """For each file of the pool whether its manifest is left."""
        kept = self.manifest_judgement.kept
        return ~self._find_files([one for one, left in zip(self.manifests, kept, strict=True) if not left])

    def _find_files(self, manifests: Sequence[Manifest]) -> NDArray[np.bool_]:
        """For each file of the pool whether it was found in one of some manifests."""
        from lakelens.arrays import np, pc

        if not manifests:
            return np.zeros(len(self.facts), np.bool_)
        paths = text_array([manifest.path for manifest in manifests])
        found = pc.is_in(self.facts.column("manifest"), value_set=paths)
        return np.asarray(found.to_numpy(zero_copy_only=False))

    @cached_property
    def file_judgement(self) -> Judgement:
        """What partitions, buckets, bounds and indexes prove of the files."""
        judgement = judge_files(self.known, self.facts)
        try_indexes(judgement, self._take, self.facts)
        return judgement

    def may_fit(self, files: FileSet, *, bounds: bool = True, by_conjuncts: bool = False) -> list[bool]:
        """Say of each of some data files whether a row that fits may be in it; without `bounds` by its partition alone.

        With `by_conjuncts` partitions are compared with those parts, joined by AND, that name partition columns alone;
        a part that every part of an OR has is one, as an engine takes it out of the parentheses.
        """
        known = self.known
        if by_conjuncts and not bounds:
            columns = {field.source_name for field in self.table.partitioning.fields}
            parts = _list_conjuncts(known)
            chosen = [part for part in parts if {term.column for term in list_terms(part)} <= columns]
            known = Group("", "and", (Constant("", True), *chosen))
        leaves = [name for term in list_terms(known) for name in list_leaves(term)] if bounds else None
        facts = FileFacts(files, open_placement(self.table), leaves)
        kept: list[bool] = judge_files(known, facts).kept.tolist()
        return kept

    # --- the answer ----------------------------------------------------------------------------------------------------

    @cached_property
    def _kept_places(self) -> NDArray[np.int64]:
        from lakelens.arrays import np

        if self.snapshot is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.file_judgement.kept & self.in_kept_manifests)

    def _take(self, places: NDArray[np.int64]) -> FileSet:
        """Take the files of some numbers among those that were judged."""
        return self._pool.take(self.facts.places[places].tolist())

    @cached_property
    def kept(self) -> FileSet:
        """The data files that the predicate needs."""
        if self.snapshot is None:
            return self.table.files
        return self._take(self._kept_places)

    @cached_property
    def skipped(self) -> FileSet:
        """The data files in which no row fits. Reads the manifests that were skipped."""
        if self.snapshot is None:
            return self.table.files
        files = self.snapshot.files

        return defer(lambda: files.where(content="data") - self.kept, lambda: files.columns)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The way from the snapshot to the files that are read, level by level."""
        if self.snapshot is None:
            return ()
        judged, levels = self.manifest_judgement, []
        if self.manifests:
            left = int(self._sum("size_bytes", self.in_kept_manifests))
            skipped = int(judged.skipped.sum())
            levels.append(
                Level("manifest list", len(self.manifests), skipped, count_reasons(judged.reason), left)
            )
        within = self.in_kept_manifests
        reasons = self.file_judgement.reason[within]
        size = int(self._sum("size_bytes", self.file_judgement.kept & within))
        name = "manifests" if self.manifests else "listing"
        levels.append(Level(name, int(within.sum()), int((reasons >= 0).sum()), count_reasons(reasons), size))
        if self.with_row_groups:
            levels.append(count_groups(self.row_groups))
        return tuple(levels)

    @cached_property
    def row_groups(self) -> list[FileGroups]:
        """The row groups of each kept file and what is proved of them; reads what the files say of themselves."""
        storage = self.table.storage
        return judge_groups(
            self.known, self.kept, open_placement(self.table).merging, self._note_unread, storage
        )

    def _note_unread(self, error: LakeError, file: DataFile) -> None:
        self.table.findings.add_error(error, file.path)

    def _sum(self, name: str, mask: NDArray[np.bool_]) -> Any:
        values = self.facts.numpy(name)
        return values[mask & (values > 0)].sum()

    @cached_property
    def file_count(self) -> int:
        """How many data files the snapshot has."""
        return self.sums[-1][1][0]

    def count_files(self, manifests: Sequence[Manifest]) -> tuple[int, int | None, int | None]:
        """Count how many files, rows and bytes some manifests hold: as their list counts them, where many were not read."""
        assert self.snapshot is not None
        files = self.snapshot.list_files(manifests)
        if files is self.snapshot.files or not self.in_kept_manifests.all():  # the pool has them too
            mask = self._find_files(manifests)
            return int(mask.sum()), int(self._sum("record_count", mask)), int(self._sum("size_bytes", mask))
        return len(files), files.record_count, files.size_bytes if files.counted is None else None

    def explain_answer(self, part: Condition, answer: str, places: NDArray[np.int64]) -> str:
        """Explain what stands behind an answer in some files: their values, or the rule by which nothing is known."""
        if answer == "overlaps":
            for reason in ("bounds", "key", "partition"):
                found = describe_range(self.file_judgement, part, reason, places)
                if found:
                    return found
        formats = self.facts.column("file_format")
        if answer == "no_statistics" and formats is not None:
            for term in list_terms(part):
                rule = open_placement(self.table).explain_absence(term, formats[int(places[0])].as_py())
                if rule is not None:
                    return rule
        return ""

    @cached_property
    def groups(self) -> tuple[Share, ...]:
        """What skipped files: one for each part of the predicate, reason and level, the most files first."""
        if self.snapshot is None:
            return ()
        return group_skipped(self)

    @cached_property
    def answers(self) -> tuple[Share, ...]:
        """What keeps files: one for each part of the predicate and each answer to it, the most files first."""
        if self.snapshot is None:
            return ()
        return group_kept(self)

    @property
    def parts(self) -> tuple[Condition, ...]:
        """The parts of the predicate of which each must hold."""
        return (
            self.condition.parts
            if isinstance(self.condition, Group) and self.condition.kind == "and"
            else (self.condition,)
        )

    def answer(self, part: int) -> list[str]:
        """Say what one of `parts` says of each kept file: one of `judgement.ANSWERS`."""
        codes = self.file_judgement.answer(self.file_judgement.parts[part])[self._kept_places]
        return [ANSWERS[code] for code in codes.tolist()]

    def column_of(self, part: int) -> str:
        """The column of a part that compares one column, under the name that its statistics have."""
        found = {term.column for term in list_terms(self.file_judgement.parts[part])}
        return found.pop() if len(found) == 1 else ""

    @cached_property
    def sums(self) -> tuple[tuple[str, tuple[int, int | None, int | None]], ...]:
        """Files, rows and bytes of what was skipped, of what is kept, and of the snapshot: their sum."""
        groups = self.groups
        skipped = (
            sum(share.files for share in groups),
            sum_known(*(share.record_count for share in groups)),
            sum_known(*(share.size_bytes for share in groups)),
        )
        kept = (len(self.kept), self.record_count, self.size_bytes)
        whole = (skipped[0] + kept[0], sum_known(skipped[1], kept[1]), sum_known(skipped[2], kept[2]))
        return (("skipped", skipped), ("kept", kept), ("snapshot", whole))

    @property
    def total_size(self) -> int | None:
        """Bytes of all data files of the snapshot; None where that is not known without reading more."""
        return self.sums[-1][1][2]

    @property
    def record_count(self) -> int | None:
        """The rows of the kept files."""
        return self.kept.record_count

    @property
    def size_bytes(self) -> int | None:
        """The bytes of the kept files."""
        return self.kept.size_bytes

    def tasks(self, size: int | None = None, parallelism: int | None = None) -> Tasks:
        """Say how an engine would divide the kept files into tasks; see `plan_tasks`.

        Parameters
        ----------
        size
            The bytes of a task instead of the table's own.
        parallelism
            How many tasks the engine runs at once; None where that is not known.

        Raises
        ------
        Unsupported
            The format has no rules for it.
        """
        return plan_tasks(self.kept, self.table, size, parallelism)

    @cached_property
    def planning(self) -> Planning | None:
        """What planning the query reads; None where writing the manifests again would not help."""
        rewriting = find_rewriting(self.table, self.snapshot)
        pairs = zip(self.manifests, self.manifest_judgement.kept, strict=True)
        left = [manifest for manifest, is_kept in pairs if is_kept]
        if rewriting is None or len(left) <= ENOUGH:
            return None
        made = sort_manifests(rewriting, self._count_partitions(rewriting.spec))
        if made is None:
            return None
        judged = judge_manifests(self.known, made, open_placement(self.table))
        return weigh_planning(rewriting, "this predicate", left, len(self.manifests), int(judged.kept.sum()))

    def _count_partitions(self, spec: PartitionSpec) -> Counter[tuple[Any, ...]]:
        """Count the files of the manifests that are left by their values of a partitioning."""
        columns = [self.facts.partition(field.name) for field in spec.fields]
        specs = self.facts.column("spec_id")
        if specs is None or None in columns:
            return Counter()
        values = zip(*(column.to_pylist() for column in columns if column is not None), strict=True)
        own = self.in_kept_manifests.tolist()
        return Counter(
            found
            for found, number, is_left in zip(values, specs.to_pylist(), own, strict=True)
            if is_left and number == spec.id
        )

    @property
    def reads(self) -> Reads:
        """What the answer itself has read by now."""
        return self.table.reads - self._before

    def to_arrow(self) -> pa.Table:
        """One row an item: each manifest, each file of the manifests that are left, and each row group where asked for.

        Columns: `level` ("manifest", "file", "row_group"), `path`, `row_group` (its number in the file), `decision`
        ("kept", "skipped"), `reason` (see `judgement`), `term` (the part of the predicate that decided, cut at 400
        characters), `column`, `lower` and `upper` (the values that its rows can have, as text), `record_count`,
        `size_bytes`.
        """

        import pyarrow  # noqa: F401 - without it there are the rows of `list_items` alone

        table: pa.Table = build_items(self)
        return table

    def list_items(self) -> list[dict[str, Any]]:
        """The rows of `to_arrow` as dicts, which need no Arrow."""
        rows: list[dict[str, Any]] = build_items(self).to_pylist()
        return rows

    def __repr__(self) -> str:
        size = self.size_bytes
        return (
            f"<Explanation of {self.table.name}: reads {len(self.kept):,} of {self.file_count:,} files, "
            f"{0 if size is None else size:,} bytes>"
        )


def explain_predicate(table: Table, where: str, snapshot: Any, row_groups: bool) -> Explanation:
    """Explain why a predicate reads some files of a snapshot (None: the current one) and skips the others."""
    found = table.current if snapshot is None else table.snapshot(snapshot)
    return Explanation(table, where, found, row_groups)


def _pick_schema(table: Table, snapshot: Snapshot) -> Schema:
    """Pick the schema whose names a reader of the snapshot uses."""
    if snapshot is table.current:
        return table.schema
    try:
        return snapshot.schema
    except LakeError:
        return table.schema
