"""Records of manifest lists, manifests and index manifests, whatever container holds them.

The container is known by its magic, never by an option: Avro (`Obj\\x01`), ORC (`ORC`), Parquet (`PAR1`). Records are
dicts by field name; in ORC and Parquet the same names are struct columns. A field that is absent reads as null.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.codecs.kinds import sniff
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.contents import FORMATS, load_codec
from lakelens.installed import has_arrays

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.avro.bulk import BulkGroup
    from lakelens.codecs.avro.records import AvroRecords

#: Decompressed bytes of Avro that are decoded at once: the reader needs several times as much beside.
_GROUP_BYTES = 4 * 1024 * 1024


def sniff_container(data: bytes, path: str) -> str:
    """Sniff which container the bytes are: "avro", "orc" or "parquet". Raises `Corrupt` for anything else.

    >>> sniff_container(b"PAR1....", "manifest-1")
    'parquet'
    """
    kind = sniff(data[:16])
    if kind in FORMATS:
        return kind
    what, seen = ("no manifest file", data[:8]) if data else ("empty file", None)
    raise Corrupt(what, path=path, offset=0, expected="magic Obj\\x01 (Avro), ORC or PAR1", seen=seen)


def decode_container(data: bytes, path: str) -> list[dict[str, Any]]:
    """Decode all records, in file order. Raises `Corrupt` naming the file and the byte."""
    kind = sniff_container(data, path)
    if kind == "avro":
        from lakelens.codecs.avro.records import decode_records

        return decode_records(data, path)
    if kind == "parquet" and not has_arrays():
        return _read_plain(data, path)
    rows: list[dict[str, Any]] = _attempt(lambda: _read_table(kind, data, path).to_pylist(), path)
    return rows


def _read_plain(data: bytes, path: str) -> list[dict[str, Any]]:
    """Read the records of a Parquet file without any package. Raises `LakeError`."""
    from lakelens.codecs.parquet.footer import decode_footer
    from lakelens.codecs.parquet.rows import iterate_rows
    from lakelens.codecs.parquet.sizes import check_records

    footer = decode_footer(io.BytesIO(data), path)
    check_records(data, footer)
    return [row for rows in iterate_rows(data, footer) for row in rows]


def open_container(data: bytes, path: str) -> Sequence[dict[str, Any]] | AvroRecords:
    """The records by their numbers; those of Avro are decoded when they are asked for. Raises as `decode_container`."""
    if sniff_container(data, path) != "avro":
        return decode_container(data, path)
    from lakelens.codecs.avro.records import AvroRecords

    return AvroRecords(data, path)


def decode_tables(
    files: Iterable[tuple[bytes, str]],
    choose: Callable[[pa.Table], pa.Table],
    limit: int = _GROUP_BYTES,
) -> Iterator[pa.Table | None]:
    """Decode the records of each file by column, in order; None where that is not possible: `decode_container` raises why.

    Avro comes without logical types; `choose` gives what to keep of its records, as soon as some are decoded. Files, by
    bytes and path, are taken one at a time; small ones are decoded together.
    """
    from lakelens.codecs.avro.bulk import decode_files

    others: dict[int, tuple[bytes, str]] = {}

    def feed() -> Iterator[bytes]:
        for number, (data, path) in enumerate(files):
            is_avro = sniff(data[:16]) == "avro"
            if not is_avro:
                others[number] = data, path
            yield data if is_avro else b""

    for number, table in enumerate(_join_parts(decode_files(feed(), limit=limit), choose)):
        yield _try_table(*others.pop(number)) if number in others else table


def decode_large_table(data: bytes, path: str, choose: Callable[[pa.Table], pa.Table]) -> pa.Table | None:
    """Decode the records of one large file as `decode_tables` gives them, its halves by two threads where one is free."""
    import pyarrow as pa

    from lakelens.codecs.avro.bulk import cut_file
    from lakelens.model.scan.sharing import share_work

    halves = cut_file(data) if sniff(data[:16]) == "avro" else [data]
    tables = share_work([partial(_decode_alone, half, path, choose) for half in halves])
    return None if None in tables else pa.concat_tables(tables)


def decode_pieces(data: bytes, path: str) -> Iterator[pa.Table | None]:
    """Decode the records of one file by column, those of Avro piece after piece; None where the rest does not decode."""
    from lakelens.codecs.avro.bulk import decode_files

    if sniff(data[:16]) != "avro":
        yield _try_table(data, path)
        return
    for group in decode_files([data], limit=_GROUP_BYTES):
        yield group.table


def _decode_alone(data: bytes, path: str, choose: Callable[[pa.Table], pa.Table]) -> pa.Table | None:
    return next(decode_tables([(data, path)], choose, _GROUP_BYTES // 2))


def _join_parts(
    groups: Iterable[BulkGroup], choose: Callable[[pa.Table], pa.Table]
) -> Iterator[pa.Table | None]:
    """One table for each file from groups that hold parts of files; None for a file of which a part does not decode."""
    import pyarrow as pa

    parts: list[pa.Table | None] = []
    current = 0
    for group in groups:
        done, table = 0, None if group.table is None else choose(group.table)
        for part in group.parts:
            if part.file != current:
                yield None if None in parts else pa.concat_tables(parts)
                current, parts = part.file, []
            count = part.rows or 0
            parts.append(None if table is None else table.slice(done, count))
            done += count
    if parts:
        yield None if None in parts else pa.concat_tables(parts)


def _try_table(data: bytes, path: str) -> pa.Table | None:
    try:
        kind = sniff_container(data, path)
        return _attempt(lambda: _read_table(kind, data, path), path)
    except LakeError:
        return None


def decode_container_header(data: bytes, path: str) -> dict[str, Any]:
    """The facts of the container: `format`, `schema`, `codec`, `metadata` (texts), `records` where the container counts."""
    kind = sniff_container(data, path)
    if kind == "avro":
        from lakelens.codecs.avro.records import decode_header

        header = decode_header(data, path)
        metadata = _to_texts(header.metadata)
        return {"format": kind, "schema": header.schema, "codec": header.codec, "metadata": metadata}
    described: dict[str, Any] = _attempt(lambda: _describe_footer(kind, data, path), path)
    return described


def _describe_footer(kind: str, data: bytes, path: str) -> dict[str, Any]:
    footer = load_codec(kind).decode_footer(io.BytesIO(data), path)
    if kind == "orc":
        codec = footer.compression
    else:
        codec = next((name for column in footer.columns for name in column.compression), "none")
    if kind == "parquet" and not has_arrays():
        from lakelens.codecs.parquet.schema_tree import decode_tree, name_type

        fields = [{"name": node.name, "type": name_type(node)} for node in decode_tree(footer).children]
    else:
        fields = [{"name": field.name, "type": str(field.type)} for field in footer.schema_arrow]
    return {
        "format": kind,
        "schema": {"type": "record", "fields": fields},
        "codec": codec.lower(),
        "metadata": _to_texts(footer.key_values),
        "records": footer.num_rows,
    }


def _read_table(kind: str, data: bytes, path: str) -> Any:
    codec = load_codec(kind)
    footer = codec.decode_footer(io.BytesIO(data), path)
    if kind == "parquet":
        from lakelens.codecs.parquet.sizes import check_records

        check_records(data, footer)
    else:
        from lakelens.codecs.orc.sizes import check_records as check_orc_records

        check_orc_records(data, path)
    return codec.read_rows(io.BytesIO(data), footer.num_rows, path)


def _to_texts(metadata: Mapping[Any, Any]) -> dict[str, str]:
    def text(value: Any) -> str:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    return {text(key): text(value) for key, value in metadata.items()}


def _attempt(action: Callable[[], Any], path: str) -> Any:
    """The action's result; whatever a library raises over damaged bytes is one `Corrupt`."""
    try:
        return action()
    except LakeError:
        raise
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
        raise Corrupt("the container does not decode", path=path, offset=0, seen=seen) from error
