"""Which layout pays for the predicates that are asked of a table: each that is worth a try is foretold, and ranked.

A layout is ranked by the bytes that it saves for each byte that is rewritten, at the given frequencies: those of whole
files, or, where row groups are asked for and known of all layouts, less the row groups that are ruled out. Of those that
save as many per cent of what is read the simpler comes first. Leaving the table as it is is a layout like the others: it is
the best where no other saves more bytes than are rewritten, or so few that foretelling may be as wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.layout.candidates import list_candidates
from lakelens.analysis.layout.ground import Ground, GroupsRead, Laid, ask_all, count_requests
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
        opened = sum(ground.today[text].files * number for text, number in ground.asked.items())
        today = ground.sum_groups(lambda text: ground.groups_today[text][0])
        #: the row groups and requests of all queries today, where they were asked for
        self.today_row_groups = today.number
        self.today_requests = count_requests(opened, self.today_row_groups)
        self.source = ground.rows.source
        self.sampled_rows = len(ground.rows) if self.source == "sample" else 0
        self.sampled_files = ground.rows.read_files
        pairs = list(self._try_layouts(target_file_size, today.number is not None))
        #: what bytes are counted of: row groups that are read, where they are known of all that is compared, else files
        self.weighed_by = "files"
        if today.number is not None and all(by_groups is not None for _, by_groups in pairs):
            self.weighed_by = "row groups"
        self.today_bytes = sum(
            ground.today[text].size_bytes * number for text, number in ground.asked.items()
        )
        if self.weighed_by == "row groups":
            self.today_bytes -= today.skipped_bytes or 0
        tried = [
            by_groups if by_groups is not None and self.weighed_by == "row groups" else by_files
            for by_files, by_groups in pairs
        ]
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
        self.assumptions = (
            *ground.rules.assumptions,
            *ground.list_doubts(best.then_files or self.files),
            "bytes are those of the files that are read, "
            + (
                "without the row groups that bounds rule out"
                if self.weighed_by == "row groups"
                else "as a whole"
            ),
        )
        self.reads = table.reads - ground.before

    def _try_layouts(
        self, target_file_size: Any, with_groups: bool
    ) -> Iterator[tuple[TriedLayout, TriedLayout | None]]:
        """Try each layout, weighed by whole files and by row groups; None where these are not known."""
        ground = self._ground
        for layout in list_candidates(ground, target_file_size):
            laid = ground.arrange(layout)
            if laid.refusal:
                said = laid.refusal
                row = TriedLayout(
                    0, str(layout), None, self.size_bytes, None, None, None, 0, "", said, layout
                )
                yield row, row
            else:
                groups = {text: laid.read_groups(text) for text in ground.asked} if with_groups else {}
                is_known = with_groups and all(read.number is not None for read in groups.values())
                yield (
                    self._weigh(layout, laid, groups, False),
                    self._weigh(layout, laid, groups, True) if is_known else None,
                )

    def _weigh(
        self, layout: WantedLayout, laid: Laid, groups: Mapping[str, GroupsRead], by_groups: bool
    ) -> TriedLayout:
        """Weigh a layout against today: by the bytes of whole files, or without the row groups that are ruled out."""
        then = saved = opened = 0
        losses = {}
        for text, number in self._ground.asked.items():
            files, size = laid.count(text)
            opened += files * number
            files_today, size_today, *_ = self._ground.today[text]
            if by_groups:
                size -= groups[text].skipped_bytes or 0
                size_today -= self._ground.groups_today[text][0].skipped_bytes or 0
            then += size * number
            saved += (size_today - size) * number
            if size > size_today:
                losses[text] = ((size - size_today) * number, f"{files_today:,} → {files:,} files: {text}")
        worst = max(losses.values(), default=(0, ""))[1]
        rewritten = self.size_bytes
        per_byte = round(saved / rewritten, 3) if rewritten else 0.0
        read = self._ground.sum_groups(groups.__getitem__) if groups else GroupsRead(None, None)
        requests = count_requests(opened, read.number)
        return TriedLayout(
            0,
            str(layout),
            saved,
            rewritten,
            per_byte,
            then,
            laid.outputs[0],
            len(losses),
            worst,
            "",
            layout,
            read.number,
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
