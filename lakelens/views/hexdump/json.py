"""The spans of an explanation as JSON, written piece by piece: a tree may be far larger than its bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from lakelens.codecs.span.span import Span
from lakelens.errors import LakeError
from lakelens.model.bytes_view import BytesView, is_field


def write_json(explanation: BytesView, depth: int | None) -> Iterator[str]:
    """The tree as JSON in pieces, `depth` levels below its root; None is all of it. Nothing of it is kept."""
    facts = {"file": explanation.path, "what": explanation.what, "summary": explanation.summary}
    yield f'{json.dumps(facts)[:-1]}, "root": '
    yield from write_span(explanation, depth)
    yield "}"


def write_span(span: Span, depth: int | None) -> Iterator[str]:
    """One span and what is below it."""
    stack: list[Iterator[Span]] = []
    yield from _open_span(span)
    stack.append(span.iter_children() if depth is None or depth > 0 else iter(()))
    first = True
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
            yield "]}"
            first = False
            continue
        yield "\n" if first else ",\n"
        yield from _open_span(child)
        goes_on = depth is None or len(stack) < depth
        stack.append(child.iter_children() if goes_on else iter(()))
        first = True


def _open_span(span: Span) -> Iterator[str]:
    yield f'{json.dumps(describe_span(span))[:-1]}, "children": ['


def describe_span(span: Span) -> dict[str, Any]:
    """The facts of a span that JSON can express; the value of a structure is that of its parts."""
    facts: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.label}
    value = _read_value(span) if is_field(span) else None
    if value is not None:
        facts["value"] = value
    optional = {"note": span.note or None, "role": span.role or None, "number": span.number}
    facts |= {name: held for name, held in optional.items() if held is not None}
    if span.error is not None:
        facts["error"] = span.error.reason
    if span.is_packed:
        facts["compressed"] = True
    return facts


def _read_value(span: Span) -> Any:
    try:
        value = span.value
    except LakeError as error:
        return f"ERROR: {error.reason}"
    return _make_plain(value)


def _make_plain(value: Any) -> Any:
    """A value as JSON has it: bytes as hex, and text for everything that JSON has no type for."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {str(key): _make_plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(held) for held in value]
    return str(value)
