"""One fallback for all formats: only `NotColumnar` sends entries to the record path, and parts of a run find their table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

from lakelens.formats.iceberg.scan import batch as iceberg_batch
from lakelens.formats.paimon.scan.columns import PlainColumns
from lakelens.model.finding import Findings
from lakelens.model.scan.columnar import ColumnarScan, NotColumnar, Part, join_parts
from lakelens.model.scan.plan import FileBatch, ScanRequest, ScanTask
from lakelens.opening import open_table
from tests.support import LAKES

TABLES = {"iceberg": "iceberg/v2-basic", "paimon": "paimon/append"}


class Numbers(ColumnarScan):
    """Manifests of four entries each, in runs of all; `refuse_at` raises for some numbers of entries."""

    fast = True

    def __init__(self, refuse_at: Callable[[list[int]], Exception | None]) -> None:
        self.tasks = tuple(ScanTask(n, f"m{n}", 1) for n in range(3))
        self.refuse_at = refuse_at

    @property
    def findings(self) -> Findings:
        return Findings()

    def load(self, tasks: Sequence[ScanTask]) -> Iterator[list[Part]]:
        table = pa.table({"n": range(4 * len(tasks))})
        parts = [Part(task, table, s, 2, 4 * task.position + s) for task in tasks for s in (0, 2)]
        yield parts[:3]
        yield parts[3:]

    def build(self, parts: Sequence[Part], request: ScanRequest, removals: Any) -> FileBatch:
        numbers = join_parts(parts)["n"].to_pylist()
        if (error := self.refuse_at(numbers)) is not None:
            raise error
        return FileBatch(len(numbers), {"n": numbers, "by": ["column"] * len(numbers)})

    def records(self, task: ScanTask, start: int, request: ScanRequest, removals: Any) -> Iterator[FileBatch]:
        numbers = list(range(4 * task.position + start, 4 * task.position + 4))
        yield FileBatch(len(numbers), {"n": numbers, "by": ["record"] * len(numbers)})

    def with_tasks(self, tasks: Sequence[ScanTask]) -> Numbers:
        raise NotImplementedError


def read(scan: Numbers) -> list[tuple[int, str]]:
    batches: list[Any] = list(scan.read(scan.tasks, ScanRequest()))
    return [pair for b in batches for pair in zip(b.plain["n"], b.plain["by"], strict=True)]


@pytest.mark.parametrize("odd", range(12))
def test_a_refused_part_goes_by_record_to_the_end_of_its_manifest(odd: int) -> None:
    found = read(Numbers(lambda numbers: NotColumnar() if odd in numbers else None))
    assert [number for number, _ in found] == list(range(12))
    first = odd - odd % 2
    assert [n for n, by in found if by == "record"] == list(range(first, odd - odd % 4 + 4))


def test_what_is_no_refusal_is_raised() -> None:
    with pytest.raises(TypeError, match="a mistake"):
        read(Numbers(lambda numbers: TypeError("a mistake") if 5 in numbers else None))


@pytest.mark.parametrize("error", [TypeError, ValueError, LookupError, ArithmeticError])
@pytest.mark.parametrize("name", TABLES)
def test_a_mistake_in_a_decoder_is_seen(
    name: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy", reason="without it records are read one by one, by no decoder of columns")

    def fail(*arguments: Any, **further: Any) -> Any:
        raise error("planted")

    monkeypatch.setattr(iceberg_batch, "build_stats", fail)
    monkeypatch.setattr(PlainColumns, "build", fail)
    snapshot = open_table(LAKES / "spark" / TABLES[name] / "table").current
    assert snapshot is not None
    scan = snapshot.scan_files()
    assert isinstance(scan, ColumnarScan)
    scan.fast = True
    with pytest.raises(error, match="planted"):
        list(scan.read(scan.tasks, ScanRequest()))
