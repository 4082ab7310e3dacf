"""What the widgets share: packaged files, the static picture, and answers to a browser that opens a fold."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import anywidget

from lakelens.views.card.wording import clean


@cache
def read_static(name: str) -> str:
    """A packaged file."""
    return files("lakelens.widgets").joinpath("static", name).read_text("utf-8")


def read_module(name: str) -> str:
    """The JavaScript of a widget, after what all of them share."""
    return f"{read_static('common.js')}\n{read_static(name)}"


class StillWidget(anywidget.AnyWidget):
    """A widget whose static picture is what a reader sees without a kernel."""

    _css = ""

    def _render_still(self) -> str:
        """The static picture as HTML."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        if data is None:
            return None
        data = {**data, "text/html": self._render_still()}
        return (data, *rest) if rest else data


class Openable(Protocol):
    """Rows with folds: gives those behind one, None where nothing is behind it."""

    def open(self, identifier: str) -> list[dict[str, Any]] | None:
        """The rows behind a fold."""


def answer_open(
    rows: Openable, content: Any, missing: str, *, is_current: bool = True
) -> dict[str, Any] | None:
    """The answer to a browser that asks for the rows behind a fold; None for any other message.

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
