"""Maps by key against dicts row by row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakelens.codecs.iceberg.value_columns import KeyedLists

KEYS = st.one_of(st.integers(0, 4), st.sampled_from([-1, 1 << 20, 2147483546]))
KINDS = {pa.int64(): st.integers(-(2**63), 2**63 - 1), pa.binary(): st.binary(max_size=9)}


def make_column(rows: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(rows, pa.list_(pa.struct([("key", pa.int32()), ("value", kind)])))


def look_up(rows: list[Any], key: int) -> list[Any]:
    return [None if row is None else dict(row).get(key) for row in rows]


@pytest.mark.parametrize("kind", list(KINDS), ids=str)
@given(data=st.data())
def test_every_key_gives_what_a_dict_of_each_row_gives(kind: pa.DataType, data: st.DataObject) -> None:
    pairs = st.lists(st.tuples(KEYS, st.one_of(st.none(), KINDS[kind])), max_size=5)
    rows = data.draw(st.lists(st.one_of(st.none(), pairs), max_size=8))
    skip = data.draw(st.integers(0, len(rows)))
    lists = KeyedLists(make_column(rows, kind)[skip:])
    rows = rows[skip:]
    assert lists.keys == sorted({key for row in rows for key, _ in row or ()})
    for key in [*lists.keys, 77]:
        assert lists.take(key).to_pylist() == look_up(rows, key)
        assert (key in lists) == (key != 77)
    wanted = [77, *lists.keys]
    assert lists.take_all(wanted).to_pylist() == [one for key in wanted for one in look_up(rows, key)]


@pytest.mark.parametrize("kind", list(KINDS), ids=str)
@given(data=st.data())
def test_the_same_keys_in_every_row_are_read_by_stride(kind: pa.DataType, data: st.DataObject) -> None:
    keys = data.draw(st.lists(KEYS, min_size=1, max_size=4, unique=True))
    values = st.lists(KINDS[kind], min_size=len(keys), max_size=len(keys))
    rows = [list(zip(keys, one, strict=True)) for one in data.draw(st.lists(values, min_size=1, max_size=6))]
    lists = KeyedLists(make_column(rows, kind))
    assert lists.take_all(keys).to_pylist() == [one for key in keys for one in look_up(rows, key)]
    assert lists.keys == sorted(keys)


def test_values_are_held_in_memory_of_their_own() -> None:
    column = make_column([[(1, 10)], [(1, 20)]], pa.int64())
    stored = column.flatten().field(1).buffers()[1]
    assert KeyedLists(column).take(1).buffers()[1].address != stored.address
