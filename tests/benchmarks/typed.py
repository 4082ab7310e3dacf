"""Manifests of files with typed statistics: as many as it takes, of about eight megabytes each, or a given number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tests.benchmarks import iceberg_entries, paimon_entries, values
from tests.benchmarks.octets import AvroFile, find_packer, pack_blocks
from tests.benchmarks.values import Longs, Octets

MANIFEST_BYTES = 8 * 1024 * 1024  # both formats start a new manifest about there
_CHUNK_BYTES = 8 * 1024 * 1024
_CHUNK_FILES = 2_048
_PROOF_PLACE = (
    3  # the first typed column of either lake: its lower bounds are summed up, so it always has them
)


class Entries(Protocol):
    """Encodes the entries of files by their numbers."""

    def encode(self, numbers: Longs, missing: int | None = None) -> Octets:
        """One row of bytes per file."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """A manifest that was written: its path, its size, and which files it holds, by number."""

    path: Path
    size: int
    first: int
    count: int

    @property
    def numbers(self) -> Longs:
        """The numbers of its files."""
        return np.arange(self.first, self.first + self.count, dtype=np.int64)


def write_iceberg(
    folder: Path,
    document: dict[str, Any],
    header: Mapping[str, str],
    origins: Sequence[Mapping[str, Any]],
    line: Mapping[str, Any],
    *,
    files: int,
    manifests: int,
    columns: int,
) -> list[dict[str, Any]]:
    """Grow the schema of a table to `columns` and write manifests of `files` files; their lines for the manifest list."""
    known = iceberg_entries.add_columns(document, columns)
    header = {**header, "schema": json.dumps(document["schemas"][-1])}
    entries = iceberg_entries.IcebergEntries(
        json.loads(header["avro.schema"]), relabel(origins[0], line), known
    )
    names = (folder / f"grown-{number}-m0.avro" for number in range(files))
    written = write_manifests(names, header, entries, files=files, manifests=manifests, columns=len(known))
    place = line["manifest_path"].rsplit("/", 1)[0]
    return [_make_iceberg_line(line, one, place) for one in written]


def relabel(origin: Mapping[str, Any], line: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry with the snapshot that its manifest was added by, where the entry leaves it to the list."""
    return {**origin, "snapshot_id": origin["snapshot_id"] or line["added_snapshot_id"]}


def write_paimon(
    folder: Path,
    header: Mapping[str, str],
    origin: Mapping[str, Any],
    line: Mapping[str, Any],
    schema: dict[str, Any],
    *,
    files: int,
    manifests: int,
    columns: int,
) -> list[dict[str, Any]]:
    """Grow a schema document to `columns` and write manifests of `files` files; their lines for the manifest list."""
    kinds = paimon_entries.add_columns(schema, columns)
    keys = list(paimon_entries.list_partition_kinds(schema).values())
    avro_schema = json.loads(header["avro.schema"])
    entries = paimon_entries.PaimonEntries(avro_schema, origin, kinds, keys, schema["id"])
    names = (folder / f"manifest-grown-{number}" for number in range(files))
    written = write_manifests(names, header, entries, files=files, manifests=manifests, columns=len(kinds))
    return [
        _make_paimon_line(line, one, schema["id"], paimon_entries.bound_partitions(keys, one.numbers))
        for one in written
    ]


def write_manifests(
    names: Iterator[Path],
    header: Mapping[str, str],
    entries: Entries,
    *,
    files: int,
    manifests: int,
    columns: int,
) -> list[Written]:
    """Write the entries of `files` files into `manifests` manifests (0: a new one every eight megabytes)."""
    written: list[Written] = []
    pack = find_packer(header.get("avro.codec", "null"))
    ends = [files * (number + 1) // manifests for number in range(manifests)] if manifests else []
    first = 0
    while first < files:
        end = next(end for end in ends if end > first) if ends else files
        limit = None if ends else MANIFEST_BYTES
        target = AvroFile(next(names), header)
        for count, packed in pack_blocks(_iterate_chunks(entries, first, end, columns), pack):
            target.add_block(count, packed)
            if limit is not None and target.size >= limit:
                break
        target.close()
        written.append(Written(target.path, target.size, first, target.entries))
        first += target.entries
    return written


def _iterate_chunks(entries: Entries, first: int, end: int, columns: int) -> Iterator[Octets]:
    """Tables of entries; in every fourth one column has no bounds, as before that column was filled."""
    width = entries.encode(np.arange(first, first + 1, dtype=np.int64)).shape[1]
    step = max(1, min(_CHUNK_FILES, _CHUNK_BYTES // width))
    while first < end:
        chunk = first // step
        stop = min((chunk + 1) * step, end)
        missing = None
        if chunk % 4 == 3 and columns > _PROOF_PLACE + 1:
            missing = _PROOF_PLACE + 1 + chunk // 4 % (columns - _PROOF_PLACE - 1)
        yield entries.encode(np.arange(first, stop, dtype=np.int64), missing)
        first = stop


def _make_iceberg_line(line: Mapping[str, Any], written: Written, place: str) -> dict[str, Any]:
    numbers = written.numbers
    days = values.write_days(values.tell_days(numbers[[0, -1]]))
    (summary,) = line["partitions"]
    bounds = {"lower_bound": days[0].tobytes(), "upper_bound": days[1].tobytes(), "contains_null": False}
    made = {
        **line,
        "manifest_path": f"{place}/{written.path.name}",
        "manifest_length": written.size,
        "partitions": [{**summary, **bounds}],
    }
    for key in made:
        if key.endswith("_files_count"):
            made[key] = written.count if key.startswith("added") else 0
        elif key.endswith("_rows_count"):
            made[key] = int(values.count_rows(numbers).sum()) if key.startswith("added") else 0
    return made


def _make_paimon_line(
    line: Mapping[str, Any], written: Written, schema_id: int, partitions: tuple[bytes, bytes]
) -> dict[str, Any]:
    nulls = [0] * len(line["_PARTITION_STATS"]["_NULL_COUNTS"])
    stats = {"_MIN_VALUES": partitions[0], "_MAX_VALUES": partitions[1], "_NULL_COUNTS": nulls}
    return {
        **line,
        "_FILE_NAME": written.path.name,
        "_FILE_SIZE": written.size,
        "_NUM_ADDED_FILES": written.count,
        "_NUM_DELETED_FILES": 0,
        "_PARTITION_STATS": stats,
        "_SCHEMA_ID": schema_id,
    }
