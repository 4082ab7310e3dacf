"""Widgets: views that can be asked on. Each is asked for (`.widget()`); the static picture stays the default display.

They need `anywidget` (`pip install lakelens[notebook]`), which is loaded when the first widget is made.
"""

from __future__ import annotations

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


def make_widget(thing: Any) -> Any:
    """Make the widget of an object. Raises `Unsupported` where anywidget is not installed."""
    _need_anywidget()
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.timeline.timeline import Timeline
    from lakelens.model.bytes_view import BytesView

    if isinstance(thing, Timeline):
        from lakelens.widgets.timeline import TimelineWidget

        return TimelineWidget(thing)
    if isinstance(thing, Diff):
        from lakelens.widgets.filediff import FileDiffWidget

        return FileDiffWidget(thing)
    if isinstance(thing, BytesView):
        from lakelens.widgets.bytes import BytesWidget

        return BytesWidget(thing)
    from lakelens.widgets.list import ListWidget

    return ListWidget(thing)
