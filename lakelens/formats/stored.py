"""Stored files of any format with a name for every byte, read through the table's store.

Small files are read whole; of larger ones only the blocks that are looked at, a bounded number of which is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, overload

from lakelens.codecs.avro.container import decode_header
from lakelens.codecs.kinds import KINDS, choose_kind, explain
from lakelens.codecs.span.span import Deferred, Octets, Span, damaged_leaf
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.formats.access import LruCache
from lakelens.io.store import Store
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import BytesView
from lakelens.model.datafile import Footer

#: Files up to this size are read whole, in one request.
WHOLE = 16 << 20
BLOCK = 1 << 18
KEPT_BLOCKS = 32

_FORMATS = {"csv": "text", "json": "json_lines"}


class StoredOctets:
    """A stored file as bytes: read in blocks, when they are sliced, of which the last ones are kept.

    >>> from lakelens.io.memory import MemoryStore
    >>> octets = StoredOctets(MemoryStore({"/a": b"hello"}), "/a", 5)
    >>> len(octets), octets[1:3], octets[-1]
    (5, b'el', 111)
    """

    def __init__(self, store: Store, path: str, size: int) -> None:
        self._store = store
        self._path = path
        self._size = size
        self._blocks = LruCache[int, bytes](KEPT_BLOCKS)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> bytes: ...
    def __getitem__(self, key: int | slice) -> int | bytes:
        if isinstance(key, int):
            position = key + self._size if key < 0 else key
            if not 0 <= position < self._size:
                raise IndexError(key)
            return self._read(position, position + 1)[0]
        start, stop, step = key.indices(self._size)
        if step != 1:
            raise ValueError("a stored file is sliced without a step")
        return self._read(start, stop) if stop > start else b""

    def _read(self, start: int, stop: int) -> bytes:
        if stop - start > BLOCK * KEPT_BLOCKS // 2:
            return self._request(start, stop)
        first, last = start // BLOCK, (stop - 1) // BLOCK
        blocks = []
        for number in range(first, last + 1):
            ends = number * BLOCK, min((number + 1) * BLOCK, self._size)
            blocks.append(self._blocks.get(number, partial(self._request, *ends)))
        return b"".join(blocks)[start - first * BLOCK : stop - first * BLOCK]

    def _request(self, start: int, stop: int) -> bytes:
        data = self._store.read_range(self._path, start, stop - start)
        if len(data) < stop - start:
            seen = f"{start + len(data)} bytes"
            raise Corrupt(
                "the file became shorter while it was read", path=self._path, offset=start, seen=seen
            )
        return data


def read_octets(store: Store, path: str) -> Octets:
    """Read the bytes of a stored file; those of a large one are read when they are looked at. Raises `Missing`.

    >>> from lakelens.io.memory import MemoryStore
    >>> read_octets(MemoryStore({"/a": b"hello"}), "/a")
    b'hello'
    """
    try:
        size = store.info(path).size
        return store.read(path) if size <= WHOLE else StoredOctets(store, path, size)
    except Missing as error:
        hint = error.hint or "it has expired, or was not copied"
        raise Missing("the file is not there", path=path, hint=hint) from error


def explain_file(
    store: Store, path: str, expected: str = "", caption: Caption | None = None, **context: Any
) -> BytesView:
    """Explain a stored file with a name for every byte. `expected` is the kind by its metadata, `context` is for that kind.

    Raises `Missing`; damage is shown in its place.

    >>> from lakelens.io.memory import MemoryStore
    >>> explanation = explain_file(MemoryStore({"/t/snapshot-1": b'{"id": 1}'}), "/t/snapshot-1", "json")
    >>> explanation.what, explanation.summary, explanation.value
    ('JSON document', '9 bytes', {'id': 1})
    """
    return explain_octets(read_octets(store, path), path, expected, caption, **context)


def explain_octets(
    data: Octets, path: str, expected: str = "", caption: Caption | None = None, **context: Any
) -> BytesView:
    """Explain the bytes of a file that were read already; see `explain_file`."""
    kind = detect_kind(data, path, expected)
    span = explain(data, kind, **(context if kind == expected else {}))
    return make_explanation(data, span, caption or Caption(), path=path, base=0, noun=KINDS[kind].noun)


def detect_kind(data: Octets, path: str, expected: str = "") -> str:
    """Detect the kind of a file: by its magic, else as it is expected to be, else what its bytes look like.

    >>> detect_kind(b"PAR1...", "m", "avro"), detect_kind(b"{}", "m", "avro"), detect_kind(b"1,2", "a.csv", "csv")
    ('parquet', 'avro', 'text')
    """
    seen = choose_kind(data, path.rpartition("/")[2])
    return expected if not KINDS[seen].has_magic and expected in KINDS else seen


def kind_of_format(file_format: str) -> str:
    """The kind of bytes of a data file, from the format that metadata records.

    >>> kind_of_format("json"), kind_of_format("parquet")
    ('json_lines', 'parquet')
    """
    return _FORMATS.get(file_format, file_format)


def make_explanation(
    data: Octets, span: Span, caption: Caption, *, path: str | None, base: int | None, noun: str = ""
) -> BytesView:
    """Make an explanation of these bytes under this caption; without a summary it says how many bytes there are."""
    return BytesView(
        data,
        span,
        what=caption.what or noun or span.label,
        summary=caption.summary or count_bytes(len(span)),
        place=caption.place,
        details=caption.details,
        path=path,
        base=base,
    )


def focus_on(explanation: BytesView, span: Span, caption: Caption) -> BytesView:
    """One span of an explanation under its own caption, which keeps the place and the details that it does not give."""
    filled = replace(
        caption, place=caption.place or explanation.place, details=caption.details or explanation.details
    )
    return make_explanation(
        explanation.data, span, filled, path=explanation.path, base=explanation.base, noun=span.label
    )


@dataclass(frozen=True, slots=True)
class LabelledBytes:
    """Bytes that are shown together with others: their label, their kind and what that kind needs."""

    label: str
    data: bytes
    kind: str
    value: Any = None
    context: tuple[tuple[str, Any], ...] = ()


def explain_parts(parts: Sequence[LabelledBytes], caption: Caption, *, path: str | None = None) -> BytesView:
    """Bytes from several places as one explanation: a root with a child for each, in the order given.

    The value of the root is a dict of the parts' values by their label.

    >>> explanation = explain_parts([LabelledBytes("a", b"1", "json"), LabelledBytes("b", b"[]", "json")], Caption("two"))
    >>> [(part.label, part.start, part.end) for part in explanation.children], explanation.value
    ([('a', 0, 1), ('b', 1, 3)], {'a': 1, 'b': []})
    """
    data = b"".join(part.data for part in parts)
    explanation = make_explanation(
        data, _join_parts(parts, caption.what, data), caption, path=path, base=None
    )
    if all(part.value is None for part in parts):
        explanation.explain_again = partial(_join_parts, parts, caption.what)
    return explanation


def _join_parts(parts: Sequence[LabelledBytes], what: str, data: bytes) -> Span:
    """Parts side by side as one span, over bytes of the lengths that they have."""
    spans: list[Span] = []
    position = 0
    for part in parts:
        end = position + len(part.data)
        inner = explain(data, part.kind, position, end, **dict(part.context))
        spans.append(_name_part(part, inner))
        position = end
    return Span(0, len(data), what, Deferred(partial(_gather_values, spans)), children=tuple(spans))


def _name_part(part: LabelledBytes, inner: Span) -> Span:
    value = Deferred(lambda: inner.value) if part.value is None else part.value
    return Span(inner.start, inner.end, part.label, value, inner.note, (inner,), origin=inner.origin)


def _gather_values(spans: Sequence[Span]) -> dict[str, Any]:
    return {span.label: span.value for span in spans}


def explain_range(
    data: Octets,
    kind: str,
    start: int | None,
    length: int | None,
    caption: Caption,
    *,
    path: str,
    **context: Any,
) -> BytesView:
    """`length` bytes from `start` of a file, both as its metadata records them; positions count in the file.

    A range that is not within the file is damage: what there is of it is explained.
    """
    first = min(max(start or 0, 0), len(data))
    last = min(max(first + (length or 0), first), len(data))
    if start is None or length is None or (first, last) != (start, start + length):
        seen = f"{len(data)} bytes"
        expected = "a range" if start is None or length is None else f"bytes {start} to {start + length}"
        error = Corrupt("a range outside of its file", path=path, offset=first, expected=expected, seen=seen)
        span = Span(first, last, caption.what, children=(damaged_leaf(first, last, error),))
    else:
        span = explain(data, kind, first, last, **context)
    return make_explanation(data, span, caption, path=path, base=0)


def describe_vector(vector: Mapping[str, Any], place: str, path: str, details: str = "") -> Caption:
    """Describe the caption of a deletion vector in an index file: its recorded rows, and its offset."""
    rows = vector["cardinality"]
    summary = "" if rows is None else f"{rows:,} deleted rows recorded"
    where = join_clauses(f"in {name_file(path)}", f"at byte {vector['offset']}", details)
    return Caption("Deletion vector", summary, place, where)


def find_child(span: Span, start: int, end: int | None = None) -> Span | None:
    """Find the outermost span below this one that begins (and ends) at a byte; None when there is none."""
    while True:
        parts = span.iter_children()
        inside = next((part for part in parts if part.start <= start < max(part.end, part.start + 1)), None)
        if inside is None:
            return None
        if inside.start == start and end in (None, inside.end):
            return inside
        span = inside


def explain_footer(footer: Footer, store: Store) -> BytesView:
    """The footer of a data file inside the file: its spans of the whole file's explanation, or the header of Avro."""
    path = footer.path or ""
    explanation = explain_file(store, path, footer.facts.format)
    span = find_footer(explanation) or explanation
    noun = KINDS[footer.facts.format].noun
    caption = Caption(f"{noun}: {span.label}", place=path.rpartition("/")[2])
    return focus_on(explanation, span, caption)


def find_footer(explanation: BytesView) -> Span | None:
    """Find the footer among the parts of a file's explanation, or the header of an Avro file."""
    for wanted in ("footer", "header"):
        for part in explanation.iter_children():
            if part.label.lower().startswith(wanted) and not part.is_leaf:
                return part
    return None


@dataclass(frozen=True, slots=True)
class Caption:
    """The texts above the bytes of an explanation; see `BytesView`."""

    what: str = ""
    summary: str = ""
    place: str = ""
    details: str = ""


def count_bytes(size: int) -> str:
    """Count a number of bytes with its noun.

    >>> count_bytes(1), count_bytes(12345)
    ('1 byte', '12,345 bytes')
    """
    return "1 byte" if size == 1 else f"{size:,} bytes"


def join_clauses(*parts: str | None) -> str:
    """Clauses separated by commas, empty ones left out.

    >>> join_clauses("entry 0 of m0", None, "", "bucket 0")
    'entry 0 of m0, bucket 0'
    """
    return ", ".join(part for part in parts if part)


def name_file(path: str | None) -> str:
    """Name the last component of a path.

    >>> name_file("/t/manifest/m-0")
    'm-0'
    """
    return (path or "").rpartition("/")[2]


# One record of an explained Avro file: the block it is in, and where its fields are.


def find_record(file: BytesView, position: int) -> BytesView | None:
    """Find the record of a position as an explanation of its own; None in other files than Avro, or behind damage.

    Of a compressed block the bytes are those of its decompressed content, and `details` say so; `base` is None then, as
    they have no place in the file.
    """
    found = _find_block(file, position)
    if found is None:
        return None
    block, records = found
    data, base, place = file.data, file.base, block.label
    if records.is_packed:
        try:
            data, records = records.unpack()
        except LakeError:
            return None
        base, place = None, f"{block.label} decompressed"
    record = next((child for child in records.iter_children() if child.label == f"record {position}"), None)
    if record is None:
        return None
    details = f"byte {record.start:,} of {place}"
    return make_explanation(data, record, Caption(details=details), path=file.path, base=base)


def _find_block(file: Span, position: int) -> tuple[Span, Span] | None:
    """Find the block that holds a record, and its records, by the blocks' counts."""
    first = 0
    for block in file.iter_children():
        if not block.label.startswith("block "):
            continue
        parts = {part.label: part for part in block.iter_children()}
        if "count" not in parts or "records" not in parts:
            return None
        first += parts["count"].value
        if position < first:
            return block, parts["records"]
    return None


def find_field(record: Span, names: Sequence[str]) -> Span | None:
    """Find the span of a field of a record, by the names of the path to it; None when it is not there.

    >>> outer = Span(0, 2, "a", children=(Span(0, 1, "union branch"), Span(1, 2, "b", 7)))
    >>> find_field(Span(0, 2, "record 0", children=(outer,)), ["a", "b"])
    <Span 1..2 b = 7>
    """
    found: Span | None = record
    for name in names:
        if found is None:
            return None
        found = next((part for part in found.iter_children() if part.label == name), None)
    return found


def find_value(
    store: Store, path: str, names: Sequence[str], stored: bytes, position: int | None = None
) -> int | None:
    """Find the byte of a file where a value of a record begins; None when it is compressed, not in an Avro file, or gone.

    `stored` are the bytes of the value, `position` its record's; without one the first record with that value is taken.
    """
    try:
        data = read_octets(store, path)
        if detect_kind(data, path) != "avro" or decode_header(data, name_file(path)).codec != "null":  # type: ignore[arg-type]
            return None
        return _find_value(data, path, names, stored, position)
    except LakeError:  # the bytes themselves are known, only their place is not
        return None


def _find_value(
    data: Octets, path: str, names: Sequence[str], stored: bytes, position: int | None
) -> int | None:
    file = make_explanation(data, explain(data, "avro"), Caption(), path=path, base=0)
    if position is not None:
        record = find_record(file, position)
        return None if record is None else _match(data, find_field(record, names), stored)
    for block in file.iter_children():
        records = next((part for part in block.iter_children() if part.label == "records"), None)
        for child in records.iter_children() if records is not None else ():
            found = _match(data, find_field(child, names), stored)
            if found is not None:
                return found
    return None


def _match(data: Octets, field: Span | None, stored: bytes) -> int | None:
    """Match where a value begins, which is the end of its field (a union branch and a size go before it)."""
    if field is None:
        return None
    start = field.end - len(stored)
    return start if start >= field.start and bytes(data[start : field.end]) == stored else None
