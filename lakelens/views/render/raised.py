"""What IPython shows of a raised error instead of a traceback: its card as text, or a line of it. `%tb` gives all frames.

A notebook keeps a raised error as text, so the text is complete; the HTML card is for an error that is a value.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from types import TracebackType
from typing import Any

from lakelens.options import display
from lakelens.views.card.model import Card, Pairs
from lakelens.views.card.wording import clean, visible
from lakelens.views.present import present
from lakelens.views.render.text import write_body

_WIDEST, _MOST_SAID = 76, 2_000
_MOST_LINES = 12  # of the message of an engine
_TRACEBACK = "full traceback: %tb"
# where the message of an engine ends: its plan, the frames of its own language
_TAIL = re.compile(r"\s+at |'|\+-|:-|Caused by|JVM stacktrace|=== |org\.apache\.")


def render_raised(error: BaseException, *, is_brief: bool = False) -> list[str]:
    """Render the lines that stand for an error of lakelens; of a brief one, raised by a magic, there is one."""
    if (frames := _list_frames(error)) is not None:
        return frames
    kind = type(error).__name__
    if is_brief:
        return [_color(kind, f"{kind}: {clean(error, _MOST_SAID)}")]
    with display.using(max_text=max(display.max_text, _MOST_SAID)):  # nothing of it is anywhere else
        return [_color(kind, line) for line in write_error(present(error))]


def write_error(card: Card) -> Iterator[str]:
    """Write the card of an error as text that is no wider than a screen."""
    yield from _wrap("", visible(f"{card.noun}: {card.sentence}"), indent=2)
    for body in card.body:
        if isinstance(body, Pairs):
            width = max(len(label) for label, _ in body.items)
            for label, cell in body.items:
                yield from _wrap(f"  {label.ljust(width)}  ", visible(cell.text))
        else:
            yield from ("", *(f"  {visible(line)}" for line in write_body(body, 1)))
    yield f"  {_TRACEBACK}"


def shorten_traceback(error: BaseException) -> None:
    """Let IPython show an error of an engine by its message: neither our frames, nor the engine's, nor its plan."""
    error._render_traceback_ = partial(_render_foreign, error)  # type: ignore[attr-defined]


def shorten_interrupt(error: BaseException) -> None:
    """Let IPython show an interrupt by the frames of whoever called us, and a line for ours and what they use."""
    if not hasattr(error, "_render_traceback_"):  # one that counts what was read has its own line
        error._render_traceback_ = partial(_render_interrupt, error)  # type: ignore[attr-defined]


def _render_interrupt(error: BaseException) -> list[str]:
    if (frames := _list_frames(error)) is not None:
        return frames
    links = _list_links(error.__traceback__)
    ours = [
        place
        for place, link in enumerate(links)
        if str(link.tb_frame.f_globals.get("__name__", "")).partition(".")[0] == "lakelens"
    ]
    if not ours:
        return _format_traceback(error, error.__traceback__)
    callers = None
    for link in reversed(links[: ours[0]]):
        callers = TracebackType(callers, link.tb_frame, link.tb_lasti, link.tb_lineno)
    last = links[ours[-1]]
    place = f"{last.tb_frame.f_globals['__name__']}, line {last.tb_lineno}"
    cut = len(links) - ours[0]
    counted = "1 frame" if cut == 1 else f"{cut:,} frames"
    return [*_format_traceback(error, callers), f"in {place} ({counted}); {_TRACEBACK}"]


def _list_links(trace: TracebackType | None) -> list[TracebackType]:
    """List the links of a traceback, the outermost first."""
    links = []
    while trace is not None:
        links.append(trace)
        trace = trace.tb_next
    return links


def _render_foreign(error: BaseException) -> list[str]:
    if (frames := _list_frames(error)) is not None:
        return frames
    kind = type(error).__name__
    first, *others = cut_message(str(error)) or [""]
    return [_color(kind, line) for line in (*_wrap("", f"{kind}: {first}", 2), *others, f"  {_TRACEBACK}")]


def cut_message(text: str) -> list[str]:
    """Cut what an engine says of an error, without its plan and its frames; the SQL with the marked place is kept.

    >>> cut_message("[NO_TABLE] There is none.; line 1 pos 14;\\n'Project [*]\\n+- 'UnresolvedRelation [a]\\n")
    ['[NO_TABLE] There is none.; line 1 pos 14']
    >>> cut_message("An error occurred while calling o42.sql.\\n: java.io.IOException: gone\\n\\tat a.B.c(B.java:1)\\n")
    ['java.io.IOException: gone']
    """
    said = re.sub(r"\AAn error occurred while calling [\w.]+\n: ", "", text.strip())
    lines: list[str] = []
    for line in said.splitlines():
        if len(lines) == _MOST_LINES or (lines and _TAIL.match(line)):
            break
        if line.strip():
            lines.append(clean(line.rstrip(), 400))
    if lines:
        lines[-1] = lines[-1].rstrip(";")
    return lines


def _wrap(lead: str, text: str, indent: int | None = None) -> list[str]:
    after = " " * (len(lead) if indent is None else indent)
    lines = textwrap.wrap(
        text,
        _WIDEST,
        initial_indent=lead,
        subsequent_indent=after,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [lead.rstrip()]


def _list_frames(error: BaseException) -> list[str] | None:
    """IPython's own traceback where `%tb` asks for it; it asks the error itself again."""
    shell = _find_shell()
    frame = sys._getframe() if shell is not None else None
    while frame is not None:
        if (
            frame.f_code.co_name == "tb"
            and frame.f_globals.get("__name__") == "IPython.core.magics.execution"
        ):
            return _format_traceback(error, error.__traceback__)
        frame = frame.f_back
    return None


def _format_traceback(error: BaseException, trace: TracebackType | None) -> list[str]:
    """IPython's own lines for an error that came this way."""
    lines: list[str] = _find_shell().InteractiveTB.structured_traceback(type(error), error, trace)
    return lines


def _color(kind: str, line: str) -> str:
    """The kind of an error stands out where IPython has colors."""
    shell = _find_shell()
    if shell is None or str(getattr(shell, "colors", "nocolor")).lower() == "nocolor":
        return line
    # a notebook has a red ground for errors already, on which a dark theme's red is hard to read
    code = "1" if hasattr(shell, "kernel") else "1;31"
    return f"\x1b[{code}m{kind}\x1b[0m{line.removeprefix(kind)}" if line.startswith(f"{kind}:") else line


def _find_shell() -> Any:
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
