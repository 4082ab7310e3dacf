"""What predicates read of a table today, what they would read if its rows were arranged otherwise, and the cost.

Nothing is written. What the known rows do not say is called so: a figure that would be a guess is None, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.dry_run import Plan, plan_procedure
from lakelens.analysis.layout.ground import Ground, Laid, ask_all, count_requests, open_rules
from lakelens.analysis.layout.wanted import WantedLayout, read_layout, resolve_layout
from lakelens.analysis.statement import list_forms, read_statement
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError, Unsupported, say_value
from lakelens.model.collections import Items, Tabular
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import format_size

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.table import Table


@dataclass(frozen=True, slots=True)
class Foretold(Named):
    """One predicate: what it reads today, and what it would read then.

    `asked` is how often it is asked. `then_files` and `then_bytes` are expected, `most_files` and `most_bytes` what they
    are if each file reaches three gaps between its known rows further on both sides; None where nothing can be said, for
    the reason that `known_by` gives. `by_today` says what rules files out today, or that nothing does. `row_groups` and
    `then_row_groups` are those that bounds leave of the files, where they were asked for.
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
    row_groups: int | None = None
    then_row_groups: int | None = None

    @property
    def requests(self) -> int | None:
        """How many requests its files take today: two to open each, and one for each row group."""
        return count_requests(self.files, self.row_groups)

    @property
    def then_requests(self) -> int | None:
        """How many requests its files would take."""
        return count_requests(self.then_files, self.then_row_groups)

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
        Fact("row_groups", "int64"),
        Fact("then_row_groups", "int64"),
        Fact("requests", "int64"),
        Fact("then_requests", "int64"),
        Fact("reads_more", "bool"),
        Fact("known_by"),
        Fact("by_today"),
    )


class WhatIf(Tabular, Displayable):
    """What predicates would read if the rows of a table were arranged otherwise.

    `layout`, `predicates` (one row each, today and then), `files`, `size_bytes`, `then_files` and `then_size` of the whole
    table, `rewritten_files` and `rewritten_bytes` of what is laid out again, and `made_files` that come out of it, `calls`,
    `assumptions`, `refusal` where nothing can be said. Bytes of a sum are those of one asking times how often it is asked.
    """

    def __init__(self, table: Table, layout: WantedLayout, laid: Laid, plan: Plan | None = None) -> None:
        self.table, self.layout = table, layout
        self.snapshot = table.current
        self._laid = laid
        ground = laid.ground
        self.refusal = laid.refusal
        self.source = ground.rows.source
        self.sampled_rows = len(ground.rows) if self.source == "sample" else 0
        self.sampled_files = ground.rows.read_files
        self.is_whole = ground.rows.is_whole
        self.with_row_groups = ground.with_row_groups
        #: how much of a column the bounds of a file span, where that says nothing of what is between
        self.wide = dict(ground.rows.wide)
        self.files, self.size_bytes = len(ground.facts), int(ground.sizes.sum())
        self.rewritten_files = len(ground.moved_facts)
        self.rewritten_bytes = int(ground.sizes[ground.is_moved].sum())
        self.made_files: int | None = None if self.refusal else laid.outputs[0]
        self.then_files: int | None = None
        self.then_size: int | None = None
        if not self.refusal:
            self.then_files = self.files - self.rewritten_files + laid.outputs[0]
            self.then_size = self.size_bytes - self.rewritten_bytes + laid.outputs[1]
        self.calls = ground.rules.write_calls(laid.resolved)
        if plan is not None and ground.is_part:
            self.calls = (plan.call,)
        self.assumptions = (*ground.rules.assumptions, *ground.list_doubts(laid.outputs[0]))
        rows = []
        for text, asked in ground.asked.items():
            files, size, by, *_ = ground.today[text]
            groups = ground.groups_today[text][0].number if ground.with_row_groups else None
            if self.refusal:
                rows.append(
                    Foretold(text, asked, files, size, None, None, None, None, self.refusal, by, groups)
                )
            else:
                then = laid.read_groups(text).number if ground.with_row_groups else None
                rows.append(Foretold(text, asked, files, size, *laid.foretell(text), by, groups, then))
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
    table: Table,
    layout: Any,
    where: Any,
    predicates: Any = None,
    sample: int | None = None,
    row_groups: bool = False,
) -> WhatIf:
    """Foretell what predicates read under a layout: the question behind `Table.what_if` and `lakelens what-if`."""
    plan = None
    if isinstance(layout, str):
        rules, forms = open_rules(table), list_forms(table.driver.part("maintenance", {}))
        verbs = ["call", *(form.split()[0].lower() for form in forms.values())]
        if (layout.lower().split() or [""])[0] in verbs:
            statement, layout = layout, WantedLayout(**rules.read_call(read_statement(layout, forms)))
            plan = plan_procedure(table, statement)
            if plan.refusal is not None:
                raise Unsupported(f"the engine would not do that: {plan.refusal}", path=table.location)
        else:
            layout = read_layout(layout)
    if not isinstance(layout, WantedLayout):
        raise LakeError("a layout is a lakelens.Layout, its words or a CALL", seen=say_value(layout))
    asked = ask_all(table, where, predicates)
    columns = list(resolve_layout(layout, table.schema).columns)
    ground = Ground(table, asked, sample, columns, row_groups, None if plan is None else plan.read_paths)
    return WhatIf(table, layout, ground.arrange(layout), plan)
