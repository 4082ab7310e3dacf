"""A Delta table in a far store: what its card shows is asked for together, sidecars of a checkpoint after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.delta.test_log import METADATA, PROTOCOL, add, write_checkpoint, write_commit
from tests.support.far_memory import FarStore, FlatStore, open_twins, show

LAKES = Path(__file__).parent.parent / "lakes/delta"
TABLES = sorted(LAKES.glob("*/*/table"))


@pytest.mark.parametrize("kind", [FarStore, FlatStore])
def test_the_card_takes_at_most_four_waves(kind: type[FarStore]) -> None:
    for path in TABLES:
        near, far, _ = open_twins(path, kind)
        assert show(far) == show(near), path
        assert far.reads.waves <= 4, path


def test_a_long_log_is_read_from_its_newest_checkpoint(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, PROTOCOL, METADATA)
    for number in range(1, 120):
        write_commit(tmp_path, number, add(f"f{number}"))
    write_checkpoint(tmp_path, 100, [PROTOCOL, METADATA, *(add(f"f{number}") for number in range(1, 101))])
    near, far, store = open_twins(tmp_path, FarStore)
    assert show(far) == show(near)
    assert far.reads.waves <= 4
    assert len([path for verb, path in store.asked if verb == "read"]) < 40
    assert len(far.files) == 119
