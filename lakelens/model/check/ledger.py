"""What a check has compared: how many figures of each kind, how many of them differ, and what it did not look at.

A line of the ledger is one kind of figure, as `totals of snapshots`. Whoever compares figures adds them to a line; those
that differ become findings, which name the file and the place in it.

>>> ledger = Ledger()
>>> line = ledger.line("rows of files", "entries", "their footers")
>>> line.compare(3, 3, "record-count", "/t/a.parquet", "rows")
True
>>> line.compare(4, 3, "record-count", "/t/b.parquet", "rows")
False
>>> ledger.findings[0].message, list(ledger.comparisons)
('rows: 4 recorded, 3 found', [<Comparison rows of files: 2 compared, 1 differs>])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lakelens.display import Displayable
from lakelens.lazy import dataclass
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.finding import Findings, Severity

#: The ids of the snapshots that a finding affects, or what gives them where there is a finding.
Affected = Iterable[int] | Callable[[], Iterable[int]]
#: Findings of one code that name a place each; those after them are counted together.
MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayable):
    """Figures of one kind that a check has compared.

    `recorded` says which, `recorded_in` where they are recorded, `compared_with` what with; `compared` is how many, `differ`
    how many of those differ. `codes` are those of the findings that came of it.
    """

    recorded: str
    recorded_in: str
    compared_with: str
    compared: int
    differ: int = 0
    codes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        differ = "none differs" if not self.differ else f"{self.differ:,} differ{'s' * (self.differ == 1)}"
        return f"<Comparison {self.recorded}: {self.compared:,} compared, {differ}>"


class Comparisons(Items[Comparison]):
    """What a check has compared, one kind of figure each.

    >>> Comparisons([Comparison("totals", "summaries", "entries", 5)]).to_arrow()["compared"].to_pylist()
    [5]
    """

    __slots__ = ()
    facts = (
        Fact("recorded"),
        Fact("recorded_in"),
        Fact("compared_with"),
        Fact("compared", "int64"),
        Fact("differ", "int64"),
    )


@dataclass(frozen=True, slots=True, repr=False)
class Gap(Displayable):
    """Something that a check did not look at: `what`, `why`, and the `call` that would look at it, if there is one."""

    what: str
    why: str
    call: str = ""

    def __repr__(self) -> str:
        return f"<Gap {self.what}>"


class Gaps(Items[Gap]):
    """What a check did not look at."""

    __slots__ = ()
    facts = (Fact("what"), Fact("why"), Fact("call"))


class LedgerLine:
    """One kind of figure of a ledger."""

    def __init__(self, findings: Findings, recorded: str, recorded_in: str, compared_with: str) -> None:
        self._findings = findings
        self.recorded, self.recorded_in, self.compared_with = recorded, recorded_in, compared_with
        self.compared = self.differing = 0
        self._noted: dict[str, int] = {}

    def agree(self, count: int = 1) -> None:
        """Count figures that were compared and agree."""
        self.compared += count

    def differ(
        self, severity: Severity, code: str, path: str, message: str, snapshots: Affected = ()
    ) -> None:
        """Count a figure that differs, and keep the finding. A note is no difference: it is odd and explained."""
        self.compared += 1
        self.differing += severity != "note"
        self.note(severity, code, path, message, snapshots)

    def differ_alike(self, code: str, count: int) -> None:
        """Count figures that differ as a hundred others do whose places are named."""
        self.compared += count
        self.differing += count
        if count:
            self._noted[code] = self._noted.get(code, 0) + count

    def note(self, severity: Severity, code: str, path: str, message: str, snapshots: Affected = ()) -> None:
        """Keep a finding of a figure that is counted already; of one code only the first hundred name a place."""
        self._noted[code] = self._noted.get(code, 0) + 1
        if self._noted[code] <= MOST_FINDINGS:
            ids = snapshots() if callable(snapshots) else snapshots
            self._findings.add(severity, code, path, message, tuple(ids))

    def compare(
        self,
        recorded: Any,
        found: Any,
        code: str,
        path: str,
        what: str,
        snapshots: Affected = (),
        severity: Severity = "warning",
    ) -> bool:
        """Compare one figure; whether the two are equal. Where none is recorded nothing is compared."""
        if recorded is None or found is None:
            return True
        if recorded == found:
            self.compared += 1
            return True
        message = f"{what}: {format_figure(recorded)} recorded, {format_figure(found)} found"
        self.differ(severity, code, path, message, snapshots)
        return False

    def require(
        self,
        holds: bool,
        code: str,
        path: str,
        message: str,
        snapshots: Affected = (),
        severity: Severity = "error",
    ) -> bool:
        """Count a rule that holds, or keep the finding that it does not; whether it holds."""
        if holds:
            self.compared += 1
        else:
            self.differ(severity, code, path, message, snapshots)
        return holds

    def close(self) -> Comparison:
        """The line as it is, after a finding for each code of which there were too many."""
        for code, count in self._noted.items():
            if count > MOST_FINDINGS:
                more = count - MOST_FINDINGS
                like = next(finding for finding in self._findings if finding.code == code)
                self._findings.add(like.severity, code, "", f"{more:,} more of this kind are not listed")
        sums = self.compared, self.differing
        return Comparison(self.recorded, self.recorded_in, self.compared_with, *sums, tuple(self._noted))


class Ledger:
    """Every line, the findings of all of them, and what was not looked at."""

    def __init__(self) -> None:
        self.findings = Findings()
        self._lines: dict[str, LedgerLine] = {}
        self._gaps: dict[str, Gap] = {}

    def line(self, recorded: str, recorded_in: str = "", compared_with: str = "") -> LedgerLine:
        """The line of a kind of figures; where it was opened before, that one."""
        if recorded not in self._lines:
            self._lines[recorded] = LedgerLine(self.findings, recorded, recorded_in, compared_with)
        return self._lines[recorded]

    def leave(self, what: str, why: str, call: str = "") -> None:
        """Say that something was not looked at."""
        self._gaps[what] = Gap(what, why, call)

    @property
    def comparisons(self) -> Comparisons:
        """The lines in which anything was compared."""
        closed = [line.close() for line in self._lines.values()]
        return Comparisons(line for line in closed if line.compared)

    @property
    def gaps(self) -> Gaps:
        """What was not looked at."""
        return Gaps(self._gaps.values())


def format_figure(figure: Any) -> str:
    """Format a figure in a message.

    >>> format_figure(12345), format_figure("a"), format_figure(None)
    ('12,345', "'a'", 'nothing')
    """
    if figure is None:
        return "nothing"
    if isinstance(figure, bool) or not isinstance(figure, int):
        text = repr(figure) if isinstance(figure, str | bytes) else str(figure)
        return text if len(text) <= 80 else text[:80] + "…"
    return f"{figure:,}" if abs(figure) < 10**13 else str(figure)  # an id is no amount


def name_some(items: Sequence[Any], most: int = 5) -> str:
    """Name the first of some things in a line, and how many more there are.

    >>> name_some([1, 2, 3], most=2)
    '1, 2 and 1 more'
    """
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most:,} more"
