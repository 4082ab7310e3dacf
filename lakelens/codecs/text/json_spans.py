"""JSON documents, byte by byte: every bracket, key, number and blank with its place in the document.

    [EF BB BF]  blanks  value  blanks
    value    { members }   [ items ]   "text"   number   true   false   null
    member   "key" blanks : blanks value             members and items are separated by a comma

Follows RFC 8259. Values are what Python's `json.loads` gives: integers of any size exactly, of a key that comes twice the
last value, lone surrogates as they are. Refused with `Corrupt` and the offset: bytes that are not UTF-8, NaN and
infinities, more than one value, nesting beyond 200 levels, documents of more than 256 MiB. The document is scanned once
for its brackets; parts are made when they are asked for, those of a long list in groups.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal, NoReturn

from lakelens.caching import cached_property
from lakelens.codecs.span.span import Deferred, Octets, Span
from lakelens.errors import Corrupt

MAX_SIZE = 1 << 28
MAX_DEPTH = 200
#: Lists of more members or items are cut into groups of this many.
GROUP = 1000

_BOM = b"\xef\xbb\xbf"
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BLANK = frozenset((b" ", b"\t", b"\r", b"\n"))
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(_TEXT, re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\[\]{}\"]*+")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# up to the next bracket, or comma, that is not inside a text
_TO_BRACKET = re.compile(rb'[^"{}\[\]]*+(?:' + _TEXT + rb'[^"{}\[\]]*+)*+([{}\[\]])', re.DOTALL)
_TO_MARK = re.compile(rb'[^"{}\[\],]*+(?:' + _TEXT + rb'[^"{}\[\],]*+)*+([{}\[\],])', re.DOTALL)
_INTEGER = re.compile(rb"-?[0-9]+")
_LITERALS = {b"true": True, b"false": False, b"null": None}
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_GROUP_LABEL = re.compile(r"(?:from )?\[([0-9]+)\] (?:to \[([0-9]+)\]|on)")


def explain_json(data: Octets, start: int = 0, end: int | None = None) -> Span:
    """Explain a tree over a JSON document: each value is named by its key or index, its note is its path in the document.

    Follows RFC 8259; positions are absolute in `data`. Damage is a leaf of role `damage`; asking the value of a damaged
    part raises `Corrupt`.

    >>> root = explain_json(b'{"id": 9007199254740993}')
    >>> root.value
    {'id': 9007199254740993}
    >>> root.find(7).label, root.find(7).note
    ('id', '$.id')
    """
    document = _Document(data, start, len(data) if end is None else end)
    return Span(
        start,
        document.end,
        "JSON document",
        Deferred(document.decode),
        "UTF-8",
        document.explain,
    )


def find_json(span: Span, path: Sequence[str | int]) -> Span:
    """Find the span of the value at a path of keys and indexes, from an explained document or a value in it.

    Of a key that comes twice it is the last one, as in the decoded value. Raises `KeyError` where there is none.

    >>> find_json(explain_json(b'{"a": [1, {"b": true}]}'), ("a", 1, "b"))
    <Span 16..20 b = True>
    """
    found = _find_value(span)
    for step in path:
        inside = None if found is None else _find_step(found, step)
        if inside is None:
            raise KeyError(step)
        found = inside
    if found is None:
        raise KeyError(path)
    return found


class _NotJson(ValueError):
    """A word that Python's decoder takes for a number and JSON does not have."""


def _refuse(word: str) -> NoReturn:
    raise _NotJson(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class _Document:
    """The bytes of a document, and where each of its brackets is closed; positions inside count from its start."""

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end

    @cached_property
    def text(self) -> bytes:
        if self.end - self.start > MAX_SIZE:
            self.fail(
                0,
                "a JSON document that is too large",
                expected=f"at most {MAX_SIZE} bytes",
                seen=self.end - self.start,
            )
        return bytes(self.data[self.start : self.end])

    def fail(self, at: int, message: str, *, expected: object = None, seen: object = None) -> NoReturn:
        raise Corrupt(message, offset=self.start + at, expected=expected, seen=seen)

    @cached_property
    def pairs(self) -> tuple[array[int], array[int]]:
        """Where brackets open, in order, and behind which byte each is closed (0: it is not)."""
        text = self.text
        opened, closed = array("Q"), array("Q")
        stack: list[int] = []
        at = 0
        while match := _TO_BRACKET.match(text, at):
            at = match.end()
            if match[1] in b"{[":
                stack.append(len(opened))
                opened.append(at - 1)
                closed.append(0)
                if len(stack) > MAX_DEPTH:
                    break
            elif stack:
                closed[stack.pop()] = at
            else:
                break
        return opened, closed

    def close(self, at: int) -> tuple[int, bool]:
        """The byte behind the value that opens with a bracket at `at`, and whether a bracket closes it there."""
        opened, closed = self.pairs
        place = bisect_left(opened, at)
        end = closed[place] if place < len(opened) and opened[place] == at else 0
        return end or len(self.text), end > 0

    def decode(self, start: int = 0, end: int | None = None) -> Any:
        """Decode the value that these bytes stand for. Raises `Corrupt`."""
        piece = self.text[start:end]
        skipped = len(_BOM) if start == 0 and piece.startswith(_BOM) else 0
        text = ""
        try:
            text = piece[skipped:].decode()
            return _DECODER.decode(text)
        except _NotJson as error:
            word = str(error)
            self.fail(max(0, self.text.find(word.encode(), start)), f"{word}, which is not JSON")
        except UnicodeDecodeError as error:
            at = start + skipped + error.start
            self.fail(at, "text that is not UTF-8", seen=error.object[error.start : error.start + 4].hex(" "))
        except json.JSONDecodeError as error:
            at = start + skipped + len(text[: error.pos].encode())
            self.fail(at, f"not JSON: {error.msg}", seen=_quote(self.text, at))
        except ValueError as error:  # a number of thousands of digits
            self.fail(start, f"not JSON: {error}")
        except RecursionError:
            self.fail(start, "a JSON document that is nested too deeply")

    def explain(self) -> Iterator[Span]:
        text, at = self.text, 0
        if text.startswith(_BOM):
            at = len(_BOM)
            yield self.leaf(0, at, "byte order mark", note="UTF-8", role="padding")
        blanks, at = self.skip(at)
        yield from blanks
        value = self.explain_value(at, "value", "$", 0)
        yield value
        at = value.end - self.start
        blanks, at = self.skip(at)
        yield from blanks
        if at < len(text):
            self.fail(at, "bytes behind the JSON document", seen=_quote(text, at))

    def leaf(
        self,
        start: int,
        end: int,
        label: str,
        value: Any = None,
        note: str = "",
        role: Literal["", "padding"] = "",
    ) -> Span:
        return Span(self.start + start, self.start + end, label, value, note, role=role)

    def skip(self, at: int, stop: int | None = None) -> tuple[tuple[Span, ...], int]:
        """Skip the blanks at a place, as a leaf if there are any, and the place behind them."""
        if self.text[at : at + 1] not in _BLANK:
            return (), at
        match = _BLANKS.match(self.text, at, len(self.text) if stop is None else stop)
        end = match.end() if match else at
        return ((self.leaf(at, end, "blanks", role="padding"),) if end > at else ()), end

    def explain_value(self, at: int, label: str, path: str, depth: int) -> Span:
        first = self.text[at : at + 1]
        if first in (b"{", b"["):
            if depth >= MAX_DEPTH:
                self.fail(at, "values nested too deeply", expected=f"at most {MAX_DEPTH} levels")
            end, _ = self.close(at)
            return Span(
                self.start + at,
                self.start + end,
                label,
                Deferred(partial(self.decode, at, end)),
                path,
                partial(self.explain_container, at, end, path, depth),
            )
        end = self.end_scalar(at, first)
        word = self.text[at:end]
        if word in _LITERALS:
            return self.leaf(at, end, label, _LITERALS[word], path)
        value = int(word) if len(word) < 20 and _INTEGER.fullmatch(word) else self.decode(at, end)
        return self.leaf(at, end, label, value, path)

    def end_scalar(self, at: int, first: bytes) -> int:
        """The byte behind a text, number or word that is one; its value may still be none (a text that is not UTF-8)."""
        if first == b'"':
            match = _STRING.match(self.text, at)
            if match is None:
                self.fail(at, "a text without an end")
            return match.end()
        match = _SCALAR.match(self.text, at)
        word = match[0] if match else b""
        if not word:
            self.fail(at, "no JSON value", seen=_quote(self.text, at))
        if word not in _LITERALS and _NUMBER.fullmatch(word) is None:
            self.fail(at, "no JSON value", expected="a number, true, false or null", seen=_quote(word, 0))
        return at + len(word)

    def explain_container(self, start: int, end: int, path: str, depth: int) -> Iterator[Span]:
        opening = self.text[start : start + 1]
        yield self.leaf(start, start + 1, opening.decode())
        closing = b"}" if opening == b"{" else b"]"
        is_closed = self.close(start)[1] and self.text[end - 1 : end] == closing
        inner = end - 1 if is_closed else end
        cuts = list(self.cut(start + 1, inner))
        if len(cuts) < 2:
            yield from self.explain_items(start + 1, inner, opening, 0, path, depth)
        for i, (left, right) in enumerate(cuts if len(cuts) > 1 else ()):
            label = f"[{i * GROUP}] to [{i * GROUP + GROUP - 1}]"
            if i == len(cuts) - 1:
                label = f"from [{i * GROUP}] on"
            make = partial(self.explain_items, left, right, opening, i * GROUP, path, depth)
            yield Span(self.start + left, self.start + right, label, None, path, make)
        if not is_closed:
            self.fail(end, "a JSON document that ends inside a value", expected=closing.decode())
        yield self.leaf(end - 1, end, closing.decode())

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut where each group of members or items begins and ends; the comma behind a group belongs to it."""
        at, left, count = start, start, 0
        while match := _TO_MARK.match(self.text, at, end):
            at = match.end()
            if match[1] in b"{[":
                at, _ = self.close(at - 1)
            elif match[1] == b",":
                count += 1
                if count % GROUP == 0:
                    yield left, at
                    left = at
        yield left, end

    def explain_items(
        self, start: int, end: int, opening: bytes, first: int, path: str, depth: int
    ) -> Iterator[Span]:
        """Members or items with the blanks and commas around them; a group that is not the last ends with a comma."""
        blanks, at = self.skip(start, end)
        yield from blanks
        if at >= end and first == 0:
            return
        number, seen = first, set[str]()
        while True:
            if at >= end:
                self.fail(at, "no JSON value behind a comma", seen=_quote(self.text, at))
            if opening == b"{":
                parts, name, note = self.explain_member(at, path, depth, seen)
            else:
                name = f"[{number}]"
                note = path + name
                parts = (self.explain_value(at, name, note, depth + 1),)
            behind, at = self.explain_behind(parts[-1].end - self.start, end)
            yield from _make_lines(parts, behind, name, note)
            number += 1
            if at >= end and (number - first == GROUP or all(part.label != "," for part in behind)):
                return

    def explain_behind(self, at: int, end: int) -> tuple[tuple[Span, ...], int]:
        """Explain what follows a value: blanks, a comma unless it is the last, and the blanks behind it."""
        blanks, at = self.skip(at, end)
        if at >= end:
            return blanks, at
        if self.text[at : at + 1] != b",":
            self.fail(at, "no comma between two values", seen=_quote(self.text, at))
        comma = self.leaf(at, at + 1, ",", role="padding")
        more, at = self.skip(at + 1, end)
        return (*blanks, comma, *more), at

    def explain_member(
        self, start: int, path: str, depth: int, seen: set[str]
    ) -> tuple[tuple[Span, ...], str, str]:
        """Key, colon and value of a member, its name and its note."""
        if self.text[start : start + 1] != b'"':
            self.fail(start, "no key", expected="a text", seen=_quote(self.text, start))
        end = self.end_scalar(start, b'"')
        key = self.decode(start, end)
        # not too long, and without the halves of characters that no output can write
        name = (key if len(key) <= 80 else key[:80] + "…").encode(errors="backslashreplace").decode()
        inner = f"{path}.{name}" if _PLAIN_KEY.fullmatch(name) else f"{path}[{json.dumps(name)}]"
        before, at = self.skip(end)
        if self.text[at : at + 1] != b":":
            self.fail(at, "no colon behind a key", seen=_quote(self.text, at))
        colon = self.leaf(at, at + 1, ":")
        behind, at = self.skip(at + 1)
        value = self.explain_value(at, name, inner, depth + 1)
        note = f"{inner}; the key comes again, the last one counts" if key in seen else inner
        seen.add(key)
        return (self.leaf(start, end, "key", key, "text"), *before, colon, *behind, value), name, note


def _make_lines(parts: tuple[Span, ...], behind: tuple[Span, ...], name: str, note: str) -> tuple[Span, ...]:
    """Make a member or an item with the comma behind it; brackets and contents of a structure are parts of its member."""
    *head, value = parts
    if len(parts) == 1 and (not behind or not value.is_leaf):
        return (value, *behind)
    end = behind[-1].end if behind else value.end
    if value.is_leaf:
        return (Span(parts[0].start, end, name, value.value, note, (*parts, *behind)),)
    held = Deferred(lambda: value.value)
    return (Span(parts[0].start, end, name, held, note, lambda: (*head, *value.children, *behind)),)


def _quote(text: bytes, at: int) -> str:
    return text[at : at + 16].decode(errors="replace") or "the end"


def _find_value(span: Span) -> Span | None:
    """Find the value itself, of a document, of a member, of an item or of a value."""
    parts = span.children
    if not parts or _is_bracket(parts[0]):
        return span
    if parts[0].label == "key" and parts[0].is_leaf:
        return _take_value(span, parts)
    if parts[0].label == span.label:
        return parts[0]
    return next((part for part in parts if part.label == "value" and not part.role), None)


def _take_value(member: Span, parts: tuple[Span, ...]) -> Span:
    """Take the value among the parts of a member; that of a structure is put together from brackets and contents."""
    colon = next(i for i, part in enumerate(parts) if i and part.label == ":")
    first = next(i for i, part in enumerate(parts) if i > colon and not part.role)
    if not _is_bracket(parts[first]):
        return parts[first]
    last = max(i for i, part in enumerate(parts) if part.role != "padding")
    inside, value = parts[first : last + 1], Deferred(lambda: member.value)
    return Span(inside[0].start, inside[-1].end, member.label, value, member.note, inside)


def _is_bracket(part: Span) -> bool:
    """Check whether a leaf opens a structure: a value of one byte has a value, a key of this name a longer one."""
    return part.is_leaf and part.label in ("{", "[") and len(part) == 1 and part.value is None


def _find_step(container: Span, step: str | int) -> Span | None:
    """Find the value of a key or at an index of a container, also inside the groups of a long one."""
    found = None
    for part in container.children:
        group = _GROUP_LABEL.fullmatch(part.label)
        if isinstance(step, int):
            if part.label == f"[{step}]":
                return _find_value(part)
            if group and int(group[1]) <= step <= int(group[2] or step):
                return _find_step(part, step)
            continue
        parts = () if part.is_leaf else part.children
        if parts and parts[0].is_leaf and parts[0].label == "key":
            found = _find_value(part) if parts[0].value == step else found
        elif parts and group:
            found = _find_step(part, step) or found
    return found
