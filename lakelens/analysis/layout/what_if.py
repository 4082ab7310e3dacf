"""What predicates read of a table today, what they would read if its rows were arranged otherwise, and the cost.

    today    `explain`'s own rules, on the files that there are: exact
    then     the same rules, on files that are laid out of the rows that are known (`known`, `laying`): foretold

Nothing is written. What the known rows do not say is called so: a figure that would be a guess is None, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.explanation import Explanation
from lakelens.analysis.explain.files import FileFacts, judge_files, list_leaves
from lakelens.analysis.explain.levels import try_indexes
from lakelens.analysis.layout.known import KnownRows, draw_rows, read_rows
from lakelens.analysis.layout.laying import LaidPlacement, Laying
from lakelens.analysis.layout.logged import LoggedPredicates
from lakelens.analysis.layout.wanted import Resolved, WantedLayout, read_layout, resolve_layout
from lakelens.analysis.layout.weights import Weights, read_weights
from lakelens.analysis.statement import read_statement
from lakelens.answers.question import load
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError, Unsupported, say_value
from lakelens.model.collections import Items, Tabular
from lakelens.model.driver import open_part
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import format_size
from lakelens.model.measures.laying import LayoutRules
from lakelens.model.scan.placement import open_placement
from lakelens.model.stats import list_terms

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.scan.placement import Placement
    from lakelens.model.schema import Field, PartitionField
    from lakelens.model.table import Table

_MOST_PREDICATES = 1_000
#: how many mean gaps between known rows a file reaches further, on both sides, at most: of values that are spread evenly
#: 5 in 100 ends are beyond
_MARGIN = 3.0
_FEW = 30


@dataclass(frozen=True, slots=True)
class Foretold(Named):
    """One predicate: what it reads today, and what it would read then.

    `asked` is how often it is asked. `then_files` and `then_bytes` are expected, `most_files` and `most_bytes` what they
    are if each file reaches three gaps between its known rows further on both sides; None where nothing can be said, for
    the reason that `known_by` gives. `by_today` says what rules files out today, or that nothing does.
    """

    predicate: str
    asked: int
    files: int
    size_bytes: int
    then_files: int | None
    then_bytes: int | None
    most_files: int | None
    most_bytes: int | None
    known_by: str
    by_today: str

    @property
    def reads_more(self) -> bool:
        """Whether it would read more than today."""
        return self.then_bytes is not None and self.then_bytes > self.size_bytes


class ForetoldPredicates(Items[Foretold]):
    """What was asked, in its order."""

    __slots__ = ()
    facts = (
        Fact("predicate"),
        Fact("asked", "int64"),
        Fact("files", "int64"),
        Fact("size_bytes", "int64"),
        Fact("then_files", "int64"),
        Fact("then_bytes", "int64"),
        Fact("most_files", "int64"),
        Fact("most_bytes", "int64"),
        Fact("reads_more", "bool"),
        Fact("known_by"),
        Fact("by_today"),
    )


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


def _refuse(table: Table) -> LayoutRules:
    raise Unsupported(f"how a {table.format} table is arranged again is not known", path=table.location)


class Ground:
    """What a layout is judged on: the files of the current state, the predicates, and the rows that are known."""

    def __init__(
        self, table: Table, asked: Mapping[str, int], sample: int | None, columns: Sequence[str] = ()
    ) -> None:
        self.table, self.asked, self.sample = table, asked, sample
        if table.current is None:
            raise Unsupported("a table without a snapshot has no rows to arrange", path=table.location)
        self.before = table.reads
        self.live = table.current.files
        self.rules: LayoutRules = open_part(table, "layout", _refuse)
        self.placement: Placement = open_placement(table)
        self.conditions = {text: Explanation(table, text, table.current).known for text in self.asked}
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
        return FileFacts(self.live, self.placement, [*dict.fromkeys([*self._stated, *self.names])])

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
        if self.sample is None:
            return draw_rows(self.facts, fields)
        return read_rows(self.live, self.facts, fields, self.table.storage, self.sample)

    @cached_property
    def weights(self) -> Weights:
        """What the footers of some files say of how rows are stored."""
        return read_weights(self.live, self.facts, self.table.storage)

    @cached_property
    def today(self) -> dict[str, tuple[int, int, str]]:
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
            read[text] = (int(judgement.kept.sum()), int(self.sizes[judgement.kept].sum()), words)
        return read

    def _take(self, places: NDArray[np.int64]) -> Any:
        return self.live.take(self.facts.places[places].tolist())

    def list_doubts(self, files: int) -> list[str]:
        """List what the answer does not know of a layout that makes this number of files."""
        rows, doubts = self.rows, []
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
            len(ground.facts),
        )
        self.placement = LaidPlacement(ground.placement, self.laying.partition_fields)
        self._judged: dict[float, FileFacts] = {}  # by margin

    @cached_property
    def refusal(self) -> str:
        """Why nothing can be said of this layout; empty where something can."""
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
        if self.refusal:
            return 0, 0
        facts = self._facts(1.0)
        return len(facts), int(facts.numpy("size_bytes").sum())

    def _facts(self, margin: float) -> FileFacts:
        if margin not in self._judged:
            ground = self.ground
            names = [name for name in ground.names if ground.has_bounds(name)]
            nans = {name: ground.facts.stat("nan_counts", name) for name in names}
            counted = [
                name for name, known in nans.items() if known is not None and known.null_count < len(known)
            ]
            self._judged[margin] = FileFacts(
                self.laying.arrange(names, counted, margin), self.placement, names
            )
        return self._judged[margin]

    def foretell(self, text: str) -> tuple[int, int, int, int, str]:
        """Foretell a predicate: files and bytes, the most that they may be, and by what that is known."""
        condition, rows = self.ground.conditions[text], self.ground.rows
        counts = self.count(text)
        most = counts if rows.is_whole else tuple(map(max, counts, self.count(text, _MARGIN)))
        if rows.source == "bounds":
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
        """Count the files that a predicate would read, and their bytes, where each file is wider by some gaps."""
        facts = self._facts(margin)
        kept = judge_files(self.ground.conditions[text], facts).kept
        return int(kept.sum()), int(facts.numpy("size_bytes")[kept].sum())


class WhatIf(Tabular, Displayable):
    """What predicates would read if the rows of a table were arranged otherwise.

    `layout`, `predicates` (one row each, today and then), `then_files` and `then_size` of the whole table, `calls`,
    `assumptions`, `refusal` where nothing can be said. Bytes of a sum are those of one asking times how often it is asked.
    """

    def __init__(self, table: Table, layout: WantedLayout, laid: Laid) -> None:
        self.table, self.layout = table, layout
        self.snapshot = table.current
        self._laid = laid
        ground = laid.ground
        self.refusal = laid.refusal
        self.source = ground.rows.source
        self.sampled_rows = len(ground.rows) if self.source == "sample" else 0
        self.sampled_files = ground.rows.read_files
        self.is_whole = ground.rows.is_whole
        #: how much of a column the bounds of a file span, where that says nothing of what is between
        self.wide = dict(ground.rows.wide)
        self.files, self.size_bytes = len(ground.facts), int(ground.sizes.sum())
        self.then_files: int | None = None if self.refusal else laid.outputs[0]
        self.then_size: int | None = None if self.refusal else laid.outputs[1]
        self.calls = ground.rules.write_calls(laid.resolved)
        self.assumptions = (*ground.rules.assumptions, *ground.list_doubts(laid.outputs[0]))
        rows = []
        for text, asked in ground.asked.items():
            files, size, by = ground.today[text]
            if self.refusal:
                rows.append(Foretold(text, asked, files, size, None, None, None, None, self.refusal, by))
            else:
                rows.append(Foretold(text, asked, files, size, *laid.foretell(text), by))
        self.predicates = ForetoldPredicates(rows)
        self.reads = table.reads - ground.before

    @property
    def asked(self) -> int:
        """How many queries are counted."""
        return sum(row.asked for row in self.predicates)

    @property
    def today_bytes(self) -> int:
        """The bytes that all queries read today."""
        return sum(row.size_bytes * row.asked for row in self.predicates)

    @property
    def then_bytes(self) -> int | None:
        """The bytes that all queries would read; None where nothing can be said."""
        if self.refusal:
            return None
        return sum((row.then_bytes or 0) * row.asked for row in self.predicates)

    @property
    def most_bytes(self) -> int | None:
        """The same, if each file reaches three gaps between its known rows further on both sides."""
        if self.refusal:
            return None
        return sum((row.most_bytes or 0) * row.asked for row in self.predicates)

    @property
    def losers(self) -> int:
        """How many predicates would read more than today."""
        return sum(row.reads_more for row in self.predicates)

    @property
    def headline(self) -> str:
        """What it comes to, in a line."""
        if self.then_bytes is None:
            return "cannot be foretold"
        many = len(self.predicates)
        noun = "predicate" if many == 1 else "predicates"
        verb = "reads" if self.losers == 1 else "read"
        more = f"; {self.losers} of {many} {noun} {verb} more" if self.losers else ""
        return f"{format_size(self.then_bytes)} instead of {format_size(self.today_bytes)} to read{more}"

    def to_arrow(self) -> pa.Table:
        """One row a predicate, with what it reads today and then."""
        return self.predicates.to_arrow()

    def __repr__(self) -> str:
        return f"<WhatIf of {self.table.name}, {self.layout}: {self.headline}>"


def foretell_layout(
    table: Table, layout: Any, where: Any, predicates: Any = None, sample: int | None = None
) -> WhatIf:
    """Foretell what predicates read under a layout: the question behind `Table.what_if` and `lakelens what-if`."""
    if isinstance(layout, str):
        rules: LayoutRules = open_part(table, "layout", _refuse)
        is_call = re.match(r"\s*call\b", layout, re.I) is not None
        layout = (
            WantedLayout(**rules.read_call(read_statement(layout, {}))) if is_call else read_layout(layout)
        )
    if not isinstance(layout, WantedLayout):
        raise LakeError("a layout is a lakelens.Layout, its words or a CALL", seen=say_value(layout))
    asked = ask_all(table, where, predicates)
    ground = Ground(table, asked, sample, list(resolve_layout(layout, table.schema).columns))
    return WhatIf(table, layout, ground.arrange(layout))
