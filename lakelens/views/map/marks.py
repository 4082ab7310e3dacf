"""The marks of a drawing: lines, boxes and words, each as a piece of SVG."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from lakelens.model.charts import WORDS, Box, State
from lakelens.views.card.wording import clean, split_ids
from lakelens.views.svg import write_element

# How wide text is, before anything draws it: names and sentences are cut and wrapped so that they stay inside their boxes.
#
# The widths are those of Helvetica, which Arial and Liberation Sans share, and of the widest common code font.

#: Pixels of a line of text and of code, and of the step to the next line.
TEXT, CODE, LINE = 13.0, 12.0, 16
_CODE_WIDTH = 0.602
# thousandths of the size; what is not here is as wide as a digit
_WIDTHS = {
    **dict.fromkeys("ijl'|", 222),
    **dict.fromkeys(" .,:;ft!/\\[]I", 278),
    **dict.fromkeys('-()r"`{}', 340),
    **dict.fromkeys("ckszvxyJ_", 500),
    **dict.fromkeys("FLTZ", 611),
    **dict.fromkeys("ABEKPSVXY&", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("Mm%", 889),
    **dict.fromkeys("W@…→", 1015),
    **dict.fromkeys("+=<>−×", 584),
}
_OTHER, _FULL, _BOLD = 556, 1100, 1.08
_LONGEST = 400  # characters that are looked at, of a name that a lake made endless


def measure(text: str, *, code: bool = False, bold: bool = False) -> float:
    """Measure the width of text in pixels, at most.

    >>> round(measure("new", bold=True)), round(measure("abcd", code=True)), measure("Ж") > measure("x")
    (26, 29, True)
    """
    if code:
        return sum(
            CODE * (_CODE_WIDTH if (character.isascii() or character == "…" or character in "⟨⟩−×") else 1.2)
            for character in text
        )
    width = 0
    for character in text:
        if character.isascii() or character in _WIDTHS:
            width += _WIDTHS.get(character, _OTHER)
        else:
            is_wide = unicodedata.east_asian_width(character) in ("W", "F") or ord(character) > 0x2FFF
            width += _FULL if is_wide else 850
    return width * TEXT / 1000 * (_BOLD if bold else 1)


def fit(text: str, width: float, *, code: bool = False, bold: bool = False) -> str:
    """Text made harmless, its end cut where it is too wide.

    >>> fit("a sentence of some words", 80), fit("x", 80), fit("x", 1)
    ('a sentence…', 'x', '')
    """
    shown = clean(text, _LONGEST)
    if measure(shown, code=code, bold=bold) <= width:
        return shown
    while shown and measure(shown + "…", code=code, bold=bold) > width:
        shown = shown[:-1]
    return f"{shown}…" if shown else ""


def fit_name(name: str, width: float, *, bold: bool = False) -> str:
    """Fit the name of a file made harmless: long ids are clipped first, then its ending goes, then its middle.

    >>> fit_name("af47425a-bf7c-4c11-84c1-72166018e2d6-m1.avro", 90)
    'af47425a…-m1'
    >>> fit_name("v3.metadata.json", 200), fit_name("abcdefghijklmnop", 60)
    ('v3.metadata.json', 'abcd…nop')
    """
    whole = clean(name, _LONGEST)
    parts = split_ids(whole)
    stem = whole.rpartition(".")[0] if "." in whole[1:] else whole
    for length in (0, 8, 5):
        for kept in (whole, stem) if length else (whole,):
            short = "".join(
                part[:length] + "…" if is_id and length else part
                for part, is_id in (split_ids(kept) if kept != whole else parts)
            )
            if measure(short, code=True, bold=bold) <= width:
                return short
    room = int(width / (CODE * _CODE_WIDTH)) - 1
    if room < 2 or measure(short, code=True) > len(short) * CODE * _CODE_WIDTH + 1:  # wide characters
        return fit(short, width, code=True, bold=bold)
    head = (room + 1) // 2
    return f"{short[:head]}…{short[len(short) - (room - head) :]}"


def break_word(word: str, width: float, *, code: bool = False, bold: bool = False) -> tuple[str, str]:
    """A word that is too wide, broken behind a part of it: an underscore, or before a capital; whole where it fits.

    >>> break_word("expire_snapshots", 60), break_word("baseManifestList", 90, code=True), break_word("x" * 90, 60)[1]
    (('expire_', 'snapshots'), ('baseManifest', 'List'), '')
    """
    if measure(word, code=code, bold=bold) <= width:
        return word, ""
    ends = [
        at
        for at in range(1, min(len(word), _LONGEST))
        if word[at - 1] == "_" or (word[at - 1].islower() and word[at].isupper())
    ]
    end = max((at for at in ends if measure(word[:at], code=code, bold=bold) <= width), default=len(word))
    return word[:end], word[end:]


def wrap(text: str, width: float, most: int = 3, *, bold: bool = False) -> list[str]:
    """Text in lines of a width, at most `most`; the last one is cut.

    >>> wrap("only a hint: a reader then tries the next number", 120)
    ['only a hint: a reader', 'then tries the next', 'number']
    """
    lines: list[str] = []
    words = clean(text, 2 * _LONGEST).split(" ")
    while words and len(lines) < most:
        line, rest = break_word(words.pop(0), width, bold=bold)
        words = [rest, *words] if rest else words
        if len(lines) == most - 1:
            line = " ".join((line, *words))
            words = []
        while words and measure(f"{line} {words[0]}", bold=bold) <= width:
            line = f"{line} {words.pop(0)}"
        lines.append(fit(line, width, bold=bold))
    return lines


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
    """Check whether the change brought it."""
    return state in ("new", "changed")


def draw_text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    """Draw a line of text; nothing for no text."""
    if not text:
        return ""
    attributes = {"x": f"{x:g}", "y": f"{y:g}", "class": kind, "text-anchor": anchor}
    return write_element("text", {name: said for name, said in attributes.items() if said}, text=text)


def draw_path(shape: str, kind: str) -> str:
    """Draw a stroke."""
    return write_element("path", {"d": shape, "class": kind})


def draw_frame(
    x: float, y: float, width: float, height: float, state: State, *, is_stack: bool = False
) -> list[str]:
    """Draw the outline of a box; of several files a second one behind it, and a bar where it is marked."""
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
    """Draw the word of a state, ending at a place; and its width."""
    word, bold = WORDS[state], is_marked(state)
    return draw_text(x, y, word, "new" if bold else "m", "end"), measure(word, bold=bold)


def wrap_lines(lines: Sequence[str], width: float, most: int = 4) -> list[str]:
    """Wrap the lines of a box that is so wide, the long ones in several, `most` in all."""
    found: list[str] = []
    for number, line in enumerate(lines):
        left = most - len(found) - (len(lines) - number - 1)
        if left > 0:
            found += wrap(line, width - _PAD - _END, left)
    return found


def is_apart(name: str, state: State, width: float, *, is_file: bool) -> bool:
    """Check whether the word of a state stands below the name, which needs the room of a narrow box for itself."""
    if width >= _ROOMY:
        return False
    room = width - _PAD - 2 * _END - measure(WORDS[state], bold=is_marked(state))
    return state in _LONG or (not is_file and measure(name, bold=is_marked(state)) > room)


def list_lines(box: Box, width: float) -> tuple[str, ...]:
    """List the lines of a box; where the word of its state stands apart it is the first of them."""
    if not is_apart(box.name, box.state, width, is_file=box.names_files):
        return tuple(box.lines)
    return (WORDS[box.state], *(line for line in box.lines if line != "cannot be read"))


def draw_box(
    x: float, y: float, size: tuple[float, float], name: str, state: State, lines: Sequence[str],
    *, is_file: bool = True, is_stack: bool = False, apart: bool = False,
) -> list[str]:  # fmt: skip
    """Draw a box with its name, the word of its state, and its lines, which were wrapped before.

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
    """Say what is beside a tier: its noun, and what such files are."""
    drawn = [draw_text(0, y, fit(noun, LEFT - 10, bold=True), "b")]
    for number, note in enumerate(notes, 1):
        drawn.append(draw_text(0, y + LINE * number, fit(note, LEFT - 8), "m"))
    return drawn
