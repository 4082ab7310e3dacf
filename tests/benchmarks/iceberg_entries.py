"""Entries of Iceberg manifests with typed statistics, many at a time, after the pattern of one that an engine wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.benchmarks import values
from tests.benchmarks.octets import (
    Part,
    encode_big,
    encode_little,
    encode_long,
    encode_longs,
    encode_record,
    join_parts,
    prefix_length,
)
from tests.benchmarks.values import DAY_TEXT, KINDS, Kind, Longs, Octets

Columns = Sequence[tuple[int, Kind]]
_SOME = encode_long(1)  # the branch of a nullable field that is not null


def add_columns(document: dict[str, Any], columns: int) -> list[tuple[int, Kind]]:
    """Give the newest schema columns of every kind until it has `columns`; ids and kinds of all that get statistics."""
    schema = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
    known: dict[str, Kind] = {kind.iceberg: kind for kind in reversed(KINDS)} | {"string": DAY_TEXT}
    found = [(field["id"], known[field["type"]]) for field in schema["fields"]]
    for number in range(columns - len(found)):
        kind, next_id = KINDS[number % len(KINDS)], document["last-column-id"] + 1
        schema["fields"].append(
            {"id": next_id, "name": f"{kind.name}_{next_id}", "required": False, "type": kind.iceberg}
        )
        document["last-column-id"] = next_id
        found.append((next_id, kind))
    if document.get("schema"):
        document["schema"] = schema
    return found


class IcebergEntries:
    """Encodes the entries of files by their numbers. The table is partitioned by one text, which is a day."""

    def __init__(self, schema: dict[str, Any], origin: Mapping[str, Any], columns: Columns) -> None:
        self._fields = {field["name"]: field["type"] for field in schema["fields"]}
        self._file_fields = {field["name"]: field["type"] for field in self._fields["data_file"]["fields"]}
        self._origin = origin
        self._columns = columns
        path = origin["data_file"]["file_path"].split("/data/")[0]
        key = self._file_fields["partition"]["fields"][0]["name"]
        self._folder = f"{path}/data/{key.replace('_x20', ' ')}=".encode()

    def encode(self, numbers: Longs, missing: int | None = None) -> Octets:
        """The entries of these files, a row each; the column of the place `missing` has no bounds."""
        columns = [c for place, c in enumerate(self._columns) if place != missing]
        parts: list[Part] = []
        for name, kind in self._fields.items():
            if name == "data_file":
                for field, of_field in self._file_fields.items():
                    parts += self._encode_file_field(field, of_field, numbers, columns)
            else:
                value = {"status": 1, "sequence_number": None, "file_sequence_number": None}
                parts.append(encode_record(kind, value.get(name, self._origin.get(name))))
        return join_parts(parts, len(numbers))

    def _encode_file_field(self, name: str, kind: Any, numbers: Longs, bounded: Columns) -> list[Part]:
        if name == "file_path":
            return prefix_length(self._write_paths(numbers))
        if name == "partition":
            return [_SOME, *prefix_length(values.write_days(values.tell_days(numbers)))]
        if name == "record_count":
            return [encode_longs(values.count_rows(numbers))]
        if name == "file_size_in_bytes":
            return [encode_longs(values.measure_files(numbers))]
        if name in ("lower_bounds", "upper_bounds"):
            return _encode_bounds(numbers, bounded, upper=name == "upper_bounds")
        if name in _COUNTS:
            ids = [one for one in self._columns if name != "nan_value_counts" or one[1].form == "real"]
            return _encode_map(ids, [_COUNTS[name](numbers, place) for place, _ in ids])
        return [encode_record(kind, self._origin["data_file"].get(name))]

    def _write_paths(self, numbers: Longs) -> Octets:
        days = values.write_days(values.tell_days(numbers))
        task = values.write_digits(numbers % values.FILES_OF_A_COMMIT, 5)
        counter = values.write_digits(numbers // values.FILES_OF_A_COMMIT, 6)
        parts: list[Part] = [
            self._folder,
            days,
            b"/",
            task,
            b"-",
            counter,
            b"-",
            values.write_uuids(numbers, 1),
        ]
        return values.write_text([*parts, b"-0-00001.parquet"], len(numbers))


def _encode_map(ids: Columns, arrays: Sequence[Longs]) -> list[Part]:
    if not ids:
        return [encode_long(0)]
    parts: list[Part] = [_SOME, encode_long(len(ids))]
    for (column, _), array in zip(ids, arrays, strict=True):
        parts += [encode_long(column), encode_longs(array)]
    return [*parts, encode_long(0)]


def _encode_bounds(numbers: Longs, columns: Columns, *, upper: bool) -> list[Part]:
    parts: list[Part] = [_SOME, encode_long(len(columns))]
    for column, kind in columns:
        array = kind.bounds(numbers, column)[upper]
        parts += [encode_long(column), *prefix_length(_encode_bound(kind, array))]
    return [*parts, encode_long(0)]


def _encode_bound(kind: Kind, array: Any) -> Octets:
    if kind.form == "text":
        return np.asarray(array, np.uint8)
    if kind.form == "decimal":
        return encode_big(array)
    return encode_little(array, kind.width, kind.form == "real")


_COUNTS: dict[str, Callable[[Longs, int], Longs]] = {
    "column_sizes": values.measure_columns,
    "value_counts": lambda numbers, _: values.count_rows(numbers),
    "null_value_counts": values.count_nulls,
    "nan_value_counts": lambda numbers, _: np.zeros_like(numbers),
}
