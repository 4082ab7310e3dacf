"""Texts and bytes in place of others, in the same order, and with the same beginnings where `truncate[W]` cuts them.

    text, truncated to 3     "abc" "de"              known beginnings and ends are ladders of their own
    in its place             "JQX" "XJJZ.."          a beginning has as many signs as before; dots keep the length of the
    rest

Of the signs J, Q, X and Z few words are made, so a search for an original text does not find one by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random

from lakelens.model.skeleton.numbers import Ladder

_SIGNS = "JQXZ"
_MORE_SIGNS = "BCDFGHJKLMNPQRSTVWXZ"
_BYTES = "".join(map(chr, range(0x21, 0x7F)))
_MOST_DOTS = 64
_WIDE = 64  # codes for each step
Fits = Callable[[str, str], bool]


class TextScale:
    """Texts in place of texts, in the same order.

    `cuts` are the lengths to which the column is truncated; a value of a type with a fixed `length` keeps it. `fits(old,
    new)` says whether a new text may stand for an old one where that matters (its hash bucket).

    >>> scale = TextScale(cuts=(1,))
    >>> for text in ("apple", "avocado", "banana"):
    ...     scale.add(text)
    >>> scale.settle(Random(1))
    >>> new = [scale.map(text) for text in ("apple", "avocado", "b", "banana")]
    >>> new == sorted(new), new[0][:1] == new[1][:1] != new[2]
    (True, True)
    """

    def __init__(self, cuts: Sequence[int] = (), length: int = 0, fits: Fits | None = None) -> None:
        self._cuts = sorted({cut for cut in cuts if cut > 0 and (not length or cut < length)})
        self._length = length
        self._fits = None if self._cuts else fits
        self._ladders: dict[tuple[str, ...], Ladder] = {}
        self._width = 0
        self.is_kept = self.keeps_rest = False

    def add(self, text: str) -> None:
        """A value of a row, or its beginning."""
        path: tuple[str, ...] = ()
        for part in self._split(text):
            self._ladders.setdefault(path, Ladder()).add(part)
            path += (part,)

    def add_start(self, text: str) -> None:
        """A value of a partition."""
        self.add(text)

    def settle(self, random: Random) -> None:
        """All values are known: how long the new ones are."""
        most = max((ladder.steps for ladder in self._ladders.values()), default=1)
        self._width = max(5, _count_signs(most * _WIDE, len(_SIGNS)))

    def map(self, text: str) -> str:
        """The text in place of one."""
        if self.is_kept or not text:
            return text
        new = ""
        path: tuple[str, ...] = ()
        for level, part in enumerate(self._split(text)):
            ladder = self._ladders.get(path, _EMPTY)
            step = ladder.find(part)
            new += self._write(level, step, ladder.steps, len(part))
            path += (part,)
            if step % 2 == 0:  # between two known ones: there is nothing further to compare with
                break
        if self._fits is None:
            return new.ljust(self._length, _SIGNS[0])
        # a text that begins with the new one and may stand for the old one
        if self._length:
            room = self._length - len(new)
            tails = product(_BYTES, repeat=min(room, 2))
            found = (new.ljust(self._length - min(room, 2), _SIGNS[0]) + "".join(tail) for tail in tails)
        else:
            found = (new + "".join(tail) for count in range(8) for tail in product(_SIGNS, repeat=count))
        return next((one for one in found if self._fits(text, one)), new.ljust(self._length, _SIGNS[0]))

    def map_start(self, text: str) -> str:
        """The text in place of a value of a partition."""
        return self.map(text)

    def _split(self, text: str) -> Iterator[str]:
        begin = 0
        for cut in self._cuts:
            if begin < len(text):
                yield text[begin:cut]
            begin = cut
        if begin < len(text):
            yield text[begin:]

    def _write(self, level: int, step: int, steps: int, length: int) -> str:
        begin = self._cuts[level - 1] if level else 0
        if level < len(self._cuts):
            return write_digits(step, steps, self._cuts[level] - begin)
        if self._length:
            width = min(_count_signs(steps, len(_SIGNS)), self._length - begin)
            return write_digits(step, steps, width)
        return write_digits(step, steps, self._width).ljust(min(length, _MOST_DOTS), ".")


_EMPTY = Ladder()


def write_digits(step: int, steps: int, width: int) -> str:
    """The code of a step: `width` signs, of as few kinds as it takes; a higher step has a higher code.

    >>> write_digits(1, 3, 4), write_digits(2, 3, 4)
    ('QQQQ', 'XXXX')
    """
    for signs in (_SIGNS, _MORE_SIGNS):
        if len(signs) ** width >= steps:
            break
    else:
        signs = "".join(map(chr, range(0x4E00, 0x9FA0)))
    size = len(signs) ** width
    number, digits = step * size // steps, ""
    for _ in range(width):
        number, digit = divmod(number, len(signs))
        digits = signs[digit] + digits
    return digits


def _count_signs(count: int, kinds: int) -> int:
    width = 1
    while kinds**width < count:
        width += 1
    return width
