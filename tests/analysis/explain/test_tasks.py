"""Tasks of scans without an engine: every byte is read once, no task is fuller than it may be, properties that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakelens as ll
from lakelens.analysis.explain.tasks import Tasks, plan_tasks
from lakelens.errors import Unsupported
from lakelens.formats.iceberg.splits import IcebergSplits
from lakelens.formats.paimon.splits import PaimonSplits
from lakelens.model.driver import Parts
from lakelens.model.scan.splits import SplitUnit, pack_filled, pack_lookback, pack_ordered
from tests.support import LAKES

TABLES = sorted(
    path.parent / "table"
    for path in LAKES.glob("*/**/answers.json")
    if (path.parent / "table").is_dir()
    and "/view/" not in str(path)
    and "/delta/" not in str(path)  # how Spark divides files of Delta is not known here
)


@pytest.mark.parametrize("path", TABLES[::3], ids=lambda path: "-".join(path.parts[-4:-1]))
def test_every_byte_is_in_one_task(path: Any) -> None:
    table = ll.open(str(path))
    if table.current is None:
        return
    files = [file for file in table.current.files if file.content == "data"]
    for size in (None, 700):
        tasks = plan_tasks(table.current.files, table, size)
        seen: dict[str, list[tuple[int, int]]] = {}
        for task in tasks:
            for split in task.splits:
                seen.setdefault(split.file.path, []).append((split.start, split.start + split.length))
        # level 0 of some tables is not read at all; a file without bytes is in no task
        assert set(seen) <= {file.path for file in files}
        assert len(seen) == len([f for f in files if f.size_bytes]) or table.format == "paimon"
        for file in files:
            parts = sorted(seen.get(file.path, []))
            assert all(a[1] == b[0] for a, b in pairwise(parts))
            if parts:
                offsets = file.split_offsets or (0,)
                assert (parts[0][0], parts[-1][1]) in ((offsets[0], file.size_bytes), (0, file.size_bytes))


units = st.lists(st.integers(0, 30).map(lambda weight: SplitUnit((), weight)), max_size=30)


def weigh(tasks: Iterator[Any]) -> list[list[int]]:
    return [[unit.weight for unit in task] for task in tasks]


@given(units, st.integers(1, 40), st.integers(1, 5))
def test_packing_loses_nothing_and_overfills_nothing(
    items: list[SplitUnit], target: int, lookback: int
) -> None:
    for packed in (
        weigh(pack_lookback(items, target, lookback)),
        weigh(pack_ordered(items, target)),
        weigh(pack_filled(items, target, 3)),
    ):
        assert sorted(chain.from_iterable(packed)) == sorted(unit.weight for unit in items)
        assert all(sum(task) <= target or len(task) == 1 for task in packed)
    ordered = weigh(pack_ordered(items, target))
    assert list(chain.from_iterable(ordered)) == [unit.weight for unit in items]
    assert all(sum(a) + b[0] > target for a, b in pairwise(ordered))


def test_the_heaviest_open_task_is_closed_first() -> None:
    items = [SplitUnit((), weight) for weight in (5, 9, 6, 1)]
    assert weigh(pack_lookback(items, 10, 2)) == [[9], [5, 1], [6]]


def test_properties_that_are_wrong_count_as_the_default() -> None:
    rules = IcebergSplits({"read.split.target-size": "many", "read.split.open-file-cost": "-1"})
    assert [(one.value, one.is_default) for one in rules.figures] == [
        (128 << 20, True),
        (4 << 20, True),
        (10, True),
    ]
    options = {"source.split.target-size": "64 mb", "source.split.open-file-cost": "1 parsec"}
    paimon = PaimonSplits(options, has_keys=False, skips_level_0=False)
    assert [(one.value, one.is_default) for one in paimon.figures[:2]] == [(64 << 20, False), (4 << 20, True)]


def test_tasks_are_rows_and_text() -> None:
    table = ll.sample("iceberg")
    tasks = plan_tasks(table.current.files, table)
    arrow = tasks.to_arrow()
    assert arrow.num_rows == len(tasks) and sum(arrow["size_bytes"].to_pylist()) == tasks.size_bytes
    assert isinstance(tasks[:1], Tasks) and tasks[:1].target_size == tasks.target_size
    for said in ("read.split.target-size", "read.split.planning-lookback", "adaptive-size"):
        assert said in tasks._repr_html_().replace("<wbr>", "")
    assert repr(tasks) == f"<Tasks {len(tasks)}: {tasks.size_bytes} bytes in tasks of up to {16 << 20}>"


def test_a_size_that_is_none() -> None:
    table = ll.sample("iceberg")
    with pytest.raises(Unsupported):
        plan_tasks(table.current.files, table, 0)


def test_a_format_without_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ll.sample("hive")
    monkeypatch.setattr(table, "driver", Parts())
    with pytest.raises(Unsupported):
        plan_tasks(table.current.files, table)
