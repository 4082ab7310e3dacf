"""`explain_bytes`, `explain_file` and `decode_binary_row`: any piece of a table's metadata, every byte named."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.codecs.kinds import KINDS, choose_kind, explain, find_kind
from lakelens.errors import LakeError
from lakelens.model.bytes_view import BytesView

if TYPE_CHECKING:
    from lakelens.codecs.paimon.binary_row import FieldLike
    from lakelens.formats.paimon.manifests.stats import StoredRow

_MOST_PARENTS = 8
_MOST_SNAPSHOTS = 100
_TAIL = 64 * 1024  # bytes that hold most footers


def explain_bytes(data: bytes, kind: str, **context: Any) -> BytesView:
    """Explain bytes: a tree of spans (`start`, `end`, `label`, `value`, `note`, `children`); each byte is in one leaf.

    Parameters
    ----------
    data
        The bytes.
    kind
        One of `lakelens.codecs.kinds.KINDS`: "binary_row", "avro", "puffin", "deletion_vector", "iceberg_value", "parquet",
        "orc", "file_index", "json" and others.
    **context
        What the kind needs: `fields` of a "binary_row" (as for `decode_binary_row`), `type` of an "iceberg_value".

    Raises
    ------
    Corrupt
        The bytes are not of the kind; the error names the byte.
    ValueError
        There is no such kind.

    Examples
    --------
    >>> row = bytes.fromhex("00000001000000000000000001000000000000 00".replace(" ", ""))
    >>> span = explain_bytes(row, "binary_row", fields=[("id", "INT NOT NULL")])
    >>> span.value["id"], sum(len(leaf) for leaf in span.leaves()) == len(row)
    (1, True)
    """
    _load_kinds()
    data = bytes(data)
    span = explain(data, kind, **context)
    span.check()
    return BytesView(data, span, explain_again=lambda other: explain(other, kind, **context))


def _load_kinds() -> None:
    """Load the kinds of bytes that the installed formats bring."""
    from lakelens.formats.registry import load_formats

    load_formats()


def decode_binary_row(data: bytes, fields: Sequence[FieldLike]) -> StoredRow:
    """Decode one serialized row, its 4-byte arity first, as Paimon keeps it in manifests.

    Follows "BinaryRow" of the Paimon specification.

    Parameters
    ----------
    data
        The bytes of the row.
    fields
        (name, type) pairs, types as Paimon spells them.

    Returns
    -------
    StoredRow
        The values, by position and by name, with a card and `bytes_view()`. Timestamps without zone are naive `datetime`s,
        with local zone UTC-aware; digits below the microsecond give a `NanoTimestamp` and years outside 1 to 9999 a
        `FarTime` (`lakelens.codecs.moments`). A MAP is a dict (a list of pairs when keys repeat or are not hashable), a ROW
        a dict, a VARIANT a `Variant`.

    Raises
    ------
    Corrupt
        The bytes are no such row; the error names the byte.

    Examples
    --------
    >>> data = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    >>> row = decode_binary_row(data, [("id", "INT NOT NULL"), ("name", "STRING")])
    >>> row, row["name"], row.kind
    ({id: 1, name: 'a'}, 'a', '+I')
    """
    from lakelens.codecs.paimon import binary_row
    from lakelens.codecs.paimon.types import PaimonField
    from lakelens.formats.paimon.manifests.stats import StoredRow
    from lakelens.model.bytes_view import Source

    decoded = binary_row.decode_binary_row(data, fields)
    types = zip(*binary_row.split_fields(fields), strict=True)
    columns = [PaimonField(number, name, kind) for number, (name, kind) in enumerate(types)]
    source = Source(lambda found: explain_bytes(found.data, "binary_row", fields=columns))
    return StoredRow(decoded, decoded.data, columns, source=source)


def explain_file(
    source: str | os.PathLike[str],
    kind: str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> BytesView:
    """Explain a whole file: a tree of spans in which each byte is in one leaf.

    A manifest or an index file of a table in a directory above is explained with the facts that the table records about it.
    Only the parts of a large file that are looked at are read. Damage is shown in place; `BytesView.check` raises it.

    Parameters
    ----------
    source
        The path or URL of the file.
    kind
        One of `lakelens.codecs.kinds.KINDS` that needs no context; by default found from the bytes.
    storage_options
        Options for fsspec.

    Raises
    ------
    Missing, AccessDenied, LakeError
        The file is not there, may not be read, or is a directory.
    ValueError
        There is no such kind, or it needs context.

    Examples
    --------
    >>> explain_file("/nowhere/m0.avro")
    Traceback (most recent call last):
    lakelens.errors.Missing: /nowhere/m0.avro: no such file or directory
    """
    from lakelens.formats.stored import Caption, explain_octets, make_explanation, read_octets
    from lakelens.io.local import open_source

    _load_kinds()
    if kind is not None and (needs := find_kind(kind).needs):
        raise ValueError(f"{kind!r} needs {' and '.join(needs)}: use explain_bytes, which takes them")
    store, path = open_source(source, storage_options)
    if store.info(path).is_dir:
        raise LakeError("this is a directory", path=path, hint="one of the files in it")
    data = read_octets(store, path)
    caption = Caption(place=posixpath.basename(path))
    if kind is not None:
        return make_explanation(data, explain(data, kind), caption, path=path, base=0, noun=kind)
    # whether a Parquet file has a key of Iceberg's manifests, which says more when its table is known
    if not KINDS[choose_kind(data, posixpath.basename(path))].is_self_describing or (
        bytes(data[:4]) == b"PAR1" and b"partition-spec-id" in bytes(data[max(0, len(data) - _TAIL) :])
    ):
        for thing in _find_in_table(store, path):
            try:
                found: BytesView = thing.bytes_view()
                return found
            except LakeError:
                continue
    return explain_octets(data, path, caption=caption)


def _find_in_table(store: Any, path: str) -> Iterator[Any]:
    """Find the objects of the table above a file, if any, that are read from it; newest snapshots first."""
    try:
        table = _open_above(store, path)
        snapshots = [] if table is None else list(islice(reversed(table.snapshots), _MOST_SNAPSHOTS))
    except LakeError:
        return
    for snapshot in snapshots:
        for member in ("manifest_lists", "manifests", "index_files", "statistics"):
            try:
                things = getattr(snapshot, member)
                yield from (thing for thing in things if thing.path == path)
            except LakeError:
                continue


def _open_above(store: Any, path: str) -> Any:
    """Open the table whose directory holds a file; not a listed table, which has no metadata about its files."""
    from lakelens.formats.registry import detect_format
    from lakelens.opening import open_in_store

    for _ in range(_MOST_PARENTS):
        path = posixpath.dirname(path)
        if path in ("", "/"):
            return None
        try:
            chosen, _ = detect_format(store, path)
        except LakeError:
            continue
        table = open_in_store(store, path, format=chosen.name)
        if not table.traits.files_are_listed:
            return table
    return None
