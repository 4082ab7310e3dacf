"""The one bridge from an object of the model upwards: to its views, and to the analyses made of it.

Domain classes know nothing else of either: `call` is the door, and loads what it is asked for when it is first called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


class Documentation:
    """The documentation of a class with what its attributes hold, put together when somebody asks for it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, thing: object, kind: type) -> str:
        home = sys.modules.get(kind.__module__)
        if home is None or getattr(home.__spec__, "_initializing", False):
            return self.text  # dataclasses look whether there is any
        from lakelens.views.names import document

        return document(kind, self.text)


def _make_harmless(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Make a `__repr__` as one line without active characters: what it quotes comes from a lake, and goes to a terminal."""

    @wraps(show)
    def show_visible(self: Any) -> str:
        from lakelens.errors import visible_line

        return visible_line(show(self))

    show_visible.is_harmless = True  # type: ignore[attr-defined]
    return show_visible


class Named:
    """Gives an object's reader its public names in `dir()`, and their meanings in the documentation of its class.

    Whatever a class says of its objects in its `__repr__` is shown without active characters.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__dict__.get("__repr__")
        if own is not None and not hasattr(own, "is_harmless"):
            cls.__repr__ = _make_harmless(own)  # type: ignore[method-assign]
        text = cls.__dict__.get("__doc__")
        if isinstance(text, str):
            cls.__doc__ = Documentation(text)  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        from lakelens.views.names import list_hidden

        kind: type = type(self)
        hidden = list_hidden(kind)
        return [name for name in super().__dir__() if not name.startswith("_") and name not in hidden]


class Displayable(Named):
    """Gives an object its text tree, its HTML card and its page.

    Detail runs from 0 (one line) over 1 (the card: facts, folds with their answers, one of them open) and 2 (every fold
    open, the footers of data files read, what each name means) to 3 (everything: documents as stored, longer lists).
    """

    __slots__ = ()

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, detail: int = 1) -> str:
        """This object as a text tree, without any markup.

        Parameters
        ----------
        detail
            From 0 (one line) to 3 (everything).
        """
        return str(call("views.render.text:render_text", self, detail=detail))

    def _repr_html_(self) -> str:
        return str(call("views.render.html:render_card", self, detail=1))

    def show(self, detail: int = 1, *, meanings: bool | None = None) -> None:
        """Show this object: as an HTML card in a notebook, as text elsewhere.

        Parameters
        ----------
        detail
            From 0 (one line) to 3 (everything).
        meanings
            Whether what each name stands for is a column of the tables; None for `options.display.meanings`.
        """
        from lakelens.views.render.text import show

        show(self, detail, meanings)

    def to_html(self, path: str | os.PathLike[str], detail: int = 2, *, meanings: bool | None = None) -> None:
        """Write a self-contained page: light and dark, printable, no script.

        Parameters
        ----------
        path
            The file to write; one that is there is overwritten.
        detail
            From 0 (one line) to 3 (everything).
        meanings
            Whether what each name stands for is a column of the tables; None for `options.display.meanings`.
        """
        from lakelens.views.render.html import write_page

        write_page(self, path, detail=detail, meanings=meanings)


class Interactive(Displayable):
    """Gives an object a widget as well: the same picture, to explore."""

    __slots__ = ()

    def widget(self) -> Any:
        """This object as a widget for a notebook; needs anywidget (`pip install 'lakelens[notebook]'`)."""
        return call("widgets:make_widget", self)


class Living(Interactive):
    """Gives an object whose widget is what a notebook shows; where there is no kernel, or no anywidget, it is the card."""

    __slots__ = ()

    def _ipython_display_(self) -> None:
        """Show the widget. Raises `NotImplementedError`, after which IPython shows the card, where there can be none."""
        if not call("widgets:show_widget", self):
            raise NotImplementedError

    def show(self, detail: int = 1, *, meanings: bool | None = None) -> None:
        """Show this object: as a widget in a notebook, as text elsewhere.

        Parameters
        ----------
        detail
            From 0 (one line) to 3 (everything); other than 1 it is the card.
        meanings
            Whether what each name stands for is a column of the tables; None for `options.display.meanings`.
        """
        if detail != 1 or not call("widgets:show_widget", self):
            super().show(detail, meanings=meanings)


def call(place: str, *given: Any, **options: Any) -> Any:
    """Call what a room above has as `module:name` below the package; it is loaded now, when it is first asked for."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), name)(*given, **options)
