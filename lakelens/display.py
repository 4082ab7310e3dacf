"""Displayable: the one bridge from an object to its views.

Domain classes know nothing else of display; the views are loaded when something is first shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


class Displayable:
    """Gives an object its text tree, its HTML card and its page.

    Detail runs from 0 (one line) over 1 (the card, folded) and 2 (opened one level) to 3 (everything).
    """

    __slots__ = ()

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, detail: int = 1) -> str:
        """This object as a text tree, without any markup. `detail` runs from 0 to 3."""
        from lakelens.views.text import render_text

        return render_text(self, detail=detail)

    def _repr_html_(self) -> str:
        from lakelens.views.html import render_card

        return render_card(self, detail=1)

    def show(self, detail: int = 1) -> None:
        """Show this object: as an HTML card in a notebook, as text elsewhere. `detail` runs from 0 to 3."""
        from lakelens.views.stage import show

        show(self, detail)

    def to_html(self, path: str | os.PathLike[str], detail: int = 2) -> None:
        """Write a self-contained page: light and dark, printable, no script."""
        from lakelens.views.html import write_page

        write_page(self, path, detail=detail)
