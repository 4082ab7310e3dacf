"""What the record of a file keeps as bytes: rows of its partition, its keys and its statistics, and its file index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakelens.model.stats import Encoded

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile

_NOTHING = (b"", b"\x00\x00\x00\x00")  # rows of no fields begin so
_ROWS = (("_MIN_VALUES", "min_values", "_MAX_VALUES"), ("_MAX_VALUES", "max_values", "_MIN_VALUES"))


def iterate_encoded(file: PaimonDataFile) -> Iterator[Encoded]:
    """See `DataFile.list_encoded`; what has no fields is left out."""
    record = file.raw["_FILE"]
    if _has_fields(file.partition_bytes):
        yield Encoded("_PARTITION", lambda: file.partition, lambda: file.partition.bytes_view())
    for field, name, partner in (("_MIN_KEY", "min_key", "_MAX_KEY"), ("_MAX_KEY", "max_key", "_MIN_KEY")):
        if _has_fields(record.get(field)):
            yield _make_row(file, field, (name,), partner if _has_fields(record.get(partner)) else "")
    for field, name in (("_KEY_STATS", "key_stats"), ("_VALUE_STATS", "value_stats")):
        stored = record.get(field) or {}
        if not (_has_fields(stored.get("_MIN_VALUES")) and _has_fields(stored.get("_MAX_VALUES"))):
            continue
        yield _make_row(file, field, (name,))
        for inner, attribute, partner in _ROWS:
            yield _make_row(file, f"{field}.{inner}", (name, attribute), f"{field}.{partner}")
    if record.get("_EMBEDDED_FILE_INDEX"):
        yield Encoded("_EMBEDDED_FILE_INDEX", lambda: file.embedded_file_index, file.file_index_view)


def _make_row(file: PaimonDataFile, field: str, names: tuple[str, ...], partner: str = "") -> Encoded:
    def read() -> Any:
        found: Any = file
        for name in names:
            found = getattr(found, name)
        return found

    return Encoded(field, read, lambda: read().bytes_view(), partner)


def _has_fields(data: Any) -> bool:
    return isinstance(data, bytes) and data[:4] not in _NOTHING
