"""The annotated hex dump as a widget: bytes and fields point at each other, folds open as far as one likes."""

from __future__ import annotations

from typing import Any

import traitlets

from lakelens.codecs.span.span import Span
from lakelens.model.bytes_view import BytesView
from lakelens.views.card.wording import visible
from lakelens.views.hexdump.html import bytes_style, choose_columns, render_bytes
from lakelens.views.hexdump.model import present_bytes
from lakelens.widgets.base import StillWidget, answer_open, read_module, read_static
from lakelens.widgets.rows import Rows, name_span

_STATIC_BYTES = 65_536


class BytesWidget(StillWidget):
    """A `BytesView` to look around in: hovering or selecting a field shows its bytes, and the other way round.

    Folds are opened by asking Python for what is in them. `selected` is what the reader selected, synced with the browser
    (`{"start", "end", "label", "code"}` or None; `code` is the call that leads to decompressed bytes); `span` is that span.
    Keyboard: Tab reaches the table; arrows move between rows and, to the right, between the leaves of a line; Enter
    opens a fold or selects; Escape takes the selection back.

    >>> from lakelens.codecs.span.span import Span
    >>> widget = BytesWidget(BytesView(b"\\\\x05", Span(0, 1, "id", 5)))
    >>> widget.select(0)
    >>> widget.selected["label"], widget.span.value
    ('id', 5)
    """

    _esm = read_module("bytes.js")

    view = traitlets.Dict().tag(sync=True)
    selected: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)

    def __init__(self, explanation: BytesView) -> None:
        self._explanation = explanation
        self._rows = Rows()
        super().__init__(view=self._write_view(), _css=f"{bytes_style()}\n{read_static('bytes.css')}")
        self.on_msg(self._receive)

    @property
    def span(self) -> Span | None:
        """The selected span, None when nothing is selected."""
        chosen = self.selected
        if chosen is None:
            return None
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
            "widths": [columns.at, columns.number or 34, columns.field or 50, columns.octets, columns.ascii],
            "value": columns.value,
            "rows": self._rows.write(view.parts),
        }

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> dict[str, Any] | None:
        chosen = proposal["value"]
        if chosen is None:
            return None
        start, end = chosen.get("start"), chosen.get("end")
        label, code = chosen.get("label", ""), chosen.get("code", "")
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise traitlets.TraitError("selected needs a start and an end, bytes in order")
        if not isinstance(label, str) or not isinstance(code, str):
            raise traitlets.TraitError("the label and the code of what is selected are texts")
        if not code and not self._explanation.start <= start <= end <= self._explanation.end:
            raise traitlets.TraitError(f"bytes {start} to {end} are not in {self._explanation!r}")
        return {"start": start, "end": end, "label": label, "code": code}

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """A browser asks for the rows behind a fold."""
        answer = answer_open(self._rows, content, "nothing more is kept: ask with .at(offset)")
        if answer is not None:
            self.send(answer)

    def _render_still(self) -> str:
        return render_bytes(self._explanation, 1, _STATIC_BYTES)

    def __repr__(self) -> str:
        return f"<BytesWidget of {self._explanation.what}: {len(self._explanation)} bytes>"
