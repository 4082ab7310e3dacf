"""Damage to the files of Iceberg: data, deletes, deletion vectors, and rows that are not what their entries record."""

from __future__ import annotations

from copy import deepcopy
from io import BytesIO

import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.analysis.check.damage.kinds import kind
from tests.support.damage import Iceberg, Records


@kind("spark/iceberg/v2-basic", "corrupt", ".parquet", "cut")
def data_cut(lake: Iceberg) -> None:
    """A data file is cut in half."""
    lake.cut(lake.find("data/**/*.parquet"))


@kind("spark/iceberg/v2-basic", "corrupt", ".parquet", "")
def data_garbled(lake: Iceberg) -> None:
    """The footer of a data file is garbled, its length as recorded."""
    path = lake.find("data/**/*.parquet")
    data = bytearray(path.read_bytes())
    data[-60:-8] = b"\xff" * 52
    path.write_bytes(bytes(data))


@kind("spark/iceberg/v3-partition-identity", "file-missing", ".parquet", "it is not there")
def data_missing(lake: Iceberg) -> None:
    """A data file is gone."""
    lake.find("data/**/*.parquet").unlink()


@kind("spark/iceberg/v2-copy-on-write", "file-length", ".parquet", "recorded with")
def data_swapped(lake: Iceberg) -> None:
    """Two data files have changed places: each is there, neither is as long as recorded or has its rows."""
    paths = sorted(lake.root.glob("data/**/*.parquet"), key=lambda path: path.stat().st_size)
    least, most = paths[0], paths[-1]
    content = least.read_bytes()
    least.write_bytes(most.read_bytes())
    most.write_bytes(content)


@kind("spark/iceberg/v2-equality-deletes", "equality-ids", ".avro", "equality_ids")
def equality_ids(lake: Iceberg) -> None:
    """An equality delete does not say which columns it compares."""

    def edit(entries: Records) -> None:
        for entry in entries:
            entry["data_file"]["equality_ids"] = None

    lake.edit_manifest(lake.manifest_path(content=1), edit)


@kind("spark/iceberg/v2-basic", "lower-bound", ".parquet", "lower bound of id", data=True)
def rows_lower_bound(lake: Iceberg) -> None:
    """An entry's lower bound of a column is above a value: readers skip the file although it has rows for them."""

    def edit(entries: Records) -> None:
        for entry in entries:
            for bound in entry["data_file"]["lower_bounds"]:
                if bound["key"] == 1:
                    bound["value"] = (1_000_000).to_bytes(len(bound["value"]), "little")

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v2-basic", "null-count", ".parquet", "nulls of", data=True)
def rows_null_count(lake: Iceberg) -> None:
    """An entry counts nulls in a column that has none: readers that look for nulls find other rows."""

    def edit(entries: Records) -> None:
        for entry in entries:
            for count in entry["data_file"]["null_value_counts"]:
                count["value"] += 1

    lake.edit_manifest(lake.manifest_path(), edit)


@kind(
    "spark/iceberg/v2-position-deletes-by-partition",
    "row-order",
    ".parquet",
    "position deletes are sorted",
    data=True,
    severity="warning",
)
def rows_order(lake: Iceberg) -> None:
    """Position deletes are not sorted: readers that merge them with the rows miss some."""
    sizes: dict[str, int] = {}
    for path in lake.root.glob("data/**/*-deletes.parquet"):
        rows = pq.read_table(path)
        target = BytesIO()
        order = pc.sort_indices(rows, sort_keys=[("file_path", "descending"), ("pos", "descending")])
        pq.write_table(rows.take(order), target)
        path.write_bytes(target.getvalue())
        sizes[path.name] = path.stat().st_size

    def edit(entries: Records) -> None:
        for entry in entries:
            name = entry["data_file"]["file_path"].rpartition("/")[2]
            entry["data_file"]["file_size_in_bytes"] = sizes[name]

    for number in range(sum(line["content"] == 1 for line in lake.lines())):
        lake.edit_manifest(lake.manifest_path(number, content=1), edit)


@kind("spark/iceberg/v2-partition-bucket", "partition-value", ".parquet", "bucket[", data=True)
def rows_partition(lake: Iceberg) -> None:
    """A file is recorded in a partition that its rows are not in: readers of that partition get them."""

    def edit(entries: Records) -> None:
        for entry in entries:
            partition = entry["data_file"]["partition"]
            for name, value in partition.items():
                if isinstance(value, int):
                    partition[name] = value + 1

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v2-types", "upper-bound", ".parquet", "upper bound", data=True)
def rows_upper_bound(lake: Iceberg) -> None:
    """An entry's upper bound of a text is below a value."""

    def edit(entries: Records) -> None:
        for entry in entries:
            for bound in entry["data_file"]["upper_bounds"]:
                bound["value"] = bytes(len(bound["value"]))

    for number in range(len(lake.lines())):
        lake.edit_manifest(lake.manifest_path(number), edit)


@kind("spark/iceberg/v1-basic", "value-count", ".parquet", "values of", data=True)
def rows_value_count(lake: Iceberg) -> None:
    """An entry counts values that a column does not have."""

    def edit(entries: Records) -> None:
        for entry in entries:
            for count in entry["data_file"]["value_counts"]:
                count["value"] += 1

    lake.edit_manifest(lake.manifest_path(), edit)


@kind("spark/iceberg/v3-deletion-vectors", "vector-cardinality", ".puffin", "deleted rows")
def vector_cardinality(lake: Iceberg) -> None:
    """An entry records more deleted rows than its deletion vector has."""

    def edit(entries: Records) -> None:
        for entry in entries:
            entry["data_file"]["record_count"] += 3

    lake.edit_manifest(lake.manifest_path(content=1), edit)


@kind("spark/iceberg/v3-deletion-vectors", "corrupt", ".puffin", "")
def vector_garbled(lake: Iceberg) -> None:
    """A byte of a deletion vector is turned: its checksum no longer fits."""
    for path in lake.root.glob("data/**/*.puffin"):
        data = bytearray(path.read_bytes())
        data[30] ^= 0xFF
        path.write_bytes(bytes(data))


@kind("spark/iceberg/v3-deletion-vectors", "vector-place", ".puffin", "past the end")
def vector_offset(lake: Iceberg) -> None:
    """An entry's deletion vector begins past the end of its Puffin file."""

    def edit(entries: Records) -> None:
        entries[0]["data_file"]["content_offset"] = 100_000

    lake.edit_manifest(lake.manifest_path(content=1), edit)


@kind("spark/iceberg/v3-deletion-vectors", "two-vectors", ".avro", "second vector")
def vector_twice(lake: Iceberg) -> None:
    """A data file has two deletion vectors in one snapshot."""

    def edit(entries: Records) -> Records:
        live = next(entry for entry in entries if entry["status"] != 2)
        return [*entries, deepcopy(live)]

    lake.edit_manifest(lake.manifest_path(content=1), edit)
