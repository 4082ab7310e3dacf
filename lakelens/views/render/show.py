"""Where a view is shown: as a card in a notebook, as text elsewhere."""

from __future__ import annotations

import sys

from lakelens.views.render.text import render_text


def show(thing: object, detail: int = 1) -> None:
    """Show an object where the reader is."""
    if detail > 0 and is_notebook():
        from IPython.display import publish_display_data

        from lakelens.views.render.html import render_card

        publish_display_data(  # type: ignore[no-untyped-call]
            {"text/plain": render_text(thing, detail), "text/html": render_card(thing, detail)}
        )
    else:
        print(render_text(thing, detail))


def is_notebook() -> bool:
    """Whether a kernel runs this code, so that HTML reaches a reader."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
