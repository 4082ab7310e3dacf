"""Citations read again from the files: the value at a place, and the bytes of it. What cannot be read is not cited.

A document is JSON, also where it is compressed; records are those of Avro and Parquet files, and lines of JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import IO, Any, cast

from lakelens.codecs.span.span import Octets, Span
from lakelens.codecs.text.json_spans import explain_json, find_json
from lakelens.errors import LakeError
from lakelens.evidence.claims import ANY, Address, Citation, Cited, Claim, Match, Step, derive
from lakelens.io.store import Store, StoreFile, find_info

_KEPT = 64  # opened files
#: The way to a value as it was found: names, numbers, and which of the bytes.
Way = Sequence[str | int | slice]
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_GZIP = b"\x1f\x8b"
#: Files are opened whole up to this many bytes.
_MOST_BYTES = 256 << 20
_UNREADABLE = (
    *(LakeError, ValueError, KeyError, IndexError, TypeError, AttributeError),
    *(StopIteration, RecursionError, zlib.error),
)


class OpenedFile:
    """One file that citations are read from: its bytes, and what they hold, decoded when it is first asked for."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data, self.path = data, path
        self._indexes: dict[str, dict[Any, int]] = {}
        self._unpacked: dict[int, tuple[Sequence[Span], tuple[int, int] | None, Octets]] = {}

    @property
    def is_avro(self) -> bool:
        """Whether it is an Avro file."""
        return self.data[:4] == b"Obj\x01"

    @cached_property
    def document(self) -> Any:
        """The document in it. Raises `ValueError` where there is none."""
        return json.loads(self.text)

    @cached_property
    def text(self) -> bytes:
        """The bytes of the document; what it unpacks to, where it is compressed."""
        return zlib.decompress(self.data, 31) if self.data[:2] == _GZIP else self.data

    @cached_property
    def span(self) -> Span:
        """Its document with a name for every byte."""
        return explain_json(self.data)

    @cached_property
    def records(self) -> Sequence[Any]:
        """Its records by their numbers. Raises `LakeError` and `ValueError`."""
        if self.is_avro:
            from lakelens.codecs.avro.records import AvroRecords

            return AvroRecords(self.data, self.path)
        if self.data[:4] == b"PAR1":
            from lakelens.codecs.parquet.footer import decode_footer
            from lakelens.codecs.parquet.rows import iterate_rows

            footer = decode_footer(io.BytesIO(self.data), self.path)
            return [row for rows in iterate_rows(self.data, footer) for row in rows]
        return [json.loads(self.data[start:end]) for start, end in self.lines]

    @cached_property
    def lines(self) -> list[tuple[int, int]]:
        """Where its lines begin and end; those without text are left out."""
        ends = [found.span() for found in re.finditer(rb"[^\n]+", self.data)]
        return [(start, end) for start, end in ends if self.data[start:end].strip()]

    def place_first(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Address the first of steps into its records: the number of the one that it matches, by an index made once."""
        first = steps[0]
        if not isinstance(first, Match):
            return steps
        if first.key not in self._indexes:
            self._indexes[first.key] = index_items(self.records, first.key)
        return [self._indexes[first.key][first.value], *steps[1:]]

    @cached_property
    def blocks(self) -> list[tuple[range, Span]]:
        """The blocks of an Avro file: the numbers of their records, and these as they are stored."""
        from lakelens.codecs.kinds import explain

        found: list[tuple[range, Span]] = []
        first = 0
        for block in explain(self.data, "avro").iter_children():
            parts = {part.label: part for part in block.iter_children()} if "block" in block.label else {}
            if "count" in parts and "records" in parts:
                found.append((range(first, first + parts["count"].value), parts["records"]))
                first = found[-1][0].stop
        return found

    def open_block(self, number: int) -> tuple[Span, tuple[int, int] | None, Octets]:
        """Open the block of a record: the record, the stored bytes where they are packed, and what they unpack to."""
        at = bisect_right(self.blocks, number, key=lambda block: block[0].start) - 1
        if at not in self._unpacked:
            _, records = self.blocks[at]
            stored = (records.start, records.end) if records.is_packed else None
            unpacked = records.unpack() if records.is_packed else (self.data, records)
            self._unpacked[at] = tuple(unpacked[1].iter_children()), stored, unpacked[0]
        opened, stored, data = self._unpacked[at]
        return opened[number - self.blocks[at][0].start], stored, data


class Rereader:
    """Reads citations from the files of one store, each file once.

    What is below one of the `others` is read from that one's store, and named by its whole path.
    """

    def __init__(self, store: Store, root: str, others: Mapping[str, Store] = MappingProxyType({})) -> None:
        self._store, self._root = store, root.rstrip("/") + "/"
        self._others = {place.rstrip("/") + "/": other for place, other in others.items()}
        self._opened: dict[str, OpenedFile] = {}

    def _find_store(self, path: str) -> Store:
        found = (store for place, store in self._others.items() if path.startswith(place))
        return self._store if path.startswith(self._root) else next(found, self._store)

    def name(self, path: str) -> str:
        """Name a file: by its path below the table where it is there."""
        return path.removeprefix(self._root)

    def cite(self, claim: Claim, most: int, skip: int = 0, number: int = 0) -> Cited | None:
        """Read the places of a claim again, and list some. None where one cannot be read, or the value does not follow."""
        citations = [citation for place in claim.places if (citation := self.read(place)) is not None]
        if len(citations) != len(claim.places) or not citations:
            return None
        rule, limit, set_at = claim.rule, None, None
        try:
            meanings = [citation.meaning for citation in citations]
            if rule is not None:
                limit = meanings.pop() if rule.limit is ANY else rule.limit
                set_at = None if rule.place is None else self.read(rule.place)
                if rule.place is not None and set_at is None:
                    return None
            figure = derive(claim.how, meanings)
            if figure is None or (claim.value is not ANY and figure != claim.value):
                return None
            value = figure if rule is None else rule.decide(figure, limit)
        except (TypeError, ValueError, OverflowError):
            return None
        listed = tuple(citations[skip : skip + most])
        left = max(0, len(citations) - skip - len(listed))
        more = (rule, figure, limit, set_at)
        return Cited(claim.says, value, listed, claim.how, claim.about, left, number, *more)

    def read(self, place: Address) -> Citation | None:
        """Read a place; None where there is nothing."""
        for given in (place, *place.others):
            for path in given.files:
                try:
                    citation = self._read(given, path)
                except _UNREADABLE:
                    continue
                if citation is not None:
                    return replace(citation, clause=given.clause, how=given.how, names=given.names)
        return None

    def _read(self, place: Address, path: str) -> Citation | None:
        if place.kind in ("length", "absence"):
            is_whole = path.startswith("/") or "://" in path
            where = path if is_whole else self._root + path
            info = find_info(self._find_store(where), where)
            if place.kind == "absence":
                return Citation(self.name(where), place.kind, None) if info is None else None
            return None if info is None or info.is_dir else Citation(self.name(where), place.kind, info.size)
        if place.kind == "digest":
            with StoreFile(self._find_store(path), path) as file:
                digest = hashlib.file_digest(cast("Any", file), "sha256").hexdigest()
            return Citation(self.name(path), place.kind, digest)
        if place.kind == "footer":
            from lakelens.codecs.parquet.footer import decode_footer

            with StoreFile(self._find_store(path), path) as file:
                rows = decode_footer(cast("IO[bytes]", file), path).num_rows
                return Citation(self.name(path), "footer.num_rows", rows)
        opened = self._open(path)
        holder = opened.document if place.kind == "document" else opened.records
        steps, value = follow(
            holder, opened.place_first(place.steps) if place.kind == "record" else place.steps
        )
        at, block, octets = self._locate(opened, place, steps)
        if place.kind == "document" and octets and json.loads(octets) != value:
            at, octets = None, b""
        path_in = ("$" if place.kind == "document" else "") + format_steps(steps)
        return Citation(self.name(path), path_in, value, at, block, octets)

    def _open(self, path: str) -> OpenedFile:
        if path not in self._opened:
            store = self._find_store(path)
            if store.info(path).size > _MOST_BYTES:
                raise LakeError("too large to be read for a citation", path=path)
            while len(self._opened) >= _KEPT:
                del self._opened[next(iter(self._opened))]
            self._opened[path] = OpenedFile(store.read(path), path)
        return self._opened[path]

    def _locate(
        self, opened: OpenedFile, place: Address, steps: Way
    ) -> tuple[tuple[int, int] | None, tuple[int, int] | None, bytes]:
        """Locate the bytes of a value: in the file, or in a block of it; nowhere where they are spread or compressed."""
        inside: list[Any] = list(steps[: steps.index("|$")] if "|$" in steps else steps)
        if place.kind == "document":
            return (
                _take(find_json(opened.span, inside), opened.data) if opened.text is opened.data else _NOWHERE
            )
        number = inside[0]
        if opened.is_avro:
            return _find_in_blocks(opened, number, inside[1:])
        if opened.data[:4] == b"PAR1":
            return _NOWHERE
        start, end = opened.lines[number]
        return _take(find_json(explain_json(opened.data, start, end), inside[1:]), opened.data)


#: What the bytes of a value are called beside the branch and the size before them.
_INNER = ("value", "text", "bytes")
_NOWHERE: tuple[None, None, bytes] = (None, None, b"")


def _take(span: Span, data: Octets) -> tuple[tuple[int, int], None, bytes]:
    return (span.start, span.end), None, bytes(data[span.start : span.end])


def _find_in_blocks(
    opened: OpenedFile, number: int, way: Way
) -> tuple[tuple[int, int] | None, tuple[int, int] | None, bytes]:
    """Find the bytes of a field of an Avro record: those of its value, without the branch and the size before it."""
    record, stored, data = opened.open_block(number)
    field: Span | None = record
    for name in [step for step in way if not isinstance(step, slice)]:
        parts = [] if field is None else list(field.iter_children())
        inner = next((part for part in parts if part.label == "value"), None)
        if inner is not None and all(part.label != name for part in parts):
            parts = list(inner.iter_children())
        field = next((part for part in parts if part.label in (name, f"[{name}]")), None)
    if field is None:
        return _NOWHERE
    start, end = _strip_value(field)
    for part in [step for step in way if isinstance(step, slice)]:
        start, end = start + part.start, start + part.stop
    return (start, end), stored, bytes(data[start:end])


def _strip_value(field: Span) -> tuple[int, int]:
    """Strip what stands before a value, its branch and its size; a value of no bytes is where its size ends."""
    inner: Span | None = field
    parts: list[Span] = []
    while inner is not None:
        field, parts = inner, list(inner.iter_children())
        inner = next((part for part in parts if part.label in _INNER), None)
    is_empty = bool(parts) and parts[-1].label == "size"  # and nothing behind it
    return (field.end if is_empty else field.start), field.end


def follow(holder: Any, steps: Sequence[Step]) -> tuple[list[str | int | slice], Any]:
    """Follow steps into what is decoded; gives them as names, numbers and bytes, and the value. Raises `KeyError`.

    A text that steps lead into is JSON; a map may be a list of pairs; of bytes a step takes some.

    >>> follow({"a": [{"id": 1}, {"id": 2, "b": '{"n": 3}'}]}, ["a", Match("id", 2), "b", "n"])
    (['a', 1, 'b', '|$', 'n'], 3)
    """
    way: list[str | int | slice] = []
    for given in steps:
        step: Any = given
        if isinstance(holder, str):
            holder = json.loads(holder)
            way.append("|$")
        if isinstance(step, Match):
            step = index_items(holder, step.key)[step.value]
        elif callable(step):
            step = step(holder)
        elif isinstance(holder, list) and isinstance(step, str):
            step = next(number for number, pair in enumerate(holder) if pair[0] == step)
            way.append(step)
            step, holder = 1, holder[step]
        holder = holder[step]
        way.append(step)
    return way, holder


def index_items(items: Any, key: str) -> dict[Any, int]:
    """Index items by what they have of a key, and by `ANY` the first that has it: their numbers, of equal ones the first.

    >>> index_items([{"a": None}, {"a": {"b": 5}}, {"a": {"b": 6}}], "a.b")
    {5: 1, Ellipsis: 1, 6: 2}
    """
    numbers: dict[Any, int] = {}
    for number in range(0 if isinstance(items, str | Mapping) else len(items)):
        held = items[number]
        for name in key.split("."):
            held = held.get(name) if isinstance(held, Mapping) else None
        if held is not None:
            numbers.setdefault(held if isinstance(held, str | int) else number, number)
            numbers.setdefault(ANY, number)
    return numbers


def format_steps(steps: Way) -> str:
    """Format the way to a value as JSON paths are written; `|$` leads into a text that is JSON itself, `[8:12]` into bytes.

    >>> format_steps(["snapshots", 4, "summary", "spark.app.id"])
    '.snapshots[4].summary["spark.app.id"]'
    """
    written = []
    for step in steps:
        if isinstance(step, slice):
            written.append(f"[{step.start}:{step.stop}]")
        elif isinstance(step, int):
            written.append(f"[{step}]")
        elif step == "|$" or not _PLAIN.fullmatch(step):
            written.append(step if step == "|$" else f"[{json.dumps(step)}]")
        else:
            written.append(f".{step}")
    return "".join(written)
