"""The marks of a drawing: lines, boxes and words, each as a piece of SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lakelens.model.map.boxes import WORDS, Box, State
from lakelens.views.card.wording import visible
from lakelens.views.map.metrics import LINE, fit, fit_name, measure, wrap

#: The drawing is as wide as this, its labels end and its boxes begin at `LEFT`.
WIDTH, LEFT, RIGHT = 686, 122, 680
_PAD, _END = 11, 7
_ROOMY = 190  # pixels of a box in which a name and a long word of state are side by side
_LONG: tuple[State, ...] = ("unread", "absent")
_CLASSES: dict[State, str] = {
    "new": "new",
    "changed": "new",
    "kept": "kept",
    "gone": "gone",
    "unread": "gone",
    "absent": "gone",
}


def is_marked(state: State) -> bool:
    """Whether the change brought it."""
    return state in ("new", "changed")


def draw_text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    """A line of text; nothing for no text. Control characters are shown: XML has no place for them."""
    if not text:
        return ""
    attributes = f' class="{kind}"' if kind else ""
    attributes += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{attributes}>{escape(visible(text))}</text>'


def draw_path(shape: str, kind: str) -> str:
    """A stroke."""
    return f'<path d="{shape}" class="{kind}"/>'


def draw_frame(
    x: float, y: float, width: float, height: float, state: State, *, is_stack: bool = False
) -> list[str]:
    """The outline of a box; of several files a second one behind it, and a bar where it is marked."""
    kind = _CLASSES[state]
    drawn = []
    if is_stack:
        behind = "gone" if kind == "gone" else "kept"
        drawn.append(draw_path(f"M{x + 5:g} {y:g}v-4h{width:g}v{height:g}h-5", f"e-{behind}"))
    drawn.append(draw_path(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z", f"e-{kind}"))
    if is_marked(state):
        drawn.append(draw_path(f"M{x:g} {y:g}h4v{height:g}h-4z", "f-new"))
    return drawn


def draw_state(x: float, y: float, state: State) -> tuple[str, float]:
    """The word of a state, ending at a place; and its width."""
    word, bold = WORDS[state], is_marked(state)
    return draw_text(x, y, word, "new" if bold else "m", "end"), measure(word, bold=bold)


def wrap_lines(lines: Sequence[str], width: float, most: int = 4) -> list[str]:
    """The lines of a box that is so wide, the long ones in several, `most` in all."""
    found: list[str] = []
    for number, line in enumerate(lines):
        left = most - len(found) - (len(lines) - number - 1)
        if left > 0:
            found += wrap(line, width - _PAD - _END, left)
    return found


def is_apart(name: str, state: State, width: float, *, is_file: bool) -> bool:
    """Whether the word of a state stands below the name, which needs the room of a narrow box for itself."""
    if width >= _ROOMY:
        return False
    room = width - _PAD - 2 * _END - measure(WORDS[state], bold=is_marked(state))
    return state in _LONG or (not is_file and measure(name, bold=is_marked(state)) > room)


def list_lines(box: Box, width: float) -> tuple[str, ...]:
    """The lines of a box; where the word of its state stands apart it is the first of them."""
    if not is_apart(box.name, box.state, width, is_file=box.names_files):
        return tuple(box.lines)
    return (WORDS[box.state], *(line for line in box.lines if line != "cannot be read"))


def draw_box(
    x: float, y: float, size: tuple[float, float], name: str, state: State, lines: Sequence[str],
    *, is_file: bool = True, is_stack: bool = False, apart: bool = False,
) -> list[str]:  # fmt: skip
    """A box with its name, the word of its state, and its lines, which were wrapped before.

    Where the word stands `apart` the first of the lines has it.
    """
    width, height = size
    drawn = draw_frame(x, y, width, height, state, is_stack=is_stack)
    word, taken = draw_state(x + width - _END, y + 18, state)
    if apart or (width < _ROOMY and state in _LONG):
        word, taken = "", -7.0
    room = width - _PAD - _END - taken - 7
    bold = is_marked(state)
    kinds = [kind for kind, used in (("c", is_file), ("b", bold), ("m", state == "absent")) if used]
    shown = fit_name(name, room, bold=bold) if is_file else fit(name, room, bold=bold)
    drawn += [draw_text(x + _PAD, y + 18, shown, " ".join(kinds)), word]
    for number, line in enumerate(lines, 1):
        kind = "new" if apart and bold and number == 1 else "m"
        drawn.append(draw_text(x + _PAD, y + 18 + LINE * number, line, kind))
    return drawn


def draw_label(y: float, noun: str, notes: Sequence[str]) -> list[str]:
    """What is beside a tier: its noun, and what such files are."""
    drawn = [draw_text(0, y, fit(noun, LEFT - 10, bold=True), "b")]
    for number, note in enumerate(notes, 1):
        drawn.append(draw_text(0, y + LINE * number, fit(note, LEFT - 8), "m"))
    return drawn
