"""Cards of findings: what is wrong or odd about a table, as found so far."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from lakelens.model.finding import Finding, Findings
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fold
from lakelens.views.describe import describe, one

_SEVERITIES = ("error", "warning", "note")
#: What compares everything that is recorded with what is there.
CHECK = "table.check()"


def format_alert(findings: Findings) -> str:
    """How many errors and warnings there are; empty when there are none."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(
        wording.plural(counts[s], s.upper(), f"{s.upper()}S") for s in ("error", "warning") if counts[s]
    )


def fold_findings(findings: Findings, looked_at: str = "no problems found so far") -> Fold:
    """The findings of a table: the worst is said in the answer; `looked_at` is the answer where there are none."""
    if not len(findings):
        return Fold("Findings", looked_at, lambda: one(cells.hint("every figure and every file", CHECK)))
    notes = sum(finding.severity == "note" for finding in findings)
    worst = min(findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    alert = format_alert(findings)
    counted = wording.plural(notes, "note") if notes and alert else ""
    first = wording.clean(worst.message, 160)
    answer = first if alert else f"{wording.plural(notes, 'note')}: {first}"
    return Fold(
        "Findings",
        f"{counted}; {answer}" if counted else answer,
        lambda: [*_list_findings(findings), cells.hint("every figure and every file", CHECK)],
        alert=alert,
    )


def _list_findings(findings: Findings) -> list[Body]:
    ordered = sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    rows = [
        (
            Cell(f.severity.upper(), "warn" if f.severity != "note" else "mute"),
            cells.code(f.code),
            cells.text(f.message),
            cells.code(wording.name(f.path)),
            cells.text(_format_snapshots(f) or None),
        )
        for f in islice(ordered, display.max_rows)
    ]
    columns = ("severity!", "code!", "what", "where", "snapshots")
    about, total = ("common.finding",), len(ordered)
    grid = cells.grid(columns, rows, how="table.findings", noun="finding", total=total, about=about)
    return [cells.prune(grid)]


def _format_snapshots(finding: Finding) -> str:
    shown = [str(number) for number in finding.snapshots[:3]]
    more = [f"… {wording.count(len(finding.snapshots) - 3)} more"] if len(finding.snapshots) > 3 else []
    return ", ".join([*shown, *more])


@describe.register
def card_of_findings(findings: Findings, detail: int = 1) -> Card:
    """What was found so far, the worst first."""
    notes = sum(finding.severity == "note" for finding in findings)
    sentence = wording.plural(notes, "note") if notes else "" if len(findings) else "no problems found so far"
    body = tuple(_list_findings(findings)) if len(findings) else ()
    return Card(
        "Findings",
        sentence,
        alert=format_alert(findings),
        body=body,
        about=list_sections(findings, "finding"),
    )


@describe.register
def card_of_finding(finding: Finding, detail: int = 1) -> Card:
    """One thing found: what, where, and which snapshots it affects."""
    items = [("what", cells.text(finding.message)), ("where", cells.code(finding.path))]
    if finding.snapshots:
        items.append(("snapshots", cells.code(_format_snapshots(finding))))
    about = list_sections(finding, "finding")
    alert = finding.severity.upper()
    sentence = "" if finding.severity != "note" else "note"
    body = one(cells.pairs(items))
    return Card(
        wording.clean(finding.code),
        sentence,
        alert="" if finding.severity == "note" else alert,
        body=tuple(body),
        about=about,
    )
