"""Entries of Paimon manifests with typed statistics, many at a time, after the pattern of one that an engine wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.benchmarks import values
from tests.benchmarks.octets import (
    Part,
    encode_little,
    encode_long,
    encode_longs,
    encode_record,
    join_parts,
    prefix_length,
)
from tests.benchmarks.values import DAY_TEXT, HOUR, KINDS, Kind, Longs, Octets

_SOME = encode_long(1)
_SHORT = 7  # bytes that fit into a slot of a BinaryRow


def add_columns(document: dict[str, Any], columns: int) -> list[Kind]:
    """A schema document with columns of every kind until it has `columns`; the kinds of all, in order."""
    known: dict[str, Kind] = {kind.paimon: kind for kind in reversed(KINDS)}
    keys = list_partition_kinds(document)
    found = [keys.get(field["name"]) or known[field["type"]] for field in document["fields"]]
    for number in range(columns - len(found)):
        kind, next_id = KINDS[number % len(KINDS)], document["highestFieldId"] + 1
        document["fields"].append({"id": next_id, "name": f"{kind.name}_{next_id}", "type": kind.paimon})
        document["highestFieldId"] = next_id
        found.append(kind)
    return found


def list_partition_kinds(document: dict[str, Any]) -> dict[str, Kind]:
    """Partition keys and what stands in them: a text is a day, a number an hour."""
    types = {field["name"]: field["type"] for field in document["fields"]}
    kinds = {"STRING": DAY_TEXT, "INT": HOUR}
    return {name: kinds[types[name].removesuffix(" NOT NULL")] for name in document["partitionKeys"]}


def encode_rows(kinds: Sequence[Kind], arrays: Sequence[Any], missing: int | None = None) -> Octets:
    """BinaryRows with their arity in front, one per file: `arrays` by field, null in the field `missing`."""
    rows, arity = len(arrays[0]), len(kinds)
    null_bits = (arity + 63 + 8) // 64 * 8
    fixed = null_bits + 8 * arity
    head = np.zeros((rows, 4 + fixed), np.uint8)
    head[:, :4] = np.frombuffer(arity.to_bytes(4, "big"), np.uint8)
    further: list[Part] = []
    offset = fixed
    for place, (kind, array) in enumerate(zip(kinds, arrays, strict=True)):
        slot = head[:, 4 + null_bits + 8 * place : 4 + null_bits + 8 * place + 8]
        is_null = place == missing
        if is_null:
            head[:, 4 + (place + 8) // 8] |= 1 << (place + 8) % 8
        if kind.form == "time":  # a null keeps its place in the variable part
            slot[:, 4:] = np.frombuffer(offset.to_bytes(4, "little"), np.uint8)
            if not is_null:
                slot[:, :4] = encode_little(array % 1_000 * 1_000, 4)
            millis = encode_little(array // 1_000, 8)
            further.append(np.zeros_like(millis) if is_null else millis)
            offset += 8
        elif is_null:
            continue
        elif kind.form == "text" and array.shape[1] <= _SHORT:
            slot[:, : array.shape[1]] = array
            slot[:, 7] = 0x80 | array.shape[1]
        elif kind.form == "text":
            length = array.shape[1]
            slot[:] = np.frombuffer((offset << 32 | length).to_bytes(8, "little"), np.uint8)
            further += [array, bytes(-length % 8)]
            offset += length + -length % 8
        else:
            slot[:, : kind.width] = encode_little(array, kind.width, kind.form == "real")
    return join_parts([head, *further], rows)


class PaimonEntries:
    """Encodes the entries of files by their numbers. The table is partitioned by a day, and perhaps by an hour."""

    def __init__(
        self,
        schema: dict[str, Any],
        origin: Mapping[str, Any],
        kinds: Sequence[Kind],
        keys: Sequence[Kind],
        schema_id: int,
    ) -> None:
        self._fields = {field["name"]: field["type"] for field in schema["fields"]}
        self._file_fields = {field["name"]: field["type"] for field in self._fields["_FILE"]["fields"]}
        self._origin = {**origin, "_KIND": 0, "_FILE": {**origin["_FILE"], "_SCHEMA_ID": schema_id}}
        self._kinds = kinds
        self._keys = keys

    def encode(self, numbers: Longs, missing: int | None = None) -> Octets:
        """The entries of these files, a row each; the column of the place `missing` has no bounds."""
        parts: list[Part] = []
        for name, kind in self._fields.items():
            if name == "_FILE":
                for field, of_field in self._file_fields.items():
                    parts += self._encode_file_field(field, of_field, numbers, missing)
            elif name == "_PARTITION":
                parts += prefix_length(encode_partitions(self._keys, numbers))
            else:
                parts.append(encode_record(kind, self._origin[name]))
        return join_parts(parts, len(numbers))

    def _encode_file_field(self, name: str, kind: Any, numbers: Longs, missing: int | None) -> list[Part]:
        if name == "_FILE_NAME":
            counter = values.write_digits(numbers % values.FILES_OF_A_COMMIT, 3)
            commit = values.write_digits(numbers // values.FILES_OF_A_COMMIT, 6)
            names: list[Part] = [b"data-", values.write_uuids(numbers, 2), b"-", commit, counter, b".parquet"]
            return prefix_length(values.write_text(names, len(numbers)))
        if name == "_FILE_SIZE":
            return [encode_longs(values.measure_files(numbers))]
        if name == "_ROW_COUNT":
            return [encode_longs(values.count_rows(numbers))]
        if name == "_MAX_SEQUENCE_NUMBER":
            return [encode_longs(values.count_rows(numbers) - 1)]
        if name == "_VALUE_STATS":
            return self._encode_stats(numbers, missing)
        return [encode_record(kind, self._origin["_FILE"].get(name))]

    def _encode_stats(self, numbers: Longs, missing: int | None) -> list[Part]:
        bounds = [kind.bounds(numbers, place) for place, kind in enumerate(self._kinds)]
        parts: list[Part] = []
        for side in (0, 1):
            parts += prefix_length(encode_rows(self._kinds, [pair[side] for pair in bounds], missing))
        parts += [_SOME, encode_long(len(self._kinds))]
        for place in range(len(self._kinds)):
            parts += [_SOME, encode_longs(values.count_nulls(numbers, place))]
        return [*parts, encode_long(0)]


def encode_partitions(keys: Sequence[Kind], numbers: Longs) -> Octets:
    """The BinaryRows of the partitions of files."""
    return encode_rows(keys, [kind.bounds(numbers, 0)[0] for kind in keys])


def bound_partitions(keys: Sequence[Kind], numbers: Longs) -> tuple[bytes, bytes]:
    """The BinaryRows of the least and the greatest value of every partition key; days come in order."""
    columns = [kind.bounds(numbers, 0)[0] for kind in keys]
    ends = [
        column[[0, -1]] if kind.form == "text" else np.sort(column)[[0, -1]]
        for kind, column in zip(keys, columns, strict=True)
    ]
    rows = encode_rows(keys, ends)
    return rows[0].tobytes(), rows[1].tobytes()
