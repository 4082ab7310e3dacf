"""What was found wrong or odd so far, in what was looked at; and what nobody has looked at."""

from __future__ import annotations

from lakelens.analysis.check.check import Check
from lakelens.analysis.figures import count_known
from lakelens.explorer.answers import find_check
from lakelens.explorer.explorer import Visit, page
from lakelens.explorer.listing import link_rows, make_listing
from lakelens.explorer.offers import find_price
from lakelens.explorer.page import Page, Part
from lakelens.model.finding import Findings
from lakelens.model.table import Table
from lakelens.views.answers.check import format_counts, target_figures
from lakelens.views.card import named, wording
from lakelens.views.card.model import Card, Note, Target
from lakelens.views.cards.finding import format_alert
from lakelens.views.listing import make_source


@page("findings")
def make_findings(visit: Visit) -> Page:
    """Show what was found, what was looked at, and what was not, with the price of looking."""
    table, check = visit.table, find_check(visit.table)
    findings = (table.findings if check is None else check.findings)[:]
    if check is None:
        looked = _describe_reads(table)
    else:
        looked = f"{wording.plural(len(check.survey.states), 'state')}, {format_counts(check)}"
        looked += "; the rows too" if check.has_rows else ""
    unlooked, words, target = _describe_rest(table, check)
    notes = [Note(f"Looked at: {looked}."), Note(f"Not looked at: {unlooked}.")]
    if words:
        notes.append(Note(words, "mute", target=target))
    card = Card("Findings", describe_found(findings), alert=format_alert(findings), body=tuple(notes))
    parts: list[Part] = [card]
    if len(findings):
        # each leads to the figures of the check that prove it
        prove = (
            None if check is None else link_rows("code", lambda at: target_figures(check, findings[at].code))
        )
        parts.append(make_listing(make_source(findings), visit.place, adorn=prove))
    return Page(visit.place, "Findings", parts)


def describe_found(findings: Findings) -> str:
    """Describe how many findings there are of each severity; of none only that none was found in what was looked at.

    >>> describe_found(Findings())
    'none found in what was looked at'
    """
    words = []
    for severity, noun in (("error", "ERROR"), ("warning", "WARNING"), ("note", "note")):
        count = sum(finding.severity == severity for finding in findings)
        words += [wording.plural(count, noun)] if count else []
    return ", ".join(words) or "none found in what was looked at"


def _describe_reads(table: Table) -> str:
    """Describe what was read of the table so far, of what is known to be there."""
    reads, known = table.reads, count_known(table)
    of = f" of at least {wording.count(known)}" if known is not None and known > reads.files else ""
    size = wording.size(reads.bytes)
    return f"{wording.count(reads.files)}{of} {'file' if reads.files == 1 and not of else 'files'}, {size}"


def _describe_rest(table: Table, check: Check | None) -> tuple[str, str, Target | None]:
    """Describe what nobody has looked at, and the words of a link that looks at it, with its price."""
    if check is None:
        rest = "whether every figure agrees with the files, whether every file is there, the rows"
    else:
        rest = "; ".join(wording.clean(gap.what, 160) for gap in check.not_looked_at) or "nothing"
        if check.has_rows:
            return rest, "", None
    price = wording.size(find_price(table).whole)
    return rest, f"Check everything reads about {price}", named.page("check", run="yes", data="yes")
