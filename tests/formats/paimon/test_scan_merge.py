"""Folding entries by their encoded identities leaves the files that folding them one by one leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakelens.formats.paimon.manifests.manifest import merge_entries
from lakelens.formats.paimon.scan.identity import encode_identities, encode_lists
from lakelens.model.scan.plan import FileBatch, drop_removed

NAMES = ("partition", "bucket", "level", "name", "extra", "index", "external")
SCHEMA = pa.schema(
    [
        ("partition", pa.binary()),
        ("bucket", pa.int32()),
        ("level", pa.int32()),
        ("name", pa.string()),
        ("extra", pa.list_(pa.string())),
        ("index", pa.binary()),
        ("external", pa.string()),
    ]
)
texts = st.text("ab:;\0é", max_size=3)
identities = st.tuples(
    st.binary(max_size=3),
    st.none() | st.integers(-2, 2) | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.integers(0, 5),
    texts,
    st.lists(texts, max_size=3).map(tuple),
    st.none() | st.binary(max_size=3),
    st.none() | texts,
)


def encode(found: list[tuple[Any, ...]]) -> list[bytes]:
    rows = [dict(zip(NAMES, one, strict=True)) for one in found]
    encoded: list[bytes] = encode_identities(pa.Table.from_pylist(rows, SCHEMA)).to_pylist()
    return encoded


@given(st.lists(identities, min_size=2, max_size=12))
def test_encodings_are_equal_exactly_where_identities_are(found: list[tuple[Any, ...]]) -> None:
    encoded = encode(found)
    for one, first in zip(found, encoded, strict=True):
        for other, second in zip(found, encoded, strict=True):
            assert (one == other) == (first == second)


@given(identities, st.integers(0, 6), st.data())
def test_a_change_of_one_field_changes_the_encoding(
    one: tuple[Any, ...], place: int, data: st.DataObject
) -> None:
    other = (*one[:place], data.draw(identities)[place], *one[place + 1 :])
    first, second = encode([one, other])
    assert (first == second) == (one == other)
    assert encode([one])[0] == first  # whatever other rows there are


@given(st.lists(st.none() | st.lists(st.none() | texts, max_size=3), min_size=1, max_size=8))
def test_encoded_lists_are_equal_exactly_where_lists_are(lists: list[list[str | None] | None]) -> None:
    encoded = encode_lists(pa.array(lists, pa.list_(pa.string()))).to_pylist()
    for one, first in zip(lists, encoded, strict=True):
        for other, second in zip(lists, encoded, strict=True):
            assert (one == other) == (first == second)


def fold_columns(entries: list[tuple[bool, int]]) -> list[tuple[int, int]]:
    """What `drop_removed` leaves of ADD and DELETE entries of numbered files: number of the entry, file."""
    adds = [(order, file) for order, (is_add, file) in enumerate(entries) if is_add]
    deletes = [(order, file) for order, (is_add, file) in enumerate(entries) if not is_add]
    found = pa.table(
        {
            "identity": pa.array([b"%d" % file for _, file in deletes], pa.binary()),
            "order": pa.array([order for order, _ in deletes], pa.int64()),
        }
    )
    last = found.group_by("identity").aggregate([("order", "max")])
    removals = last.select(["identity", "order_max"]).rename_columns(["identity", "order"])
    orders = pa.array([order for order, _ in adds], pa.int64())
    identity = pa.array([b"%d" % file for _, file in adds], pa.binary())
    batch = drop_removed(FileBatch(len(adds), {}, {}, identity, orders), removals)
    assert batch.identity is not None and batch.order is not None
    return [
        (order.as_py(), int(name.as_py())) for order, name in zip(batch.order, batch.identity, strict=True)
    ]


def fold_records(entries: list[tuple[bool, int]]) -> tuple[list[tuple[int, int]], bool]:
    """What `merge_entries` leaves, and whether a live file was added again."""
    made = [
        SimpleNamespace(is_live=is_add, order=order, file=SimpleNamespace(identity=file))
        for order, (is_add, file) in enumerate(entries)
    ]
    merged = merge_entries(made)  # type: ignore[arg-type]
    left: Any = merged.live
    return [(entry.order, file) for file, entry in left.items()], bool(merged.repeated)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=30))
def test_folding_by_column_equals_folding_one_by_one(entries: list[tuple[bool, int]]) -> None:
    columns, (records, has_repeats) = fold_columns(entries), fold_records(entries)
    if not has_repeats:
        assert columns == records
    else:  # a table that no engine writes: the same files are left, some perhaps more than once
        assert {file for _, file in columns} == {file for _, file in records}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=30))
def test_what_is_left_twice_was_added_twice(entries: list[tuple[bool, int]]) -> None:
    files = [file for _, file in fold_columns(entries)]
    if len(set(files)) < len(files):
        assert fold_records(entries)[1]
