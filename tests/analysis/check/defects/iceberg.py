"""For each rule of Iceberg's book: an engine-written table, and what the defective writer would have left in it."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakelens as ll
from tests.support import footers
from tests.support.rewriting import (
    Record,
    find_document,
    rewrite_document,
    rewrite_lists,
    rewrite_manifest,
)

Plant = Callable[[Path], None]
HOUR = 3_600_000_000


def list_manifests(place: Path) -> list[Path]:
    return [Path(manifest.path) for manifest in ll.open(place).current.manifests]  # type: ignore[union-attr]


def change_files(place: Path, change: Callable[[Record], Any]) -> None:
    """Changes the `data_file` of every entry of the current manifests."""
    for path in list_manifests(place):
        rewrite_manifest(place, path, lambda entries: [change(entry["data_file"]) for entry in entries])


def change_snapshots(place: Path, change: Callable[[list[Record]], Any]) -> None:
    rewrite_document(find_document(place), lambda document: change(document["snapshots"]))


def plant_split_offsets(place: Path) -> None:
    change_files(place, lambda file: file.update(split_offsets=[4, 10**9]))


def plant_file_sizes(place: Path) -> None:
    change_files(place, lambda file: file.update(file_size_in_bytes=file["file_size_in_bytes"] + 1000))


def plant_insert_figures(place: Path) -> None:
    def sum_up(entries: list[Record]) -> None:
        files = [entry["data_file"] for entry in entries]
        size, rows = (sum(file[key] for file in files) for key in ("file_size_in_bytes", "record_count"))
        for file in files:
            file.update(file_size_in_bytes=size, record_count=rows)

    for path in list_manifests(place):
        rewrite_manifest(place, path, sum_up)


def plant_totals_of_commit(place: Path) -> None:
    def restart(snapshots: list[Record]) -> None:
        summary = snapshots[-1]["summary"]
        for noun in ("records", "data-files", "files-size"):
            added = "added-files-size" if noun == "files-size" else f"added-{noun}"
            summary[f"total-{noun}"] = summary[added]

    change_snapshots(place, restart)


def plant_totals_of_nothing(place: Path) -> None:
    def empty(snapshots: list[Record]) -> None:
        summary = snapshots[-1]["summary"]
        for key in [key for key in summary if key.startswith("added-")]:
            del summary[key]
        summary |= {key: "0" for key in summary if key.startswith("total-")}

    change_snapshots(place, empty)


def plant_ranges_without_bounds(place: Path) -> None:
    def blank(line: Record) -> None:
        line["partitions"][0] |= {"contains_null": False, "lower_bound": None, "upper_bound": None}

    rewrite_lists(place, blank)


def plant_wide_ranges(place: Path) -> None:
    """The range of a timestamp, eight bytes, where the day has four."""

    def widen(line: Record) -> None:
        micros = (1_700_000_000 * 10**6).to_bytes(8, "little", signed=True)
        line["partitions"][5] |= {"lower_bound": micros, "upper_bound": micros}

    rewrite_lists(place, widen)


def plant_other_ranges(place: Path) -> None:
    """The range of another int column: no file's value is in it."""
    seven = (99_999).to_bytes(4, "little")
    rewrite_lists(place, lambda line: line["partitions"][1].update(lower_bound=seven, upper_bound=seven))


def plant_ranges_with_nan(place: Path) -> None:
    nan = struct.pack("<f", float("nan"))
    rewrite_lists(place, lambda line: line["partitions"][3].update(upper_bound=nan))


def find_id(place: Path, name: str) -> int:
    return next(field.id for _, field in ll.open(place).schema.walk() if field.name == name)


def set_bound(file: Record, column: int, data: bytes) -> None:
    for side in ("lower_bounds", "upper_bounds"):
        for pair in file[side] or ():
            if pair["key"] == column:
                pair["value"] = data


def plant_nan_bounds(place: Path) -> None:
    column = find_id(place, "f")
    change_files(place, lambda file: set_bound(file, column, struct.pack("<f", float("nan"))))


def plant_cut_bounds(place: Path) -> None:
    column = find_id(place, "name")
    change_files(place, lambda file: set_bound(file, column, b'{"name":"John O\xe2'))


def find_time(file: Record, column: int) -> int | None:
    pairs = [pair["value"] for pair in file["lower_bounds"] or () if pair["key"] == column]
    return int.from_bytes(pairs[0], "little", signed=True) if pairs else None


def plant_epoch_partitions(place: Path) -> None:
    """Hours rounded towards 1970: 1969-12-31 23:59 is in hour 0, not in -1."""
    column = find_id(place, "th")

    def round_up(file: Record) -> None:
        micros = find_time(file, column)
        if micros is not None and micros < 0 and micros % HOUR:
            file["partition"]["th_hour"] += 1

    change_files(place, round_up)


def plant_hour_overflow(place: Path) -> None:
    """The year 250,000: its hour is above 2^31."""
    column, hour = find_id(place, "th"), 2_174_187_000

    def overflow(file: Record) -> None:
        if find_time(file, column) is not None:
            set_bound(file, column, (hour * HOUR).to_bytes(8, "little", signed=True))
            file["partition"]["th_hour"] = hour - 2**32

    change_files(place, overflow)


def plant_local_time(place: Path) -> None:
    """Days of a server five and a half hours east: 20:00 is in the next one."""
    column, day = find_id(place, "td"), 19_800

    def move(file: Record) -> None:
        if find_time(file, column) is not None:
            set_bound(file, column, ((day * 24 + 20) * HOUR).to_bytes(8, "little", signed=True))
            file["partition"]["td_day"] = day + 1

    change_files(place, move)


def plant_clamped_time(place: Path) -> None:
    """Times before 1970 in day 0."""
    column = find_id(place, "td")

    def clamp(file: Record) -> None:
        if (find_time(file, column) or 0) < -48 * HOUR:
            file["partition"]["td_day"] = 0

    change_files(place, clamp)


def plant_unknown_spec(place: Path) -> None:
    """The entries of a partitioned manifest under a spec that has no fields."""
    path = list_manifests(place)[0]
    rewrite_document(
        find_document(place),
        lambda document: document["partition-specs"].append({"spec-id": 9, "fields": []}),
    )
    rewrite_manifest(place, path, lambda entries: None, {"partition-spec-id": "9", "partition-spec": "[]"})

    def name_other(line: Record) -> None:
        if line["manifest_path"].endswith(path.name):
            line |= {"partition_spec_id": 9, "partitions": []}

    rewrite_lists(place, name_other)


def plant_dropped_source(place: Path) -> None:
    def drop(document: Any) -> None:
        schema = next(s for s in document["schemas"] if s["schema-id"] == document["current-schema-id"])
        schema["fields"] = [field for field in schema["fields"] if field["name"] != "part"]

    rewrite_document(find_document(place), drop)


def plant_two_vectors(place: Path) -> None:
    for path in list_manifests(place):

        def repeat(entries: list[Record]) -> None:
            for entry in list(entries):
                if entry["data_file"]["content"] == 1 and entry["status"] != 2:
                    again = json.loads(json.dumps(entry["data_file"]["referenced_data_file"]))
                    file = {**entry["data_file"], "content_offset": 400, "referenced_data_file": again}
                    entries.append({**entry, "data_file": file})

        rewrite_manifest(place, path, repeat)


def plant_list_of_attempt(place: Path) -> None:
    path = Path(str(ll.open(place).snapshots[-1].path))
    path.rename(path.with_name(path.name.replace("-1-", "-2-", 1)))


def plant_checkpoint_twice(place: Path) -> None:
    def name(snapshots: list[Record]) -> None:
        for snapshot in [one for one in snapshots if one["summary"]["operation"] == "append"][-2:]:
            snapshot["summary"] |= {
                "flink.job-id": "ba65ea243c487f4f0fd52c158e4ed985",
                "flink.operator-id": "9135501d46e54bf84710f477c1eb5f38",
                "flink.max-committed-checkpoint-id": "19516",
            }

    change_snapshots(place, name)


def rewrite_data(place: Path, change: Callable[[Any], Any], rows: pa.Table | None = None) -> None:
    """Another footer, perhaps other rows, in the first data file; its length is recorded."""
    table = ll.open(place)
    file = next(file for file in table.files if file.content == "data")
    path = Path(file.path)
    if rows is not None:
        pq.write_table(rows, path, row_group_size=2)
    size = footers.rewrite_footer(path, change)

    def note(found: Record) -> None:
        if found["file_path"].endswith(path.name):
            found["file_size_in_bytes"] = size

    change_files(place, note)


def with_ids(**columns: Any) -> pa.Table:
    """Rows with Iceberg's field ids, from 1."""
    fields = [
        pa.field(name, array.type, metadata={"PARQUET:field_id": str(number)})
        for number, (name, array) in enumerate(columns.items(), 1)
    ]
    return pa.table(list(columns.values()), schema=pa.schema(fields))


TEXTS = with_ids(id=pa.array([1, 2, 3, 4]), name=pa.array(["a", None, "c", "d"]))


def plant_null_counts(place: Path) -> None:
    """Two row groups, one null in the first, and the second does not say: 1 and -1 make 0."""

    def forget(footer: Any) -> None:
        del footers.list_statistics(footer, 1)[1][footers.NULLS]

    rewrite_data(place, forget, TEXTS)
    column = find_id(place, "name")

    def count(file: Record) -> None:
        for pair in file["null_value_counts"]:
            if pair["key"] == column:
                pair["value"] = 0

    change_files(place, count)


def plant_binary_statistics(place: Path) -> None:
    def mirror(footer: Any) -> None:
        footers.sign(footer, "parquet-mr version 1.6.0 (build abc)")
        found = footers.list_statistics(footer, 1)
        for one in found:
            one.clear()
            one |= {footers.MAX: [footers.BINARY, b"d"], footers.MIN: [footers.BINARY, b"c"]}

    rewrite_data(place, mirror, TEXTS)


def plant_signed_statistics(place: Path) -> None:
    def sort_signed(footer: Any) -> None:
        footers.sign(footer, "parquet-mr version 1.8.1 (build abc)")
        for one in footers.list_statistics(footer, 1):
            one.clear()
            one |= {footers.MAX: [footers.BINARY, b"z"], footers.MIN: [footers.BINARY, "é".encode()]}

    rewrite_data(place, sort_signed, TEXTS)


def plant_int96_statistics(place: Path) -> None:
    from datetime import datetime

    moments = pa.array([datetime(2024, 1, number) for number in (1, 2, 3, 4)], pa.timestamp("us"))
    table = ll.open(place)
    path = Path(next(file for file in table.files if file.content == "data").path)
    pq.write_table(with_ids(id=moments), path, use_deprecated_int96_timestamps=True)

    def compare_bytes(footer: Any) -> None:
        for one in footers.list_statistics(footer, 0):
            one |= {footers.MAX: [footers.BINARY, b"\xff" * 12], footers.MIN: [footers.BINARY, b"\x01" * 12]}

    rewrite_data(place, compare_bytes)


def plant_reversed_bounds(place: Path) -> None:
    from decimal import Decimal

    prices = pa.array(
        [Decimal("-1.00"), Decimal("2.00"), Decimal("3.00"), Decimal("4.00")], pa.decimal128(30, 2)
    )

    def reverse(footer: Any) -> None:
        footers.sign(footer, "ClickHouse v25.5.1")
        one = footers.list_statistics(footer, 0)[0]
        one[footers.MIN_VALUE], one[footers.MAX_VALUE] = one[footers.MAX_VALUE], one[footers.MIN_VALUE]

    rewrite_data(place, reverse, with_ids(price=prices))


def leave(place: Path) -> None:
    """The engine's own table shows it."""


#: code of the rule, the table, what is planted, and a table of the same writer that does not show it
PLANTED: list[tuple[str, str, Plant, str]] = [
    ("split-offsets-past-end", "v2-basic", plant_split_offsets, "v2-basic"),
    ("file-size-too-large", "v2-basic", plant_file_sizes, "v2-basic"),
    ("figures-of-insert", "v2-partition-identity", plant_insert_figures, "v2-partition-identity"),
    ("totals-of-commit", "v2-basic", plant_totals_of_commit, "v2-basic"),
    ("totals-of-nothing", "v2-basic", plant_totals_of_nothing, "v2-basic"),
    ("range-without-bounds", "v2-partition-bucket", plant_ranges_without_bounds, "v2-partition-bucket"),
    ("range-of-source", "v2-partition-time", plant_wide_ranges, "v2-partition-time"),
    ("range-of-source", "v2-partition-identity", plant_other_ranges, "v2-partition-identity"),
    ("range-with-nan", "v2-partition-identity", plant_ranges_with_nan, "v2-partition-identity"),
    ("nan-bounds", "v2-types", plant_nan_bounds, "v2-types"),
    ("bounds-cut-in-character", "v2-basic", plant_cut_bounds, "v2-basic"),
    ("null-count-of-unknown", "v2-basic", plant_null_counts, "v2-basic"),
    ("epoch-partitions", "v2-partition-time", plant_epoch_partitions, "v2-partition-time"),
    ("hour-overflow", "v2-partition-time", plant_hour_overflow, "v2-partition-time"),
    ("local-time-partitions", "v2-partition-time", plant_local_time, "v2-partition-time"),
    ("local-time-partitions", "v2-partition-time", plant_clamped_time, "v2-partition-time"),
    ("partition-of-unknown-spec", "v2-partition-identity", plant_unknown_spec, "v2-partition-evolution"),
    ("dropped-partition-source", "v2-partition-evolution", plant_dropped_source, "v2-partition-evolution"),
    ("dangling-deletes", "v2-rewrite-data-files", leave, "v2-merge-on-read"),
    ("two-deletion-vectors", "v3-deletion-vectors", plant_two_vectors, "v3-deletion-vectors"),
    ("manifest-list-of-attempt", "v2-basic", plant_list_of_attempt, "v2-basic"),
    ("checkpoint-committed-twice", "v2-basic", plant_checkpoint_twice, "v2-basic"),
    ("binary-statistics", "v2-basic", plant_binary_statistics, "v2-basic"),
    ("signed-statistics", "v2-basic", plant_signed_statistics, "v2-basic"),
    ("int96-statistics", "v2-basic", plant_int96_statistics, "v2-basic"),
    ("reversed-bounds", "v2-basic", plant_reversed_bounds, "v2-basic"),
]


def copy(name: str, place: Path) -> Path:
    from tests.support import LAKES

    shutil.copytree(LAKES / "spark/iceberg" / name / "table", place)
    return place
