"""The annotated hex dump as a widget: bytes and fields point at each other, folds open as far as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import traitlets

from lakelens.codecs.span.span import Span
from lakelens.errors import visible_line
from lakelens.model.bytes_view import BytesView, is_field
from lakelens.views.card.wording import clean, visible
from lakelens.views.hexdump.html import bytes_style, choose_columns, render_bytes
from lakelens.views.hexdump.model import present_bytes
from lakelens.widgets.base import StillWidget, answer_open, read_module, read_style
from lakelens.widgets.rows import Rows, name_span
from lakelens.widgets.search import Trail, parse_offset, search

_STATIC_BYTES = 65_536
_MOST = 1 << 20  # characters that are copied
_LONGEST = 200  # characters of what is searched for
_SECONDS = 2  # that a search goes on without a hit


class BytesWidget(StillWidget):
    """A `BytesView` to look around in: a field shows its bytes, and bytes show their field.

    Folds are opened by asking Python for what is in them.

    Attributes
    ----------
    selected : dict or None
        What the reader selected: `{"start", "end", "label", "code"}` or None. Positions count from the first byte of the
        view; `code` is the call that leads to decompressed bytes, whose positions are their own. Synced with the browser.
    span : Span or None
        That span.

    Raises
    ------
    traitlets.TraitError
        What is set as `selected` is no place in these bytes.

    Notes
    -----
    Keys: arrows move between rows and, to the right, between the leaves of a line; Home and End. Enter selects a field or
    opens a fold, Escape takes it back. / searches names, values and bytes in hex (`0x5041` or `50 41`), N goes on to the
    next hit, G goes to an offset (`28`, `0x1c`, or `+24` as the "at" column counts), C copies the value, ? lists the keys.
    A click selects, a click on a fold opens it.

    Examples
    --------
    >>> from lakelens.codecs.span.span import Span
    >>> widget = BytesWidget(BytesView(b"\\x05", Span(0, 1, "id", 5)))
    >>> widget.select(0)
    >>> widget.selected["label"], widget.span.value
    ('id', 5)
    """

    _esm = read_module("prompt.js", "bytes.js")
    _keys = (
        ("↓ ↑", "row by row"),
        ("Home End", "the first row, the last"),
        ("→ ←", "byte group by byte group; opens and closes a fold"),
        ("Enter", "selects a field, opens a fold"),
        ("Escape", "selects nothing; back to the fold"),
        ("/", "searches names, values, bytes (0x5041 or 50 41)"),
        ("N", "on to the next hit"),
        ("G", "to an offset: 28, 0x1c, or +24 as “at” counts"),
        ("C", "copies the value"),
        ("?", "these keys, or no more"),
    )

    selected: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)

    def __init__(self, explanation: BytesView) -> None:
        self._explanation = explanation
        self._rows = Rows()
        self._words = ""
        self._hits: Iterator[Trail | None] = iter(())
        style = read_style(str(bytes_style()), "bytes.css")
        super().__init__(explanation, style, view=self._write_view())

    @property
    def span(self) -> Span | None:
        """The selected span, None when nothing is selected."""
        return None if self.selected is None else self._find(self.selected)

    def _find(self, chosen: dict[str, Any]) -> Span | None:
        shown = self._rows.find((chosen["code"], chosen["start"], chosen["end"]), chosen["label"])
        if shown is not None or chosen["code"] or chosen["start"] >= chosen["end"]:
            return shown
        path = self._explanation.trace(chosen["start"])
        return next(
            (span for span in path if (span.start, span.end) == (chosen["start"], chosen["end"])), path[-1]
        )

    def select(self, offset: int | None) -> None:
        """Select the leaf that holds a byte; None selects nothing. Raises `ValueError` outside of the explanation."""
        if offset is None:
            self.selected = None
            return
        leaf = self._explanation.find(offset)
        self.selected = {"start": leaf.start, "end": leaf.end, "label": name_span(leaf), "code": ""}

    def _write_view(self) -> dict[str, Any]:
        view = present_bytes(self._explanation, 1, hidden=0)
        columns = choose_columns(present_bytes(self._explanation, 1))
        return {
            "noun": visible(view.noun),
            "sentence": visible(view.sentence),
            "place": visible(view.place),
            "details": visible(view.details),
            "alert": visible(view.alert),
            "width": columns.width,
            "widths": [columns.at, columns.number or 34, columns.field or 50, columns.octets, columns.ascii],
            "value": columns.value,
            "rows": self._rows.write(view.parts),
        }

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> dict[str, Any] | None:
        return None if proposal["value"] is None else self._check(proposal["value"])

    def _check(self, chosen: dict[str, Any]) -> dict[str, Any]:
        start, end = chosen.get("start"), chosen.get("end")
        label, code = chosen.get("label", ""), chosen.get("code", "")
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise traitlets.TraitError("selected needs a start and an end, bytes in order")
        if not isinstance(label, str) or not isinstance(code, str):
            raise traitlets.TraitError("the label and the code of what is selected are texts")
        if not code and not self._explanation.start <= start <= end <= self._explanation.end:
            raise traitlets.TraitError(f"bytes {start} to {end} are not in {self._explanation!r}")
        return {"start": start, "end": end, "label": label, "code": code}

    def _answer(self, content: dict[str, Any]) -> None:
        """A browser asks for the rows behind a fold, the next hit, an offset or a value."""
        acts = {"find": self._find_next, "go": self._go_to, "value": self._write_value}
        act = acts.get(str(content.get("type")))
        if act is None:
            answer = answer_open(self._rows, content, "nothing more is kept: ask with .at(offset)")
        else:
            try:
                answer = act(content)
            except Exception as error:  # the browser waits for an answer, whatever went wrong
                answer = {"type": "said", "message": f"{type(error).__name__}: {clean(error, 300)}"}
        if answer is not None:
            self.send(answer)

    def _find_next(self, content: dict[str, Any]) -> dict[str, Any]:
        """The next hit; after the last one it begins again. What takes long goes on when it is asked again."""
        words = str(content.get("words", ""))[:_LONGEST].strip()
        if not words:
            return {"type": "said", "message": "search for a name, a value, or bytes: 0x5041 or 50 41"}
        if words != self._words:
            self._words, self._hits = words, iter(())
        is_new = False
        until = monotonic() + _SECONDS
        while monotonic() < until:
            try:
                trail = next(self._hits)
            except StopIteration:
                if is_new:
                    self._words = ""
                    return {"type": "said", "message": f"{clean(words, 60)!r} is nowhere in these bytes"}
                self._hits, is_new = search(self._explanation, self._explanation.data, words), True
                continue
            if trail is not None:
                said = "found; from the beginning again" if is_new and content.get("again") else "found"
                return self._reveal(trail, f"{said}; N goes on")
        return {"type": "said", "message": f"not found in {_SECONDS} s; Enter or N goes on searching"}

    def _go_to(self, content: dict[str, Any]) -> dict[str, Any]:
        """The row of an offset that a reader typed."""
        origin = content.get("origin")
        try:
            offset = parse_offset(str(content.get("text", "")), origin if type(origin) is int else 0)
        except ValueError:
            return {"type": "said", "message": "an offset is 28, 0x1c, or +24 as the column “at” counts"}
        first, end = self._explanation.start, self._explanation.end
        if not first <= offset < end:
            return {"type": "said", "message": f"byte {offset:,} is not among bytes {first:,} to {end - 1:,}"}
        path = self._explanation.trace(offset)
        fields = [span for span in path if is_field(span)]
        path = path[: path.index(fields[0]) + 1] if fields else path
        return self._reveal(tuple(("", span.start, span.end) for span in path), "")

    def _reveal(self, trail: Trail, message: str) -> dict[str, Any]:
        found = self._rows.reveal(trail)
        if found is None:
            code, start, _ = trail[-1]
            where = f"at {start:,}, too far from what is shown: {code}.at({start})"
            return {"type": "said", "message": where}
        opened, row = found
        return {"type": "reveal", "opened": opened, "row": row, "message": message}

    def _write_value(self, content: dict[str, Any]) -> dict[str, Any]:
        """What is copied: a text as it is, bytes in hex, anything else as it is shown."""
        chosen = self._check(content)
        span = self._find(chosen)
        value = None if span is None or span.role == "null" else span.value
        if value is None and not chosen["code"]:
            value = bytes(
                self._explanation.data[chosen["start"] : min(chosen["end"], chosen["start"] + _MOST)]
            )
        if value is None:
            return {"type": "said", "message": "these bytes have no value; .unpacked() has them"}
        text = value.hex(" ") if isinstance(value, bytes) else value if isinstance(value, str) else str(value)
        return {"type": "copy", "text": text[:_MOST]}

    def _render_still(self) -> str:
        return render_bytes(self._explanation, 1, _STATIC_BYTES)

    def __repr__(self) -> str:
        return f"<BytesWidget of {visible_line(self._explanation.what)}: {len(self._explanation)} bytes>"
