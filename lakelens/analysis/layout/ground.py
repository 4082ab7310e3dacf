"""What a layout is judged on: what is asked, the files that there are, and those that would be.

today    `explain`'s own rules, on the files that there are: exact
then     the same rules, on files that are laid out of the rows that are known (`known`, `laying`, `laid`): foretold
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.analysis.explain.explanation import Explanation
from lakelens.analysis.explain.files import FileFacts, judge_files, list_leaves
from lakelens.analysis.explain.levels import FileGroups, judge_groups, try_indexes
from lakelens.analysis.layout.known import KnownRows, draw_rows, read_rows
from lakelens.analysis.layout.laid import LaidPlacement, describe_parts
from lakelens.analysis.layout.laying import Laying
from lakelens.analysis.layout.logged import LoggedPredicates
from lakelens.analysis.layout.wanted import Resolved, WantedLayout, resolve_layout
from lakelens.analysis.layout.weights import Weights, read_weights
from lakelens.answers.question import load
from lakelens.caching import cached_property
from lakelens.errors import LakeError, Unsupported, say_value
from lakelens.model.comparison import sum_known
from lakelens.model.driver import open_part
from lakelens.model.measures.laying import WHOLE_FILE, LayoutRules
from lakelens.model.scan.placement import open_placement
from lakelens.model.stats import list_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileSet
    from lakelens.model.scan.placement import Placement
    from lakelens.model.schema import Field, PartitionField
    from lakelens.model.table import Table

_MOST_PREDICATES = 1_000
#: how many mean gaps between known rows a file reaches further, on both sides, at most: of values that are spread evenly
#: 5 in 100 ends are beyond
_MARGIN = 3.0
_FEW = 30
_GROUPS = (
    "row groups are as large as full ones of today, else as a writer fills them; what dictionaries and bloom filters rule "
    "out besides is not counted, today and then"
)
_REQUESTS = (
    "requests: two to open a file (the length of its footer, the footer), and one for each row group, all of whose columns "
    "are read"
)


def count_requests(files: int | None, groups: int | None) -> int | None:
    """Count the requests that files and their row groups take, as the assumptions say; None where either is not known.

    >>> count_requests(3, 5), count_requests(3, None)
    (11, None)
    """
    return None if files is None or groups is None else 2 * files + groups


def read_questions(where: Any) -> dict[str, int]:
    """Read which predicates are asked and how often: one, several, or a mapping from each to its number.

    >>> read_questions(["id = 1", "id = 2", "id = 1"]), read_questions({"id = 1": 30})
    ({'id = 1': 2, 'id = 2': 1}, {'id = 1': 30})
    """
    asked: dict[str, int] = {}
    if where is None or isinstance(where, str):
        where = () if where is None else (where,)
    if not isinstance(where, Iterable):
        raise LakeError("where= takes predicates in SQL", seen=say_value(where))
    pairs = where.items() if isinstance(where, Mapping) else ((text, 1) for text in where)
    for text, number in pairs:
        if not isinstance(text, str) or isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise LakeError(
                "where= takes predicates in SQL, or how often each is asked", seen=say_value((text, number))
            )
        asked[text] = asked.get(text, 0) + number
    return asked


def ask_all(table: Table, where: Any, predicates: Any) -> dict[str, int]:
    """Read all that is asked of a table: given in words, and what event logs say of it."""
    asked = Counter(read_questions(where.of(table) if isinstance(where, LoggedPredicates) else where))
    if predicates is not None:
        if not isinstance(predicates, LoggedPredicates):
            predicates = load("lakelens.answers.logs:read_predicates")(predicates)
        asked.update(predicates.of(table))
    if not asked:
        raise LakeError("no predicate to foretell", hint='where=["id = 5"], or predicates="eventlog/"')
    if len(asked) > _MOST_PREDICATES:
        raise LakeError(f"{len(asked):,} predicates; at most {_MOST_PREDICATES:,}")
    return dict(asked)


def open_rules(table: Table) -> LayoutRules:
    """Open what the engine of a table's format does when it arranges rows. Raises `Unsupported`."""

    def refuse(table: Table) -> LayoutRules:
        raise Unsupported(f"how a {table.format} table is arranged again is not known", path=table.location)

    rules: LayoutRules = open_part(table, "layout", refuse)
    return rules


class ReadToday(NamedTuple):
    """What a predicate reads today: files, bytes, what rules out most of the others, and how much of it stays as it is."""

    files: int
    size_bytes: int
    by: str
    kept_files: int
    kept_bytes: int


class GroupsRead(NamedTuple):
    """What bounds leave of the row groups of files that are read: their number, and the bytes of those they rule out.

    None where they are not known.
    """

    number: int | None
    skipped_bytes: int | None


class Ground:
    """What a layout is judged on: the files of the current state, the predicates, and the rows that are known.

    `chosen` are the paths of the files that are laid out again, None where all are; the others stay as they are.
    """

    def __init__(
        self,
        table: Table,
        asked: Mapping[str, int],
        sample: int | None,
        columns: Sequence[str] = (),
        with_row_groups: bool = False,
        chosen: Collection[str] | None = None,
    ) -> None:
        self.table, self.asked, self.sample = table, asked, sample
        self.with_row_groups, self._chosen = with_row_groups, chosen
        if table.current is None:
            raise Unsupported("a table without a snapshot has no rows to arrange", path=table.location)
        self.before = table.reads
        self.live = table.current.files
        self.rules = open_rules(table)
        self.placement: Placement = open_placement(table)
        self._explained = {text: Explanation(table, text, table.current) for text in self.asked}
        self.conditions = {text: explained.known for text, explained in self._explained.items()}
        self.leaves: dict[str, Field] = dict(table.schema.leaves())
        terms = [term for condition in self.conditions.values() for term in list_terms(condition)]
        spoken = [term.column for term in terms if term.column in self.leaves]
        #: the columns that predicates, partitions or layouts name
        self.names = list(
            dict.fromkeys([*spoken, *columns, *(field.source_name for field in self.kept_fields)])
        )
        self._stated = [name for term in terms for name in list_leaves(term)]

    @cached_property
    def kept_fields(self) -> tuple[PartitionField, ...]:
        """The partition fields that the table has now."""
        return tuple(field for field in self.rules.fields if field.source_name in self.leaves)

    @cached_property
    def facts(self) -> FileFacts:
        """What manifests say of the data files, of every column that is spoken of."""
        return self._read_facts(self.live)

    def _read_facts(self, files: FileSet) -> FileFacts:
        return FileFacts(files, self.placement, [*dict.fromkeys([*self._stated, *self.names])])

    @cached_property
    def is_moved(self) -> NDArray[np.bool_]:
        """Which of the files are laid out again."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        paths = self.facts.column("path")
        if self._chosen is None or paths is None:
            return np.ones(len(self.facts), np.bool_)
        chosen = pa.array(list(self._chosen), paths.type)
        moved: NDArray[np.bool_] = pc.is_in(paths, value_set=chosen).to_numpy(zero_copy_only=False)
        return moved

    @cached_property
    def is_part(self) -> bool:
        """Whether some files stay as they are."""
        return not self.is_moved.all()

    @cached_property
    def moved(self) -> FileSet:
        """The files that are laid out again."""
        return self._take(self.is_moved.nonzero()[0]) if self.is_part else self.live

    @cached_property
    def moved_facts(self) -> FileFacts:
        """What manifests say of these."""
        return self._read_facts(self.moved) if self.is_part else self.facts

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """The bytes of the files."""
        import numpy as np

        sizes: NDArray[Any] = np.maximum(self.facts.numpy("size_bytes"), 0)
        return sizes

    @cached_property
    def rows(self) -> KnownRows:
        """The rows that are known of: from bounds, or read."""
        fields = {name: self.leaves[name] for name in self.names if name in self.leaves}
        if self.sample is None or not len(self.moved_facts):
            return draw_rows(self.moved_facts, fields)
        return read_rows(self.moved, self.moved_facts, fields, self.table.storage, self.sample)

    @cached_property
    def weights(self) -> Weights:
        """What the footers of some files say of how rows are stored."""
        return read_weights(self.moved, self.moved_facts, self.table.storage)

    @cached_property
    def today(self) -> dict[str, ReadToday]:
        """Of each predicate the files and bytes that it reads, and what rules out most of the others."""
        from lakelens.analysis.explain.judgement import REASONS

        read = {}
        for text, condition in self.conditions.items():
            judgement = judge_files(condition, self.facts)
            try_indexes(judgement, self._take, self.facts)
            reasons = Counter(judgement.reason[judgement.skipped].tolist())
            words = "nothing rules a file out"
            if reasons:
                code, number = reasons.most_common(1)[0]
                words = f"{REASONS[code].replace('_', ' ')}: {number:,} of {len(self.facts):,} files are ruled out"
            kept, stays = judgement.kept, judgement.kept & ~self.is_moved
            sums = [(int(mask.sum()), int(self.sizes[mask].sum())) for mask in (kept, stays)]
            read[text] = ReadToday(*sums[0], words, *sums[1])
        return read

    @cached_property
    def groups_today(self) -> dict[str, tuple[GroupsRead, GroupsRead]]:
        """Of each predicate the row groups that it reads by the footers of the files, and those that stay as they are."""
        groups: dict[str, tuple[GroupsRead, GroupsRead]] = {}
        moved = frozenset(path for (path,) in self.moved.pick("path")) if self.is_part else None
        merging, storage, findings = self.placement.merging, self.table.storage, self.table.findings

        def note(error: LakeError, file: DataFile) -> None:
            findings.add_error(error, file.path)

        for text, explained in self._explained.items():
            condition = self.conditions[text]
            judged = judge_groups(condition, explained.kept, merging, note, storage, by_footers=True)
            stays = [read for read in judged if moved is not None and read.file.path not in moved]
            groups[text] = _sum_groups(judged), _sum_groups(stays)
        return groups

    def sum_groups(self, count: Callable[[str], GroupsRead]) -> GroupsRead:
        """Sum the row groups of all predicates, each as often as it is asked; None where not known, or not asked for."""
        if not self.with_row_groups:
            return GroupsRead(None, None)
        reads = [(count(text), number) for text, number in self.asked.items()]
        return GroupsRead(
            sum_known(*(None if read.number is None else read.number * number for read, number in reads)),
            sum_known(
                *(
                    None if read.skipped_bytes is None else read.skipped_bytes * number
                    for read, number in reads
                )
            ),
        )

    def _take(self, places: NDArray[np.int64]) -> Any:
        return self.live.take(self.facts.places[places].tolist())

    def list_doubts(self, files: int) -> list[str]:
        """List what the answer does not know of a layout that makes this number of files."""
        rows, doubts = self.rows, []
        if self.is_part:
            moved, every = len(self.moved_facts), len(self.facts)
            doubts.append(f"{moved:,} of {every:,} files are laid out again; the others stay as they are")
        if rows.source == "sample":
            doubts.append(
                "how the new files compress is measured on the columns that are known, encoded in the new order"
            )
        else:
            doubts.append("how the new files compress is not foretold: bytes are those of today's rows")
        if rows.source == "sample" and not rows.is_whole:
            doubts.append(
                f"of each new file about {len(rows) // max(files, 1):,} rows are known; "
                f"of fewer than {_FEW} its bounds say little"
            )
        if self.with_row_groups:
            doubts += [_GROUPS, _REQUESTS]
        if len(self.facts) < len(self.live):
            doubts.append("rows that deletes took are still counted")
        return doubts

    def has_bounds(self, name: str) -> bool:
        """Whether files record bounds of a column: those that are written again do then, too."""
        return self.facts.has_stats(name)

    def arrange(self, layout: WantedLayout) -> Laid:
        """Arrange the table, in thought."""
        resolved = resolve_layout(layout, self.table.schema)
        if layout.strategy not in self.rules.strategies:
            known = ", ".join(self.rules.strategies)
            raise Unsupported(f"{self.table.format} has no order {layout.strategy}", hint=known)
        most, is_sort = self.rules.most_sorted, layout.strategy == "sort"
        if is_sort and most is not None and (len(resolved.keys) > most or resolved.keys[0].is_descending):
            raise Unsupported(
                f"{self.table.format} sorts by one column, upwards, and by several on a curve",
                hint="zorder_by=…",
            )
        for field in resolved.spec.fields if resolved.spec is not None else ():
            word = field.transform.partition("[")[0]
            if word not in self.rules.transforms:
                raise Unsupported(
                    f"the partitions of a {self.table.format} table cannot be changed later",
                    path=self.table.location,
                )
        if layout.partition_by == () and not resolved.keys:
            raise LakeError("a layout without partitions names an order", hint="sort_by=…")
        return Laid(self, resolved)


class Laid:
    """One layout on a ground: the files that come out, and what each predicate reads of them."""

    def __init__(self, ground: Ground, resolved: Resolved) -> None:
        self.ground, self.resolved = ground, resolved
        self.laying = Laying(
            resolved,
            ground.rows,
            ground.rules,
            ground.kept_fields,
            lambda field, source, value: ground.placement.transform(field, source.type, value),
            ground.leaves,
            ground.weights,
            len(ground.moved_facts),
        )
        self.placement = LaidPlacement(ground.placement, self.laying.partition_fields)
        self._judged: dict[tuple[float, bool], FileFacts] = {}  # by margin, of files or of row groups

    @property
    def moves_nothing(self) -> bool:
        """Whether a part of the table is laid out again that has no files."""
        return self.ground.is_part and not len(self.ground.moved_facts)

    @cached_property
    def refusal(self) -> str:
        """Why nothing can be said of this layout; empty where something can."""
        if self.moves_nothing:
            return ""
        unknown = self.laying.unknown
        if unknown:
            how = "bounds" if self.ground.sample is None else "sample"
            return f"nothing is known of {', '.join(unknown)}: no {how} says anything of it"
        wide = self.ground.rows.wide
        spread = [key.column for key in self.resolved.keys if key.column in wide]
        if spread:
            share = round(wide[spread[0]] * 100)
            return (
                f"bounds are too wide: a file spans {share} % of {spread[0]}, and what is between is not known; "
                "sample=100_000 reads rows"
            )
        return ""

    @cached_property
    def outputs(self) -> tuple[int, int]:
        """How many files come out, and their bytes."""
        if self.refusal or self.moves_nothing:
            return 0, 0
        facts = self._facts(1.0)
        return len(facts), int(facts.numpy("size_bytes").sum())

    def _facts(self, margin: float, of_groups: bool = False) -> FileFacts:
        if (margin, of_groups) not in self._judged:
            ground = self.ground
            names = [name for name in ground.names if ground.has_bounds(name)]
            nans = {name: ground.facts.stat("nan_counts", name) for name in names}
            counted = [
                name
                for name, known in nans.items()
                if ground.rules.counts_nans or (known is not None and known.null_count < len(known))
            ]
            starts = self.laying.group_starts if of_groups else self.laying.starts
            laid = describe_parts(self.laying, starts, names, counted, margin)
            self._judged[margin, of_groups] = FileFacts(laid, self.placement, names)
        return self._judged[margin, of_groups]

    def foretell(self, text: str) -> tuple[int, int, int, int, str]:
        """Foretell a predicate: files and bytes, the most that they may be, and by what that is known."""
        condition, rows = self.ground.conditions[text], self.ground.rows
        counts = self.count(text)
        most = counts if rows.is_whole else tuple(map(max, counts, self.count(text, _MARGIN)))
        if self.moves_nothing:
            how = "nothing is laid out again"
        elif rows.source == "bounds":
            how = "bounds of files, as if their values were spread evenly between"
        elif rows.is_whole:
            how = f"all rows of {rows.read_files:,} files"
        else:
            how = f"sample: {counts[0]:,} to {most[0]:,} files" if most[0] > counts[0] else "sample"
        lacking = [term.column for term in list_terms(condition) if not self.ground.has_bounds(term.column)]
        if lacking:
            how += f"; no bounds of {lacking[0]} are recorded"
        return counts[0], counts[1], most[0], most[1], how

    def count(self, text: str, margin: float = 1.0) -> tuple[int, int]:
        """Count the files that a predicate would read, and their bytes, where each new file is wider by some gaps."""
        today = self.ground.today[text]
        if self.moves_nothing:
            return today.kept_files, today.kept_bytes
        facts = self._facts(margin)
        kept = judge_files(self.ground.conditions[text], facts).kept
        size = int(facts.numpy("size_bytes")[kept].sum())
        return today.kept_files + int(kept.sum()), today.kept_bytes + size

    def read_groups(self, text: str) -> GroupsRead:
        """Foretell which row groups a predicate would read of its files; None where their size is not known."""
        import numpy as np

        laying, condition = self.laying, self.ground.conditions[text]
        _, stays = self.ground.groups_today[text]
        if self.moves_nothing or stays.number is None or stays.skipped_bytes is None:
            return stays
        if not laying.group_rows:
            return GroupsRead(None, None)
        groups = self._facts(1.0, True)
        file = np.searchsorted(laying.starts, laying.group_starts, side="right") - 1
        is_open = judge_files(condition, self._facts(1.0)).kept[file]
        kept = is_open
        if self.ground.rules.row_group != WHOLE_FILE:
            kept = judge_files(condition, groups).kept & is_open
        # what a row group has beside its columns is read with the footer
        sizes = np.maximum(groups.numpy("size_bytes") - laying.weights.overhead, 0)
        skipped = int(sizes[is_open & ~kept].sum())
        return GroupsRead(stays.number + int(kept.sum()), stays.skipped_bytes + skipped)


def _sum_groups(judged: Iterable[FileGroups]) -> GroupsRead:
    """Sum what is left of the row groups of some files, and the bytes of the others; None where a file has none."""
    count = skipped = 0
    for read in judged:
        if read.judgement is None or read.groups is None:
            return GroupsRead(None, None)
        count += int(read.judgement.kept.sum())
        pairs = zip(read.groups.size_bytes, read.judgement.kept.tolist(), strict=True)
        skipped += sum(size for size, is_kept in pairs if not is_kept)
    return GroupsRead(count, skipped)
