"""The card of evidence: each claim, and below it the places that say so: file, way, bytes, value and clause."""

from __future__ import annotations

from dataclasses import replace

from lakelens.evidence.claims import Answered, Citation, Cited, Evidence
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Cell, Column, Fold, Grid, Note
from lakelens.views.describe import describe

_MOST_PLACES = 5
_MOST_OCTETS = 4
_NAMES = ("place", "at", "bytes", "value", "file", "clause")
_OFFSETS = (
    "at: bytes of the file, or of what a compressed block of it unpacks to, from the first to the last. "
    "clause: the section of the specification. Each place was read again before it was cited."
)


@describe.register
def card_of_evidence(evidence: Evidence, detail: int = 1) -> Card:
    """Draw every claim as the heading of its places; words of the table stand behind *the table says*."""
    files = {citation.file for cited in evidence.cited for citation in cited.citations}
    sentence = (
        f"{wording.plural(len(evidence.cited), 'claim')}, {wording.plural(evidence.places, 'place')} "
        f"in {wording.plural(len(files), 'file')}"
    )
    # of many those first that decide something, then sums
    ranked = sorted(evidence.cited, key=lambda cited: (cited.rule is None, not cited.how))
    shown = tuple(ranked[: display.max_rows]) if len(ranked) > display.max_rows else evidence.cited
    grid = _grid_places(shown, detail)
    if more := len(ranked) - len(shown):
        grid = replace(grid, more=f"and {wording.plural(more, 'more claim')}", how=".evidence.cited")
    body: list[Body] = [grid, Note(_OFFSETS, "mute")]
    if evidence.unsaid:
        body.append(
            Note(f"{wording.plural(evidence.unsaid, 'claim')} left out: no place bears them out.", "mute")
        )
    if evidence.is_cut:
        body.append(Note("There is more to be claimed: only the first claims were looked at.", "mute"))
    return Card("Evidence", sentence, body=tuple(body))


@describe.register
def card_of_answered(answered: Answered, detail: int = 1) -> Card:
    """Draw the card of the answer, with its evidence as the last of its folds."""
    card, cited = describe(answered.answer, detail), card_of_evidence(answered.evidence, detail)
    return replace(
        card, folds=(*card.folds, Fold("Evidence", cited.sentence, lambda: cited.body, opened=True))
    )


@describe.register
def card_of_claim(cited: Cited, detail: int = 1) -> Card:
    """Draw one claim with all of its places."""
    return Card(
        f"Claim {cited.number}",
        _format_claim(cited),
        body=(_grid_places((cited,), 3), Note(_OFFSETS, "mute")),
    )


def _grid_places(claims: tuple[Cited, ...], detail: int) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    groups: list[tuple[int, str]] = []
    for cited in claims:
        groups.append((len(rows), f"{cited.number}  {_format_claim(cited)}"))
        shown = cited.citations if detail > 1 else cited.citations[:_MOST_PLACES]
        rows += [_make_row(citation) for citation in shown]
        left = cited.left + len(cited.citations) - len(shown)
        if left:
            words = f"and {wording.plural(left, 'more place')}"
            rows.append((Cell(words, "mute"), *(Cell("") for _ in _NAMES[1:])))
    columns = tuple(Column(name, is_short=name in ("at", "bytes")) for name in _NAMES)
    return Grid(columns, tuple(rows), groups=tuple(groups))


def _format_claim(cited: Cited) -> str:
    """Say a claim in a line, without the words of the table joined to it."""
    value = wording.clean(cells.value(cited.value).text, 120)
    about = "" if cited.about is None else f" [{wording.clean(str(cited.about), 80)}]"
    if cited.rule is not None:
        return f"{_format_verdict(cited)}: {cited.says}{about}"
    if cited.is_quoted:
        return f"{cited.says}{about}: the table says: {value}"
    derived = f", the {cited.how} of {wording.plural(len(cited.citations) + cited.left, 'place')}"
    return f"{cited.says}{about}: {value}" + (derived if cited.how in ("sum", "count", "median") else "")


def _format_verdict(cited: Cited) -> str:
    """Say what was decided, and by which comparison of a figure with whose limit."""
    rule = cited.rule
    assert rule is not None
    figure, limit = (wording.clean(cells.value(held).text, 80) for held in (cited.figure, cited.limit))
    words = ", ".join(filter(None, (wording.clean(rule.words, 120), rule.source)))
    is_kept = cited.value == rule.kept
    return f"{cited.value}, since {figure} is {'' if is_kept else 'not '}{rule.sense} {limit} ({words})"


def _make_row(citation: Citation) -> tuple[Cell, ...]:
    at = "" if citation.at is None else f"{citation.at[0]:,}–{citation.at[1] - 1:,}"
    block = "" if citation.block is None else f"of block {citation.block[0]:,}–{citation.block[1] - 1:,}"
    octets = citation.octets[:_MOST_OCTETS].hex(" ") + (" …" if len(citation.octets) > _MOST_OCTETS else "")
    is_list = citation.how == "the number of its items"
    value = cells.value(len(citation.value) if is_list else citation.value)
    means = f"is {citation.meaning}" if citation.names and citation.meaning != citation.value else ""
    return (
        Cell(wording.clean(citation.path, 120), "code"),
        Cell(at, title=block),
        Cell(octets, "code"),
        cells.join(value, Cell(f" {means or ('items' if is_list else '')}", "mute")),
        Cell(wording.clean(citation.file.rpartition("/")[2], 120), "code", wording.clean(citation.file, 400)),
        Cell(citation.clause.partition(", ")[2] or citation.clause, "small", citation.clause),
    )
