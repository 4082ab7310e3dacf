"""Row groups of files that Spark's parquet-mr writes: its bloom filters, dictionaries and statistics."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import lakelens as ll
from lakelens.model.scan.ranges import judge
from lakelens.model.stats import Term

ROWS = 20_000
COLUMNS = {
    "l": "id * 7",
    "i": "cast(id * 7 as int)",
    "s": "concat('name-', id * 7)",
    "f": "cast(id * 7 as float)",
    "d": "id * 7 + 0.5D",
    "da": "date_add(date'1970-01-01', cast(id * 7 % 20000 as int))",
    "ts": "timestamp_micros(id * 7000)",
    "tn": "cast(timestamp_micros(id * 7000) as timestamp_ntz)",
    "dec9": "cast(id * 7 as decimal(9, 2))",
    "dec18": "cast(id * 7 as decimal(18, 2))",
    "dec38": "cast(id * 7 as decimal(38, 2))",
    "bin": "cast(concat('name-', id * 7) as binary)",
}


@pytest.fixture(scope="module")
def hashed(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with a bloom filter over every column and without dictionaries, in several row groups."""
    path = tmp_path_factory.mktemp("row-groups") / "hashed"
    writer = spark.range(ROWS).selectExpr(*(f"{text} AS {name}" for name, text in COLUMNS.items()))
    options = {"parquet.enable.dictionary": "false", "parquet.block.size": 300_000}
    options |= {"parquet.page.size.row.check.min": 10, "parquet.block.size.row.check.max": 500}
    for name in COLUMNS:
        options |= {f"parquet.bloom.filter.enabled#{name}": "true"}
        options |= {f"parquet.bloom.filter.expected.ndv#{name}": 5000}
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    try:
        writer.coalesce(1).write.options(**options).parquet(str(path))
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    return path


@pytest.mark.spark
@pytest.mark.exhaustive
def test_bloom_filters_of_parquet_mr(hashed: Path) -> None:
    table = ll.open(str(hashed))
    (file,) = table.current.files
    groups = file.row_groups
    assert groups is not None and groups.count > 1
    stored = pq.ParquetFile(file.path)
    assert list(groups.record_counts) == [stored.metadata.row_group(i).num_rows for i in range(groups.count)]
    for name in COLUMNS:
        kind = table.schema.field(name).type
        columns = [stored.read_row_group(i, columns=[name])[name].to_pylist() for i in range(groups.count)]
        passed = asked = 0
        for number, values in enumerate(columns):
            for value in values[:: len(values) // 40]:
                term = Term("", name, kind, "=", (value,))
                masks = dict(groups.exclude(term))
                held = [value in set(column) for column in columns]
                assert held[number] and not any(a and b for a, b in zip(masks["bloom"], held, strict=True))
                passed += sum(not a for a, b in zip(masks["bloom"], held, strict=True) if not b)
                asked += held.count(False)
                ranges = groups.ranges(name)
                assert ranges is not None and not judge(term, ranges).none[number]
        # `fpp` is 0.01; dates come again and again
        assert passed < max(3, asked / 20), name
    assert not list(table.findings)


@pytest.mark.spark
def test_statistics_and_dictionaries_of_parquet_mr(spark: Any, tmp_path: Path) -> None:
    """A column with a dictionary in every row group, and one whose dictionary became too large."""
    many = "if(id < 4000, concat('name-', id % 9 * 7), concat('name-', id * 7))"
    frame = spark.range(ROWS).selectExpr("concat('v', id % 50 * 2) AS few", f"{many} AS many")
    options = {"parquet.dictionary.page.size": 20_000, "parquet.page.row.count.limit": 1000}
    frame.coalesce(1).write.options(**options).parquet(str(tmp_path / "t"))
    table = ll.open(str(tmp_path / "t"))
    (file,) = table.current.files
    groups = file.row_groups
    assert groups is not None
    text = table.schema.field("few").type
    assert all(dict(groups.exclude(Term("", "few", text, "=", ("v33",))))["dictionary"])
    assert not any(dict(groups.exclude(Term("", "few", text, "=", ("v34",))))["dictionary"])
    encodings = pq.ParquetFile(file.path).metadata.row_group(0).column(1).encodings
    assert "PLAIN" in encodings and any("DICTIONARY" in one for one in encodings)
    assert not dict(groups.exclude(Term("", "many", text, "=", ("name-8",))))["dictionary"][0]
    assert not list(table.findings)


@pytest.mark.spark
def test_bloom_filters_of_orc(spark: Any, tmp_path: Path) -> None:
    """Of Java's writer, whose hashes are those of the specification."""
    names = ("l", "i", "s", "f", "d", "da", "bin")
    frame = spark.range(ROWS).selectExpr(
        *(
            f"{COLUMNS[name]} - 70000 AS {name}" if name in "lifd" else f"{COLUMNS[name]} AS {name}"
            for name in names
        )
    )
    options = {
        "orc.bloom.filter.columns": ",".join(names),
        "orc.bloom.filter.fpp": "0.01",
        "orc.stripe.size": 100_000,
    }
    frame.coalesce(1).write.options(**options).orc(str(tmp_path / "t"))
    table = ll.open(str(tmp_path / "t"))
    (file,) = table.current.files
    groups = file.row_groups
    assert groups is not None and groups.noun == "stripe"
    rows = orc.ORCFile(file.path).read()
    for name in names:
        kind = table.schema.field(name).type
        values = rows[name].to_pylist()
        held = set(values)
        for value in values[::499]:
            (found,) = groups.exclude(Term("", name, kind, "=", (value,)))
            assert found[0] == "bloom" and not all(found[1]), name
        absent = [value for value in map(move, values[::499]) if value not in held]
        masks = [dict(groups.exclude(Term("", name, kind, "=", (value,))))["bloom"] for value in absent]
        assert sum(all(mask) for mask in masks) >= 0.8 * len(masks), name
    assert not list(table.findings)


def move(value: Any) -> Any:
    """A value that is not there."""
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, bytes):
        return value + b"x"
    return value + (timedelta(3) if isinstance(value, date) else 2)
