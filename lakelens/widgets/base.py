"""What the widgets share: packaged files, the still picture, what a view draws, and answers to one that opens a fold."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Protocol

import anywidget

from lakelens.views.card.wording import clean
from lakelens.views.render.text import render_text

# JupyterLab and Notebook 7 put an error line in place of a widget whose kernel is gone; a widget that lives has elements
_NO_ERROR = (
    "<style>.jp-OutputArea-child:has(+.jp-OutputArea-child .ll-still):not(:has(.jp-OutputArea-output *))"
    "{display:none}</style>"
)


@cache
def read_static(name: str) -> str:
    """Read a packaged file."""
    return files("lakelens.widgets").joinpath("static", name).read_text("utf-8")


def read_module(*names: str) -> str:
    """Read the JavaScript of a widget, after what all of them share."""
    return "\n".join(read_static(name) for name in ("common.js", *names))


def read_style(sheet: str, name: str) -> str:
    """Read the style of a widget, after the sheet of the cards that are in it and what all widgets share."""
    return f"{sheet}\n{read_static('common.css')}\n{read_static(name)}"


class StillWidget(anywidget.AnyWidget):
    """A widget that a reader without a kernel sees as a still picture.

    A widget gives its object, its style (`read_style`) and what is drawn to `super().__init__`, names its keys in `_keys`
    for the list that "?" shows, and does in `_answer` what its browser side asks for.

    Synced traits are what a reader can choose, and no more: a host shows them all. What is drawn (`view`, and whatever else
    a widget gives to `_draw`) goes to the browser in messages: once when the widget is made, then what has changed, and all
    of it again for a view that asks.
    """

    _css = ""
    _keys: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, thing: Any, style: str, **parts: Any) -> None:
        self._thing = thing
        self._version = 0
        self._shown: dict[str, Any] = {"keys": self._keys}
        super().__init__(_css=style)
        self.on_msg(self._receive)
        self._draw(**parts)

    @property
    def view(self) -> dict[str, Any]:
        """What the browser draws, as plain data."""
        found: dict[str, Any] = self._shown["view"]
        return found

    @property
    def detail(self) -> dict[str, Any]:
        """What the browser says of what is chosen, as plain data."""
        found: dict[str, Any] = self._shown["detail"]
        return found

    def _draw(self, **parts: Any) -> None:
        """Change what is drawn. The browser gets the parts that are given, together, and keeps the others."""
        self._shown |= parts
        self._version += 1
        self._tell(parts if self._version > 1 else self._shown)

    def _tell(self, parts: dict[str, Any]) -> None:
        is_whole = len(parts) == len(self._shown)
        self.send({"type": "shown", "version": self._version, "whole": is_whole, "parts": parts})

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """A message of the browser: a new view asks for all that is drawn, the rest is for the widget.

        Each is answered, if only by that it was heard: a browser that hears nothing says so.
        """
        if not isinstance(content, dict):
            return
        if content.get("type") == "show":
            self._tell(self._shown)
            return
        try:
            self._answer(content)
        finally:
            self.send({"type": "heard"})

    def _answer(self, content: dict[str, Any]) -> None:
        """Say what a widget does with a message of its own browser side."""

    def _render_still(self) -> str:
        """Render the still picture as HTML."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        if data is None:
            return None
        data = {**data, "text/html": self._render_still()}
        return (data, *rest) if rest else data

    def _ipython_display_(self, **_: Any) -> None:
        """Show the widget, then the still picture, which the living widget hides.

        Two outputs: where a notebook is opened again without its kernel, a host that knows of widgets shows nothing but an
        error in place of the first, whatever else is in its bundle. So the first says nothing to all others.
        """
        from IPython.display import publish_display_data

        bundle = self._repr_mimebundle_()
        data, *metadata = bundle if isinstance(bundle, tuple) else (bundle or {},)
        still = data.get("text/html", "")
        living = {**data, "text/html": "", "text/plain": ""}
        publish_display_data(living, *metadata)  # type: ignore[no-untyped-call]
        drawn = {
            "text/html": f'<div class="ll-still">{_NO_ERROR}{still}</div>',
            "text/plain": render_text(self._thing),
        }
        publish_display_data(drawn)  # type: ignore[no-untyped-call]


class Openable(Protocol):
    """Rows with folds: gives those behind one, None where nothing is behind it."""

    def open(self, identifier: str) -> list[dict[str, Any]] | None:
        """Open the rows behind a fold."""


def answer_open(
    rows: Openable, content: Any, missing: str, *, is_current: bool = True
) -> dict[str, Any] | None:
    """Give the answer to a browser that asks for the rows behind a fold; None for any other message.

    `missing` is what a reader sees where nothing is behind the fold, or where it is not `is_current` any more.
    """
    identifier = content.get("id") if isinstance(content, dict) else None
    if not isinstance(identifier, str) or content.get("type") != "open":
        return None
    try:
        found = rows.open(identifier) if is_current else None
        message = missing if found is None else ""
    except Exception as error:  # the browser waits for an answer, whatever went wrong
        found, message = None, f"cannot be shown: {type(error).__name__}: {clean(error, 300)}"
    return {"type": "rows", "id": identifier, "rows": found or [], "message": message}
