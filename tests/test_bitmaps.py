"""Sets of ranges answer as the bitmaps of pyroaring do, whose place they take where it is not installed."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64, FrozenBitMap64

from lakelens.bitmaps import RangeSet
from lakelens.codecs.bitmaps.roaring import decode_ranges, decode_roaring64

_PLACES = st.sampled_from((0, 40, 65_500, 65_536, 131_000, (1 << 32) - 9, 1 << 32, 5 << 32))
_NUMBERS = st.lists(st.builds(int.__add__, _PLACES, st.integers(0, 60)), max_size=30)
_RANGES = st.lists(st.tuples(_PLACES, st.integers(0, 9_000)), max_size=4)


def _make(kind: Any, numbers: list[int], ranges: list[tuple[int, int]]) -> Any:
    made = kind(numbers)
    for start, many in ranges:
        made.add_range(start, start + many)
    return made


@given(_NUMBERS, _RANGES, _NUMBERS, _RANGES)
def test_sets_of_ranges_are_as_bitmaps(
    numbers: list[int], ranges: list[tuple[int, int]], others: list[int], more: list[tuple[int, int]]
) -> None:
    """Every operation that lakelens asks of a bitmap has the same answer."""
    first, second = _make(RangeSet, numbers, ranges), _make(RangeSet, others, more)
    mine, its = _make(BitMap64, numbers, ranges), _make(BitMap64, others, more)
    assert list(first) == list(mine) and len(first) == len(mine) and bool(first) == bool(mine)
    for answer, expected in (
        (first | second, mine | its),
        (first & second, mine & its),
        (first - second, mine - its),
        (RangeSet.union(first, second, first), BitMap64.union(mine, its, mine)),
        (first.shift(1), mine.shift(1)),
        (first.shift(-1), mine.shift(-1)),
        (first[1:7], mine[1:7]),
        (RangeSet(first), FrozenBitMap64(mine)),
    ):
        assert list(answer) == list(expected)
    assert first.intersection_cardinality(second) == mine.intersection_cardinality(its)
    assert (first == second) == (mine == its) == (first.serialize() == second.serialize())
    assert first.to_array() == mine.to_array()
    for number in [0, 65_535, *numbers, *others]:
        assert (number in first) == (number in mine)
    if mine:
        assert (first.min(), first.max(), first[0], first[-1]) == (mine.min(), mine.max(), mine[0], mine[-1])
        assert first[len(mine) // 2] == mine[len(mine) // 2]
    first.update(others)
    mine.update(others)
    assert list(first) == list(mine)


def test_an_empty_set_has_no_ends() -> None:
    """What has no answer raises as the library does."""
    for kind in (RangeSet, BitMap64):
        with pytest.raises(ValueError):
            kind().min()
        with pytest.raises(ValueError):
            kind().max()
        with pytest.raises(IndexError):
            kind()[0]


@pytest.mark.parametrize("is_run", [False, True])
def test_stored_bitmaps_are_read_alike(is_run: bool) -> None:
    """Arrays, bitsets and runs below several keys are the same numbers, and the same containers."""
    chance = random.Random(4)
    for share in (0.0, 0.001, 0.05, 0.4, 0.999, 1.0):
        stored = BitMap64(number for number in range(140_000) if chance.random() < share)
        stored |= BitMap64((7 << 32) + number for number in chance.sample(range(1 << 20), 900))
        stored.add_range(1 << 33, (1 << 33) + 200_000)
        if is_run:
            stored.run_optimize()
        data = stored.serialize()
        read, known = decode_ranges(data), decode_roaring64(data)
        assert list(read) == list(known) == list(stored)
        kinds = {
            name: count for name, count in known.get_statistics().items() if name in read.get_statistics()
        }
        assert read.get_statistics() == kinds


def test_ranges_make_the_containers_that_they_make_in_the_library() -> None:
    """Positions that follow each other are runs in both, in an empty container and where they take less room so."""
    for ranges in (
        [(1, 5)],
        [(1, 3)],
        [(0, 2), (5, 90)],
        [(5, 90), (100, 101)],
        [(65_530, 65_540)],
        [(7, 140_000)],
    ):
        read, known = RangeSet(_make_ranges(RangeSet, ranges)), FrozenBitMap64(_make_ranges(BitMap64, ranges))
        stated = known.get_statistics()
        assert read.get_statistics() == {name: stated[name] for name in read.get_statistics()}, ranges


def _make_ranges(kind: Any, ranges: list[tuple[int, int]]) -> Any:
    made = kind()
    for start, end in ranges:
        made.add_range(start, end)
    return made


def test_a_bitmap_of_every_number_takes_a_few_ranges() -> None:
    """A vector of a few bytes that claims four thousand million rows is no danger to memory."""
    stored = BitMap64()
    stored.add_range(0, 1 << 32)
    stored.run_optimize()
    read = decode_ranges(stored.serialize())
    assert list(read.pairs()) == [(0, (1 << 32) - 1)] and len(read) == 1 << 32 and read[1 << 31] == 1 << 31
