"""Damage of any kind, anywhere: missing files, orphans, first aid and rules give answers, never a traceback."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.check.check import give_first_aid, try_rules
from lakelens.analysis.check.strays import find_strays
from lakelens.errors import LakeError
from tests.support import LAKES

TABLES = [
    *(
        "spark/iceberg/v2-merge-on-read",
        "spark/iceberg/v3-deletion-vectors",
        "spark/iceberg/v2-partition-time",
    ),
    *("spark/paimon/pk-deletion-vectors", "spark/paimon/tags", "paimon-java/2.0.0-file-index-in-file"),
    *("paimon-java/2.0.0-changelog-long-lived", "paimon-java/2.0.0-branches", "spark/hive/partitioned"),
]
NUMBERS = (b"-1", b"9" * 20, b"null")


def damage(path: Path, other: Path, chance: random.Random) -> None:
    """Flips, cuts, blanks, swaps or removes one file, or changes the numbers in it."""
    data = bytearray(path.read_bytes())
    how = chance.choice(("flip", "cut", "blank", "swap", "remove", "number"))
    if how == "remove":
        path.unlink()
        return
    if how == "flip":
        for _ in range(chance.randint(1, 8) if data else 0):
            data[chance.randrange(len(data))] = chance.randrange(256)
    changed = {
        "cut": lambda: data[: chance.randrange(len(data) + 1)],
        "blank": lambda: bytes(len(data)),
        "swap": other.read_bytes,
        "number": lambda: re.sub(rb"\d+", lambda found: chance.choice((*NUMBERS, found[0], found[0])), data),
    }
    path.write_bytes(changed[how]() if how in changed else data)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TABLES)
def test_everything_answers_past_damage(name: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {seed}")
    for round_number in range(3):
        place = tmp_path / str(round_number)
        shutil.copytree(LAKES / name / "table", place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        for path in chance.sample(files, min(len(files) - 1, chance.randint(1, 3))):
            others = [one for one in files if one.exists() and one != path]
            damage(path, chance.choice(others), chance)
        try:
            table = ll.open(place)
        except LakeError:
            continue
        strays = find_strays(table)
        for found in (strays.missing, strays.resized, strays.orphans, strays.young, strays.foreign):
            assert found.to_arrow().num_rows == len(list(found))
        assert str(give_first_aid(table, strays)) and repr(strays) and repr(try_rules(table))
        assert strays.whole.count <= strays.whole.total
        if strays.broken or strays.unread:
            assert strays.whole.count < strays.whole.total or not strays.broken
