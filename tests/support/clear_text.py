"""What a table says in clear, and a search for it in the files of another, inside of compressed blocks too.

The originals are collected with json and fastavro, not with lakelens. Left out is what is the format's and not the table's:
words of the specifications, numbers, and values so short that any bytes hold them.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.orc as orc
import pyarrow.parquet as pq

from lakelens.codecs.avro.container import decode_header, decompress_block, iter_blocks

# what both formats, Avro and JSON spell themselves
_WORDS = """
snapshot snapshots schema schemas partition partitions manifest manifests metadata statistics location properties refs main
branch tag operation summary append overwrite delete replace transform identity bucket truncate year month day hour void
format-version sequence-number parent-snapshot-id timestamp-ms table-uuid current-schema-id default-spec-id last-column-id
data deletes parquet avro orc puffin struct list map key value element string int long float double date time timestamp
timestamptz timestamp_ns timestamptz_ns decimal fixed binary uuid boolean null record array bytes union logicalType field-id
element-id items values fields default required name names type optional lower_bound upper_bound contains_null contains_nan
deletion-vector-v1 referenced-data-file cardinality blobs offset length zstd gzip deflate snappy null none counts full
content status file_path file_format record_count spark engine-name engine-version iceberg-version Apache Iceberg commit
total-data-files added-records manifest_entry manifest_file sort-orders order-id partition-specs spec-id source-id true false
partition-spec-id key-id value-id element-required value-required avro.codec avro.schema iceberg.schema doc metadata-log
precision scale direction null-order adjust-to-utc timestamp-micros schema.name-mapping.default
write-default initial-default partition-statistics current-snapshot-id identifier-field-ids file file:
PARQUET AVRO ORC PUFFIN write format merge-on-read copy-on-write schema-id snapshot-log version-hint nulls-first nulls-last
asc desc
"""

# numbers, types with parameters, words of numbers, documents of a version, and records of Avro by id
_NUMBERS = re.compile(
    r"[-+0-9.eE]*( ?[kmg]?b)?|(\d:[a-z]+,?)+|Apache Iceberg .*|(truncate|bucket)\[\d+\]|truncate\(\d+\)"
    r"|v\d+(\.gz)?\.metadata\.json|k\d+_v\d+|r\d+|\d{20}(\.\d{20}|\.checkpoint)?(\.\d{10}){0,2}(\.compacted)?\.(json|crc|parquet)"
    r"|(snapshot|schema|changelog|bucket)-\d+|(DECIMAL|TIMESTAMP|TIME|(VAR)?CHAR|(VAR)?BINARY|decimal)\(\d+.*"
    r"|decimal\(\d+| \d+\).*|decimal(\(\d+, ?-?\d+\)|_\d+_\d+)|fixed(\[\d+\]|_\d+)|version-hint.text"
)


def list_words(vocabulary: Iterable[str]) -> set[str]:
    """Every part of the words of a format: a name that is one of them cannot be found."""
    return {word.lower() for text in vocabulary for word in [text, *re.split(r"[^A-Za-z0-9]+", text)]}


def unpack(place: Path) -> dict[str, bytes]:
    """The files of a directory, decompressed, without the directory's own path."""
    found = (path for path in sorted(place.rglob("*")) if path.is_file())
    return {str(path.relative_to(place)): _unpack(path).replace(str(place).encode(), b"@") for path in found}


def _unpack(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:4] == b"Obj\x01":
        header = decode_header(data)
        content = [decompress_block(data, block, header.codec) for block in iter_blocks(data, header)]
        return data[: header.header_size] + b"".join(content)
    if data[:4] == b"PAR1":
        return data + repr(pq.read_table(path).to_pylist()).encode() + repr(pq.read_schema(path)).encode()
    if data[:3] == b"ORC":
        return data + repr(orc.read_table(path).to_pylist()).encode()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def read_documents(place: Path) -> Iterator[tuple[str, Any]]:
    """Every JSON document and every record of an Avro, ORC or Parquet file of metadata, as plain values."""
    for path in sorted(place.rglob("*")):
        folder = path.relative_to(place).parts[0]
        if not path.is_file() or path.suffix == ".crc":
            continue
        data = path.read_bytes()
        inside = folder in (
            "metadata",
            "manifest",
            "snapshot",
            "schema",
            "tag",
            "branch",
            "statistics",
            "changelog",
            "_delta_log",
        )
        if data[:4] == b"Obj\x01" and inside:
            with path.open("rb") as file:
                reader = fastavro.reader(file)
                yield path.name, [dict(reader.metadata), list(reader)]
        elif data[:4] == b"PAR1" and inside:
            yield path.name, pq.read_table(path).to_pylist()
        elif data[:3] == b"ORC" and inside:
            yield path.name, orc.read_table(path).to_pylist()
        elif inside:
            plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            for text in [plain] if folder != "_delta_log" else plain.splitlines():
                try:
                    yield path.name, json.loads(text)
                except ValueError:
                    continue


def list_strings(value: Any) -> Iterator[str]:
    """Every text in a value, also in JSON inside of a text, and every key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from list_strings(key)
            yield from list_strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from list_strings(inner)
    elif isinstance(value, str):
        try:
            inner = json.loads(value) if value[:1] in "{[" else None
        except ValueError:
            inner = None
        if inner is not None:
            yield from list_strings(inner)
        else:
            yield value


def list_bytes(value: Any) -> Iterator[bytes]:
    """Every value of bytes in records: bounds, rows of keys and of statistics."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from list_bytes(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from list_bytes(inner)
    elif isinstance(value, bytes):
        yield value


# infinities stay, as NaN does: nothing is above them
_SIGNS = (float("inf"), float("-inf"), float("nan"))
_INFINITIES = {struct.pack(width, sign) for width in ("<f", "<d") for sign in _SIGNS}


def _is_word(data: bytes, words: str) -> bool:
    """Whether bytes are a part of a word of the format."""
    return data.decode("latin-1").lower() in words


# what stays in a slot of a BinaryRow: an empty text, NaN, an infinity
_NO_VALUES = {struct.pack(width, sign).ljust(8, b"\0") for width in ("<f", "<d") for sign in _SIGNS} | {
    bytes(7) + b"\x80"
}


def _is_null_row(data: bytes) -> bool:
    """Whether bytes are a BinaryRow of Paimon's in which every field is null or has a value that stays."""
    arity = int.from_bytes(data[:4], "big")
    head = (arity + 71) // 64 * 8
    if not 0 < arity < 1_000 or len(data) < 4 + head + 8 * arity:
        return False
    nulls = (data[4 + (field + 8) // 8] >> (field + 8) % 8 & 1 for field in range(arity))
    slots = (data[4 + head + 8 * field : 12 + head + 8 * field] for field in range(arity))
    return all(null or slot in _NO_VALUES for null, slot in zip(nulls, slots, strict=True))


class Clear:
    """The texts and bytes that a table has and that no copy of it may have."""

    def __init__(self, place: Path, values: Iterable[str], vocabulary: Iterable[str]) -> None:
        words = "\0".join(list_words([*_WORDS.split(), *vocabulary]))
        documents = [document for _, document in read_documents(place)]
        texts = {text for document in documents for text in list_strings(document)} | set(values)
        texts |= {path.name for path in place.rglob("*")}
        parts = {part for text in texts for part in re.split(r"[/=,]+", text)}
        self.texts = {text for text in texts | parts if self._is_own(text, words)}
        self.bytes = {
            found
            for document in documents
            for found in list_bytes(document)
            if len(found) >= 4
            and len(set(found)) > 2
            and not _is_null_row(found)
            and found not in _INFINITIES
            and not _is_word(found, words)
        }

    @staticmethod
    def _is_own(text: str, words: str) -> bool:
        if len(text) < 3 or _NUMBERS.fullmatch(text):
            return False
        return text.lower() not in words

    def search(self, files: dict[str, bytes]) -> list[tuple[str, str | bytes]]:
        """Each original that is found, with the file."""
        found: list[tuple[str, str | bytes]] = []
        for name, data in files.items():
            inside = name.encode() + b"\0" + data
            found += [(name, text) for text in self.texts if text.encode() in inside]
            if not name.endswith(".puffin"):
                found += [(name, one) for one in self.bytes if one in inside]
        return found
