"""From an object to its view-model: its card, with what each label means."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from lakelens.model.table import Table
from lakelens.views.card.meanings import add_meanings
from lakelens.views.card.model import Card
from lakelens.views.cards.finding import note_elsewhere, note_newer
from lakelens.views.describe import describe


def present(thing: Any, detail: int = 1) -> Card:
    """Make the card of an object; what an answer about a table took from elsewhere, or could not have, is on it."""
    card = describe(thing, detail)
    table = (
        None if isinstance(thing, Table) else getattr(thing, "table", None)
    )  # a table would look for such a question
    module = sys.modules.get("lakelens.analysis.check.check")  # before it is loaded there is no check
    check = getattr(module, "Check", None)  # another thread may be importing it
    is_check = check is not None and isinstance(thing, check)
    if isinstance(table, Table) and not is_check:  # a check shows itself what is elsewhere
        card = replace(card, body=(*card.body, *note_elsewhere(table), *note_newer(table)))
    return add_meanings(card, detail)
