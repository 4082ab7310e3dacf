"""Partitions by column have the texts, directories and values that each of them has by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.paimon.row_columns import arrow_type
from lakelens.codecs.paimon.types import PaimonField, parse_type
from lakelens.formats.access import TableAccess
from lakelens.formats.paimon.metadata.layout import TableLayout
from lakelens.formats.paimon.metadata.partitions import Partitions
from lakelens.formats.paimon.scan.columns import PartitionColumns
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.io.local import LocalStore
from lakelens.io.relocation import Locator
from lakelens.io.tracing import TracingStore
from lakelens.model.bytes_view import Source
from tests.support.binary_row_encoder import encode_row, values

TYPES = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "CHAR(9)", "STRING", "DECIMAL(9, 2)", "DOUBLE")
ODD = ("", " ", "\u00a0", "a/b", "%", "é", "\n", "__DEFAULT_PARTITION__", "2024-01-01", "a b", "x.y")


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> TableAccess:
    root = str(tmp_path_factory.mktemp("table"))
    return TableAccess(TracingStore(LocalStore()), Locator(root))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_partitions_by_column_equal_each_alone(access: TableAccess, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))
    columns = [PaimonField(n, f"k={n}", parse_type(name)) for n, name in enumerate(names)]
    some = st.tuples(*[st.one_of(st.none(), draw_values(c)) for c in columns])
    rows = data.draw(st.lists(some, min_size=1, max_size=6))
    stored = pa.array([encode_row([c.type for c in columns], list(row)) for row in rows], pa.binary())
    options = {"partition.default-name": data.draw(st.sampled_from(["__DEFAULT_PARTITION__", "none"]))}
    partitions = Partitions(columns, options, access, TableLayout("/t"), lambda *_: cast(Source, None))
    part = SimpleNamespace(task=SimpleNamespace(path="manifest"))
    entries = SimpleNamespace(parts=[part], find_parts=lambda: np.zeros(len(rows), np.int64))
    by_column = PartitionColumns(stored, partitions, cast(EntryRows, entries))

    alone = [partitions.decode(one, "manifest") for one in stored.to_pylist()]
    assert by_column.texts.take(by_column.codes).to_pylist() == [str(one) for one in alone]
    folders = [partitions.folder(one, "manifest") for one in stored.to_pylist()]
    assert by_column.find_folders(None).take(by_column.codes).to_pylist() == folders
    for column in columns:
        found = by_column.find_values(column.name, arrow_type(column.type)).take(by_column.codes)
        assert found.equals(pa.array([one[column.name] for one in alone], arrow_type(column.type)))


def draw_values(column: PaimonField) -> st.SearchStrategy[Any]:
    if column.type.name in ("CHAR", "VARCHAR"):
        return st.one_of(st.sampled_from(ODD), values(column.type))
    return values(column.type)
