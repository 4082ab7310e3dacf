"""Large bitmaps are checked by arrays: what is sound, and every error, is as the check by container has it."""

from __future__ import annotations

import random
import struct

import pytest
from pyroaring import BitMap

from lakelens.codecs.bitmaps import roaring
from lakelens.codecs.bitmaps.roaring import decode_roaring32, decode_roaring64
from lakelens.errors import Corrupt, Unsupported
from lakelens.options import budgets

NEVER = 1 << 20


def make_bitmap(chance: random.Random, containers: int) -> BitMap:
    """Containers of every kind, some of them runs."""
    made = BitMap()
    for number in range(containers):
        base = number * chance.choice((1, 2)) << 16
        match chance.randrange(4):
            case 0:
                made.add_range(base + 5, base + 5 + chance.randrange(1, 60_000))
            case 1:
                made.update(base + chance.randrange(1 << 16) for _ in range(chance.randrange(1, 40)))
            case 2:
                made.update(range(base, base + (1 << 16), chance.randrange(2, 12)))
            case _:
                made.update(range(base, base + 40_000, chance.randrange(30, 70)))
    if chance.random() < 0.7:
        made.run_optimize()
    return made


def say(data: bytes) -> str:
    try:
        return str(len(decode_roaring32(data)))
    except Corrupt as error:
        return str(error)


@pytest.mark.parametrize("seed", range(6))
def test_damage_is_named_as_the_check_by_container_names_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    bitmap = make_bitmap(chance, 120)
    data = bitmap.serialize()
    assert BitMap(decode_roaring32(data)) == bitmap
    damaged = []
    for _ in range(60):
        broken = bytearray(data)
        place = chance.randrange(chance.choice((len(data), 700)))
        broken[place] = chance.choice((0, 1, 255, broken[place] ^ 1 << chance.randrange(8)))
        damaged.append(bytes(broken))
    damaged += [data[: chance.randrange(len(data))], data + b"\0"]
    by_arrays = [say(broken) for broken in damaged]
    monkeypatch.setattr(roaring, "MANY", NEVER)
    assert [say(broken) for broken in damaged] == by_arrays
    assert sum(not said.isdigit() for said in by_arrays) > 5


def test_a_vector_of_too_many_containers_is_refused_before_they_are_looked_at() -> None:
    count = 1 << 16
    body = struct.pack("<II", 12346, count) + bytes(8 * count)
    data = struct.pack("<q", 3) + b"".join(struct.pack("<I", key) + body for key in range(3))
    with pytest.raises(Corrupt, match="keys do not ascend"):
        decode_roaring64(data)
    refused = pytest.raises(Unsupported, match=r"65,5\d\d containers or more, at most 32,768.*max_vector")
    with budgets.using(max_vector=1 << 15), refused:
        decode_roaring64(data)
    empty = struct.pack("<q", 2000) + b"".join(struct.pack("<III", key, 12346, 0) for key in range(2000))
    assert len(decode_roaring64(empty)) == 0
    with budgets.using(max_vector=1024), pytest.raises(Unsupported, match="2,000 containers or more"):
        decode_roaring64(empty)
