"""The card of a footer: what a data file says of itself, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakelens.model.footer import Footer
from lakelens.views import cells, wording
from lakelens.views.card import ABSENT_TEXT, Card, Cell, Fact, Fold, Grid
from lakelens.views.present import describe, one
