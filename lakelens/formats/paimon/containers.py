"""Records of manifest lists, manifests and index manifests, whatever container holds them.

The container is known by its magic, never by an option: Avro (`Obj\\x01`), ORC (`ORC`), Parquet (`PAR1`). Records are
dicts by field name; in ORC and Parquet the same names are struct columns. A field that is absent reads as null.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, LakeError

if TYPE_CHECKING:
    import pyarrow as pa

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
            from lakelens.codecs.avro import decode_records

            return decode_records(data, path)
        case kind:
            rows: list[dict[str, Any]] = _attempt(lambda: _read_all(kind, data, path), path)
            return rows


def decode_container_arrow(data: bytes, path: str, *, fast: bool | None = None) -> pa.Table:
    """All records by column, in file order; no logical types in Avro. Raises `Corrupt` or `Unsupported`.

    `fast` is whether Avro goes through the bulk reader whatever the number of records.
    """
    match sniff_container(data, path):
        case "avro":
            from lakelens.codecs.avro_arrow import decode_arrow

            table: pa.Table = _attempt(lambda: decode_arrow(data, path, fast=fast), path)
        case kind:
            table = _attempt(lambda: _read_table(kind, data, path), path)
    return table


def decode_container_header(data: bytes, path: str) -> dict[str, Any]:
    """The container's own words: `format`, `schema`, `codec`, `metadata` (texts), `records` where the container counts."""
    kind = sniff_container(data, path)
    if kind == "avro":
        from lakelens.codecs.avro import decode_header

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
    from lakelens.codecs import orc, parquet

    return (orc if kind == "orc" else parquet).decode_footer(io.BytesIO(data), path)


def _read_all(kind: str, data: bytes, path: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = _read_table(kind, data, path).to_pylist()
    return records


def _read_table(kind: str, data: bytes, path: str) -> pa.Table:
    from lakelens.codecs import orc, parquet

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
