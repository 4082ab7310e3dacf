"""Records of manifest lists, manifests and index manifests, whatever container holds them.

The container is known by its magic, never by an option: Avro (`Obj\\x01`), ORC (`ORC`), Parquet (`PAR1`). Records are
dicts by field name; in ORC and Parquet the same names are struct columns. A field that is absent reads as null.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, LakeError

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.avro.bulk import FileGroup

#: Decompressed bytes of Avro that are decoded at once: the reader needs several times as much beside.
_GROUP_BYTES = 4 * 1024 * 1024
_MAGICS = ((b"Obj\x01", "avro"), (b"ORC", "orc"), (b"PAR1", "parquet"))


def sniff_container(data: bytes, path: str) -> str:
    """Which container the bytes are: "avro", "orc" or "parquet". Raises `Corrupt` for anything else.

    >>> sniff_container(b"PAR1....", "manifest-1")
    'parquet'
    """
    for magic, name in _MAGICS:
        if data.startswith(magic):
            return name
    what = "empty file" if not data else "no manifest file"
    raise Corrupt(
        what,
        path=path,
        offset=0,
        expected="magic Obj\\x01 (Avro), ORC or PAR1",
        seen=data[:8] if data else None,
    )


def decode_container(data: bytes, path: str) -> list[dict[str, Any]]:
    """All records, in file order. Raises `Corrupt` naming the file and the byte."""
    match sniff_container(data, path):
        case "avro":
            from lakelens.codecs.avro.records import decode_records

            return decode_records(data, path)
        case kind:
            rows: list[dict[str, Any]] = _attempt(lambda: _read_all(kind, data, path), path)
            return rows


def decode_tables(files: Iterable[tuple[bytes, str]]) -> Iterator[pa.Table | None]:
    """The records of each file by column, in order; None where that is not possible: `decode_container` raises why.

    Avro comes without logical types. Files, by bytes and path, are taken one at a time; small ones are decoded together.
    """
    from lakelens.codecs.avro.bulk import decode_files

    others: dict[int, tuple[bytes, str]] = {}

    def feed() -> Iterator[bytes]:
        for number, (data, path) in enumerate(files):
            is_avro = data.startswith(_MAGICS[0][0])
            if not is_avro:
                others[number] = data, path
            yield data if is_avro else b""

    for number, table in enumerate(_join_parts(decode_files(feed(), limit=_GROUP_BYTES))):
        yield _try_table(*others.pop(number)) if number in others else table


def _join_parts(groups: Iterable[FileGroup]) -> Iterator[pa.Table | None]:
    """One table for each file from groups that hold parts of files; None for a file of which a part does not decode."""
    import pyarrow as pa

    parts: list[pa.Table | None] = []
    current = 0
    for group in groups:
        done = 0
        for part in group.parts:
            if part.file != current:
                yield None if None in parts else pa.concat_tables(parts)
                current, parts = part.file, []
            count = part.rows or 0
            parts.append(None if group.table is None else group.table.slice(done, count))
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
    """The container's own words: `format`, `schema`, `codec`, `metadata` (texts), `records` where the container counts."""
    kind = sniff_container(data, path)
    if kind == "avro":
        from lakelens.codecs.avro.records import decode_header

        header = decode_header(data, path)
        return {
            "format": kind,
            "schema": header.schema,
            "codec": header.codec,
            "metadata": _to_texts(header.metadata),
        }
    described: dict[str, Any] = _attempt(lambda: _describe_footer(kind, data, path), path)
    return described


def _describe_footer(kind: str, data: bytes, path: str) -> dict[str, Any]:
    footer = _decode_footer(kind, data, path)
    if kind == "orc":
        codec = footer.compression
    else:
        codec = next((name for column in footer.columns for name in column.compression), "none")
    return {
        "format": kind,
        "schema": _describe_columns(footer.schema_arrow),
        "codec": codec.lower(),
        "metadata": _to_texts(footer.key_values),
        "records": footer.num_rows,
    }


def _decode_footer(kind: str, data: bytes, path: str) -> Any:
    from lakelens.codecs.orc import footer as orc
    from lakelens.codecs.parquet import footer as parquet

    return (orc if kind == "orc" else parquet).decode_footer(io.BytesIO(data), path)


def _read_all(kind: str, data: bytes, path: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = _read_table(kind, data, path).to_pylist()
    return records


def _read_table(kind: str, data: bytes, path: str) -> pa.Table:
    from lakelens.codecs.orc import footer as orc
    from lakelens.codecs.parquet import footer as parquet

    rows = _decode_footer(kind, data, path).num_rows
    return (orc if kind == "orc" else parquet).read_rows(io.BytesIO(data), rows, path)


def _describe_columns(schema: Any) -> dict[str, Any]:
    return {"type": "record", "fields": [{"name": field.name, "type": str(field.type)} for field in schema]}


def _to_texts(metadata: Mapping[Any, Any]) -> dict[str, str]:
    def text(value: Any) -> str:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    return {text(key): text(value) for key, value in metadata.items()}


def _attempt(action: Any, path: str) -> Any:
    """Whatever a library raises over damaged bytes is one `Corrupt`."""
    try:
        return action()
    except LakeError:
        raise
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
        raise Corrupt("the container does not decode", path=path, offset=0, seen=seen) from error
