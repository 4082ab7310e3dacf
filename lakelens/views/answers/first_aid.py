"""The cards of first aid and of known defects: what is lost, what is whole, and which rules were tried."""

from __future__ import annotations

from itertools import islice

from lakelens.analysis.check.check import Defects, FirstAid
from lakelens.options import display
from lakelens.views.answers.check import list_defects
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Body, Card, Note
from lakelens.views.cards.tree import format_referrers, link_referrers
from lakelens.views.describe import describe

_ABOUT = ("common.check",)


@describe.register
def card_of_first_aid(aid: FirstAid, detail: int = 1) -> Card:
    """Which files are lost, which states need them, and the calls that read what is whole."""
    head, *sentences = aid.sentences
    own = {f"{affected}." for affected in aid.affected}
    body: list[Body] = []
    if aid.affected:
        rows = [
            (
                named.stored(affected.file, cells.code(affected.file.relative_path)),
                cells.text(affected.file.role),
                cells.text(affected.file.reason),
                named.linked(
                    cells.text(format_referrers(affected.states) or "no state"),
                    *link_referrers(affected.states),
                ),
            )
            for affected in islice(aid.affected, display.max_rows)
        ]
        names = ("file", "role", "why", "who refers to it")
        total = len(aid.affected)
        body.append(cells.grid(names, rows, how=".affected", noun="file", total=total, about=_ABOUT))
    body += [Note(wording.clean(sentence, 400)) for sentence in sentences if sentence not in own]
    body += [cells.hint("", call) for call in aid.calls]
    return Card("First aid", wording.clean(head, 400), body=tuple(body))


@describe.register
def card_of_defects(defects: Defects, detail: int = 1) -> Card:
    """Which known defects concern the writers of a table, and where one shows."""
    showing = [one.rule.code for one in defects.showing]
    noun = f"{wording.count(len(showing))} shown" if showing else "None shows"
    many = wording.plural(len(defects.tried), "known defect")
    sentence = f"{wording.count(len(defects.concerning))} of {many} concern the writers of this table"
    return Card(noun, sentence, body=tuple(list_defects(defects)), about=_ABOUT)
