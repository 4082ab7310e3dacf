"""Which layout pays for the predicates that are asked of a table: each that is worth a try is foretold, and ranked.

A layout is ranked by the bytes that it saves for each byte that is rewritten, at the given frequencies; of those that save
as many per cent of what is read the simpler comes first. Leaving the table as it is is a layout like the others: it is the
best where no other saves more bytes than are rewritten, or so few that foretelling may be as wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.layout.candidates import list_candidates
from lakelens.analysis.layout.ground import Ground, Laid, ask_all, count_requests
from lakelens.analysis.layout.wanted import WantedLayout, read_size
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.collections import Items, Tabular
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import format_size

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.table import Table

#: What is saved has to be more than this share of what is read today: what is foretold may be as far off.
_LEAST_SHARE = 0.10
_LEAVE_IT = "leave it"


@dataclass(frozen=True, slots=True)
class TriedLayout(Named):
    """One layout that was tried, with what it saves and costs; None and a reason where nothing can be foretold of it.

    `rank` counts from 1; leaving the table as it is has 0. `saved_bytes` are fewer bytes to read, by all queries, and below
    zero where more are read. `worst` is the predicate that loses most. `then_row_groups` and `then_requests` are those of
    all queries, where row groups were asked for.
    """

    rank: int
    layout: str
    saved_bytes: int | None
    rewritten_bytes: int
    saved_per_byte: float | None
    then_bytes: int | None
    then_files: int | None
    losers: int
    worst: str = ""
    refusal: str = ""
    wanted: WantedLayout | None = None
    then_row_groups: int | None = None
    then_requests: int | None = None


class TriedLayouts(Items[TriedLayout]):
    """The layouts that were tried, the best first; those that cannot be foretold are last."""

    __slots__ = ()
    facts = (
        Fact("rank", "int64"),
        Fact("layout"),
        Fact("saved_bytes", "int64"),
        Fact("rewritten_bytes", "int64"),
        Fact("saved_per_byte", "float64"),
        Fact("then_bytes", "int64"),
        Fact("then_files", "int64"),
        Fact("then_row_groups", "int64"),
        Fact("then_requests", "int64"),
        Fact("losers", "int64"),
        Fact("worst"),
        Fact("refusal"),
    )


class Advice(Tabular, Displayable):
    """Which layout pays for the predicates that are asked, or that the table is best left as it is.

    `best` is a layout for `Table.what_if`, None where it says to leave the table; `layouts` are all that were tried.
    """

    def __init__(self, table: Table, ground: Ground, target_file_size: Any) -> None:
        self.table, self._ground = table, ground
        self.snapshot = table.current
        self.asked = sum(ground.asked.values())
        self.predicates = len(ground.asked)
        self.files, self.size_bytes = len(ground.facts), int(ground.sizes.sum())
        self.today_bytes = sum(ground.today[text][1] * number for text, number in ground.asked.items())
        opened = sum(ground.today[text][0] * number for text, number in ground.asked.items())
        #: the row groups and requests of all queries today, where they were asked for
        self.today_row_groups = ground.sum_groups(lambda text: ground.groups_today[text][0])
        self.today_requests = count_requests(opened, self.today_row_groups)
        self.source = ground.rows.source
        self.sampled_rows = len(ground.rows) if self.source == "sample" else 0
        self.sampled_files = ground.rows.read_files
        tried = list(self._try_layouts(target_file_size))
        groups, requests = self.today_row_groups, self.today_requests
        leave = TriedLayout(
            0, _LEAVE_IT, 0, 0, None, self.today_bytes, None, 0, "", "", None, groups, requests
        )
        self.layouts = TriedLayouts(_rank(tried, leave, self.size_bytes))
        best = self.layouts[0]
        self.best = best.wanted
        self.calls = (
            () if best.wanted is None else ground.rules.write_calls(ground.arrange(best.wanted).resolved)
        )
        self.assumptions = (*ground.rules.assumptions, *ground.list_doubts(best.then_files or self.files))
        self.reads = table.reads - ground.before

    def _try_layouts(self, target_file_size: Any) -> Iterator[TriedLayout]:
        ground = self._ground
        for layout in list_candidates(ground, target_file_size):
            laid = ground.arrange(layout)
            if laid.refusal:
                said = laid.refusal
                yield TriedLayout(
                    0, str(layout), None, self.size_bytes, None, None, None, 0, "", said, layout
                )
            else:
                yield self._weigh(layout, laid)

    def _weigh(self, layout: WantedLayout, laid: Laid) -> TriedLayout:
        """Weigh a layout against today."""
        then, losses, opened = 0, {}, 0
        for text, number in self._ground.asked.items():
            files, size = laid.count(text)
            opened += files * number
            files_today, size_today, *_ = self._ground.today[text]
            then += size * number
            if size > size_today:
                losses[text] = ((size - size_today) * number, f"{files_today:,} → {files:,} files: {text}")
        worst = max(losses.values(), default=(0, ""))[1]
        saved, rewritten = self.today_bytes - then, self.size_bytes
        per_byte = round(saved / rewritten, 3) if rewritten else 0.0
        said = str(layout)
        groups = self._ground.sum_groups(laid.count_groups)
        requests = count_requests(opened, groups)
        return TriedLayout(
            0,
            said,
            saved,
            rewritten,
            per_byte,
            then,
            laid.outputs[0],
            len(losses),
            worst,
            "",
            layout,
            groups,
            requests,
        )

    @property
    def verdict(self) -> str:
        """The best layout in words, or `leave it`."""
        return self.layouts[0].layout

    @property
    def saved_bytes(self) -> int:
        """Bytes that the best layout saves, 0 where the table is to be left."""
        return self.layouts[0].saved_bytes or 0

    @property
    def then_bytes(self) -> int:
        """Bytes that all queries would read under the best layout."""
        return self.today_bytes - self.saved_bytes

    @property
    def tried(self) -> int:
        """How many layouts were foretold."""
        return sum(row.then_bytes is not None for row in self.layouts) - 1

    @property
    def not_foretold(self) -> int:
        """Of how many layouts nothing can be foretold."""
        return len(self.layouts) - 1 - self.tried

    @property
    def reason(self) -> str:
        """Why the table is to be left; empty where a layout pays."""
        if self.best is not None:
            return ""
        first = next((row for row in self.layouts if row.wanted is not None), None)
        if first is None:
            return "no predicate names a column whose bounds are recorded"
        if first.saved_bytes is None:
            return first.refusal
        if first.saved_bytes <= 0:
            return "no layout reads less than today"
        if first.saved_bytes <= first.rewritten_bytes:
            per_byte = f"{first.saved_per_byte:,.2f}"
            best = f"the best of {self.tried} layouts saves {per_byte} bytes for each byte rewritten"
            return f"{best}; worth it is more than 1"
        share = first.saved_bytes * 100 // max(self.today_bytes, 1)
        return (
            f"the best of {self.tried} layouts saves {share} % of what is read; foretelling may be 10 % off"
        )

    @property
    def headline(self) -> str:
        """What it comes to, in a line."""
        if self.best is None:
            return f"{_LEAVE_IT}; {self.reason}"
        return f"{self.verdict}; saves {format_size(self.saved_bytes)} of {format_size(self.today_bytes)} to read"

    def to_arrow(self) -> pa.Table:
        """One row a layout, the best first."""
        return self.layouts.to_arrow()

    def __repr__(self) -> str:
        return f"<Advice for {self.table.name}: {self.headline}>"


def _rank(tried: list[TriedLayout], leave: TriedLayout, size: int) -> Iterator[TriedLayout]:
    """Put what was tried in order; leaving it is before what does not pay."""
    foretold, today = [row for row in tried if row.saved_bytes is not None], leave.then_bytes or 0
    # `tried` is in the order of simplicity, which a sort keeps
    foretold.sort(key=lambda row: -round((row.saved_bytes or 0) * 100 / max(today, 1)))
    least = max(size, _LEAST_SHARE * today)
    pays = [row for row in foretold if (row.saved_bytes or 0) > least]
    others = [row for row in foretold if (row.saved_bytes or 0) <= least]
    yield from (replace(row, rank=rank) for rank, row in enumerate(pays, 1))
    yield leave
    yield from (replace(row, rank=rank) for rank, row in enumerate(others, len(pays) + 1))
    yield from (row for row in tried if row.saved_bytes is None)


def advise_layout(
    table: Table,
    where: Any,
    predicates: Any = None,
    target_file_size: Any = None,
    sample: int | None = None,
    row_groups: bool = False,
) -> Advice:
    """Advise a layout: the question behind `Table.advise` and `lakelens advise`."""
    ground = Ground(table, ask_all(table, where, predicates), sample, (), row_groups)
    if not ground.sizes.sum():
        raise LakeError("a table without data files has nothing to arrange", path=table.location)
    return Advice(table, ground, read_size(target_file_size))
