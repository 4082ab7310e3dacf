"""Widgets: views that can be asked on. Each is asked for (`.widget()`); the static picture stays the default display.

They need `anywidget` (`pip install lakelens[notebook]`), which is loaded when the first widget is made.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported

if TYPE_CHECKING:
    from lakelens.model.bytes_view import BytesView


def make_bench(view: BytesView) -> Any:
    """Make the widget to change bytes in. Raises `Unsupported` where anywidget is not installed."""
    _need_anywidget()
    from lakelens.widgets.bench import BenchWidget

    return BenchWidget(view)


def _need_anywidget() -> None:
    try:
        import anywidget  # noqa: F401
    except ImportError as error:
        raise Unsupported(
            "widgets need anywidget, which is not installed", hint="pip install 'lakelens[notebook]'"
        ) from error


#: The widget of each class, so that none is loaded before one of its objects is shown; all others are lists.
_WIDGETS = {
    "lakelens.analysis.diff.diff.Diff": "filediff:FileDiffWidget",
    "lakelens.analysis.timeline.timeline.Timeline": "timeline:TimelineWidget",
    "lakelens.model.bytes_view.BytesView": "bytes:BytesWidget",
    "lakelens.practice.guesses.guess.Guess": "guess:GuessWidget",
    "lakelens.practice.guesses.guess.Look": "guess:LookWidget",
    "lakelens.practice.guesses.review.Review": "review:ReviewWidget",
}


def make_widget(thing: Any) -> Any:
    """Make the widget of an object. Raises `Unsupported` where anywidget is not installed."""
    _need_anywidget()
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(thing).__mro__)
    module, _, name = next(
        (_WIDGETS[name] for name in names if name in _WIDGETS), "list:ListWidget"
    ).partition(":")
    return getattr(import_module(f"lakelens.widgets.{module}"), name)(thing)


def show_widget(thing: Any) -> bool:
    """Show the widget of an object where a kernel runs and anywidget is installed; say whether it was shown."""
    from lakelens.views.render.text import is_notebook

    if not is_notebook() or find_spec("anywidget") is None:
        return False
    make_widget(thing)._ipython_display_()
    return True
