"""One record of an explained Avro file: the block it is in, and where its fields are."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.codecs.avro.container import decode_header
from lakelens.codecs.kinds import explain
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.formats.explain.stored import Caption, detect_kind, make_explanation, name_file, read_octets
from lakelens.io.store import Store
from lakelens.model.bytes_view import BytesView


def find_record(file: BytesView, position: int) -> BytesView | None:
    """The record of a position as an explanation of its own; None in other files than Avro, or behind damage.

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
    record = next((one for one in records.iter_children() if one.label == f"record {position}"), None)
    if record is None:
        return None
    details = f"byte {record.start:,} of {place}"
    return make_explanation(data, record, Caption(details=details), path=file.path, base=base)


def _find_block(file: Span, position: int) -> tuple[Span, Span] | None:
    """The block that holds a record, and its records, by the blocks' counts."""
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
    """The span of a field of a record, by the names of the path to it; None when it is not there.

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
    """The byte of a file where a value of a record begins; None when it is compressed, not in an Avro file, or gone.

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
        for one in records.iter_children() if records is not None else ():
            found = _match(data, find_field(one, names), stored)
            if found is not None:
                return found
    return None


def _match(data: Octets, field: Span | None, stored: bytes) -> int | None:
    """Where a value begins, which is the end of its field (a union branch and a size go before it)."""
    if field is None:
        return None
    start = field.end - len(stored)
    return start if start >= field.start and bytes(data[start : field.end]) == stored else None
