"""How wide text is, before anything draws it: names and sentences are cut and wrapped so that they stay inside their boxes.

The widths are those of Helvetica, which Arial and Liberation Sans share, and of the widest common code font.
"""

from __future__ import annotations

import unicodedata

from lakelens.views.card.wording import clean, split_ids

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
    """The width of text in pixels, at most.

    >>> round(measure("new", bold=True)), round(measure("abcd", code=True)), measure("Ж") > measure("x")
    (26, 29, True)
    """
    if code:
        return sum(CODE * (_CODE_WIDTH if _is_narrow(one) else 1.2) for one in text)
    width = sum(
        _WIDTHS.get(one, _OTHER) if one.isascii() or one in _WIDTHS else _measure_far(one) for one in text
    )
    return width * TEXT / 1000 * (_BOLD if bold else 1)


def _is_narrow(one: str) -> bool:
    return one.isascii() or one == "…" or one in "⟨⟩−×"


def _measure_far(one: str) -> int:
    wide = unicodedata.east_asian_width(one) in ("W", "F") or ord(one) > 0x2FFF
    return _FULL if wide else 850


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
    """The name of a file made harmless: long ids are clipped first, then its ending goes, then its middle.

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
