"""A bench for bytes: change one, and see what the bytes mean now, or where they break.

The kernel explains the bytes with the codec that explained them first; the browser only shows lines and takes digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any, ClassVar

import traitlets

from lakelens.codecs.span.span import Span, damaged_leaf
from lakelens.errors import LakeError
from lakelens.model.bytes_view import BytesView
from lakelens.views.card.wording import clean, count, plural, visible
from lakelens.views.hexdump.html import bytes_style, render_bytes
from lakelens.views.hexdump.lines import Line
from lakelens.views.hexdump.model import ByteFold, DumpPart, LineGroup, present_bytes
from lakelens.widgets.base import StillWidget, read_module, read_style

_MOST = 1024  # bytes: a screen or two of lines
_STATIC_BYTES = 65_536
_WIDTH = 8  # bytes of a line that no field explains
_LIFELESS = (
    '<p style="font-size:13px">These bytes can be changed where a kernel runs: run the cell again. '
    "Without one they are shown as they were.</p>"
)


class BenchWidget(StillWidget):
    """The bytes of a view to be changed in place; nothing is written anywhere but here.

    Attributes
    ----------
    hex : str
        The bytes as they are now, as hexadecimal digits. Synced with the browser; it may be set, the length stays.
    data : bytes
        The same as bytes.
    explanation : BytesView
        What they mean; damage is in its place.

    Raises
    ------
    traitlets.TraitError
        What is set as `hex` are no bytes, or more or fewer of them.

    Notes
    -----
    Keys: arrows move from byte to byte and from line to line, Home and End to the first and the last; two hexadecimal
    digits change a byte; Backspace gives back the byte that was there; Z takes back the last change, R all of them; ? lists
    the keys.

    Examples
    --------
    >>> import lakelens as ll
    >>> row = bytes.fromhex("00000001000000000000000001000000000000 00".replace(" ", ""))
    >>> bench = ll.explain_bytes(row, "binary_row", fields=[("id", "INT")]).edit()
    >>> bench.change(12, 0x2A)
    >>> bench.explanation.value["id"], bench.changed
    (42, (12,))
    >>> bench.reset()
    >>> bench.explanation.value["id"]
    1
    """

    _esm = read_module("bench.js")
    _keys: ClassVar[tuple[tuple[str, str], ...]] = (
        ("← → ↑ ↓", "byte by byte, line by line"),
        ("Home End", "the first byte, the last"),
        ("0-9 a-f", "two digits change the byte"),
        ("Backspace", "gives back the byte that was there"),
        ("Z", "takes back the last change"),
        ("R", "takes back all changes"),
        ("?", "these keys, or no more"),
    )

    hex: Any = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: BytesView) -> None:
        if view.explain_again is None:
            hint = "the bytes_view() of a row, of bounds, or of what explain_bytes() explains"
            raise LakeError(
                f"{visible(view.what)} is not to be changed on a bench", path=view.path, hint=hint
            )
        if len(view) > _MOST:
            seen = f"{count(len(view))} bytes"
            expected = f"at most {count(_MOST)} bytes"
            raise LakeError("too many bytes for a bench", path=view.path, expected=expected, seen=seen)
        self._first = bytes(view.data[view.start : view.end])
        self._original = view
        self._past: list[str] = []
        self.explanation = self._explain(self._first)
        style = read_style(str(bytes_style()), "bench.css")
        super().__init__(view, style, view=self._write_view(self._first))
        self.set_trait("hex", self._first.hex())

    @property
    def data(self) -> bytes:
        """The bytes as they are now."""
        return bytes.fromhex(self.hex)

    @property
    def changed(self) -> tuple[int, ...]:
        """The positions of the bytes that are not what they were."""
        pairs = zip(self._first, self.data, strict=True)
        return tuple(at for at, (before, now) in enumerate(pairs) if before != now)

    def change(self, at: int, byte: int) -> None:
        """Set one byte.

        Parameters
        ----------
        at
            Its position, from 0.
        byte
            From 0 to 255.

        Raises
        ------
        ValueError
            There is no byte at this position, or it is no byte.
        """
        data = bytearray(self.data)
        if not 0 <= at < len(data) or not 0 <= byte <= 255:
            raise ValueError(f"a byte (0 to 255) at a position from 0 to {len(data) - 1}, not {byte} at {at}")
        data[at] = byte
        self.hex = data.hex()

    def reset(self) -> None:
        """Take back all changes."""
        self.hex = self._first.hex()

    def _explain(self, data: bytes) -> BytesView:
        """Explain what bytes mean; bytes that the codec refuses as a whole are one piece of damage."""
        view = self._original
        assert view.explain_again is not None
        try:
            span = view.explain_again(data)
        except LakeError as error:
            damage = damaged_leaf(0, len(data), error)
            span = Span(0, len(data), view.what, children=(damage,))
        return BytesView(data, span, what=view.what, place=view.place, explain_again=view.explain_again)

    @traitlets.validate("hex")
    def _check_hex(self, proposal: Any) -> str:
        try:
            data = bytes.fromhex(proposal["value"])
        except ValueError:
            raise traitlets.TraitError("hex are hexadecimal digits, two for a byte") from None
        if len(data) != len(self._first):
            raise traitlets.TraitError(f"{len(self._first)} bytes are to be changed, not {len(data)}")
        return data.hex()

    @traitlets.observe("hex")
    def _follow(self, change: Any) -> None:
        if change["old"]:
            self._past.append(change["old"])
            del self._past[:-1000]
        data = bytes.fromhex(change["new"])
        self.explanation = self._explain(data)
        self._draw(view=self._write_view(data))

    def _answer(self, content: dict[str, Any]) -> None:
        """Give a browser changes a byte, gives one back, or takes back changes."""
        kind, at, byte = content.get("type"), content.get("at"), content.get("byte")
        place = at if type(at) is int and 0 <= at < len(self._first) else None
        if kind == "change" and place is not None and type(byte) is int and 0 <= byte <= 255:
            self.change(place, byte)
        elif kind == "restore" and place is not None:
            self.change(place, self._first[place])
        elif kind == "reset":
            self.reset()
        elif kind == "undo" and self._past:
            self.hex = self._past.pop()
            del self._past[-1:]  # taking back is no change of its own

    def _write_view(self, data: bytes) -> dict[str, Any]:
        """Write what the browser draws: each line with its bytes, what changed, and what is wrong."""
        view = present_bytes(self.explanation, 3)
        error = self._find_error()
        changed = [at for at, byte in enumerate(data) if byte != self._first[at]]
        lines = list(self._write_lines(sorted(_walk(view.parts), key=lambda one: one[1].start), data))
        said = f"{plural(len(changed), 'byte')} changed" if changed else "as it is stored"
        return {
            "noun": visible(view.noun),
            "place": visible(view.place),
            "sentence": f"{plural(len(data), 'byte')}, {said}",
            "value": "" if error else clean(repr(self.explanation.value), 400),
            "error": clean(error, 300),
            "lines": lines,
            "changed": changed,
            "first": self._first.hex(),
        }

    def _find_error(self) -> str:
        """Find what is wrong with the bytes; nothing for bytes that can be read."""
        try:
            self.explanation.check()
            _ = self.explanation.value
        except LakeError as error:
            return str(error)
        return ""

    def _write_lines(self, lines: list[tuple[str, Line]], data: bytes) -> Iterator[dict[str, Any]]:
        """Lines in order; bytes that no line shows have lines of their own, so that each is there once."""
        position = 0
        for title, line in lines:
            if line.start < position or line.end <= line.start:
                continue
            yield from _write_plain(position, line.start, data)
            yield {
                "title": visible(title),
                "at": line.start,
                "place": line.at,
                "bytes": data[line.start : line.end].hex(),
                "field": visible(line.field),
                "meaning": visible(" ".join(filter(None, (line.meaning, line.aside)))),
                "value": visible(line.value),
                "isWrong": line.role == "damage",
            }
            position = line.end
        yield from _write_plain(position, len(data), data)

    def _render_still(self) -> str:
        return _LIFELESS + render_bytes(self._original, 1, _STATIC_BYTES)

    def __repr__(self) -> str:
        return f"<BenchWidget of {visible(self._original.what)}: {len(self._first)} bytes, {len(self.changed)} changed>"


def _walk(parts: Sequence[DumpPart]) -> Iterator[tuple[str, Line]]:
    """Walk every line, the first of a group or of a fold with its title."""
    for part in parts:
        if isinstance(part, LineGroup):
            yield from zip(chain([part.title], repeat("")), part.lines, strict=False)
        elif isinstance(part, ByteFold):
            titles = chain([f"{part.label}: {part.answer}"], repeat(""))
            for head, (title, line) in zip(titles, _walk(part.parts), strict=False):
                yield " · ".join(filter(None, (head, title))), line


def _write_plain(start: int, end: int, data: bytes) -> Iterator[dict[str, Any]]:
    """Bytes that no line explains, eight a line."""
    for at in range(start, end, _WIDTH):
        octets = data[at : min(at + _WIDTH, end)].hex()
        plain = {"title": "", "at": at, "place": str(at), "bytes": octets, "isWrong": False}
        yield {**plain, "field": "", "meaning": "", "value": ""}
