"""How far a long reading is, and what an interrupt leaves: nothing is said of what is quick, nothing is read twice."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens import progress
from lakelens.errors import Interrupted
from lakelens.model.scan import scan_to_arrow
from lakelens.options import DisplayOptions, display
from lakelens.progress import Progress, track
from lakelens.spark.warehouse.run import Tables
from tests.support.growth import grow_iceberg, grow_paimon


def test_what_is_quick_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(range(3), "snapshots", 3)) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_a_log_has_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.5, 2.0, 3.0, 8.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with Progress("manifests", 40) as reading:
        for _ in range(4):
            reading.advance(10, 5_000_000)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "lakelens: reading 20 of 40 manifests, 10 MB; interrupt to stop",
        "lakelens: reading 40 of 40 manifests, 20 MB; interrupt to stop",
    ]


def test_it_can_be_silent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with display.using(progress=False):
        assert list(track("ab", "files")) == ["a", "b"]
    assert capsys.readouterr() == ("", "")


def test_a_notebook_keeps_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One output, written again and empty in the end: a widget would be saved as one that no page can draw."""
    shown: list[Any] = []

    class Handle:
        def update(self, data: Any, **options: Any) -> None:
            shown.append(data)

    def show(data: Any, **options: Any) -> Handle:
        assert options == {"raw": True, "display_id": True}
        shown.append(data)
        return Handle()

    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "_TICK", 0)
    monkeypatch.setattr(progress, "_is_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", show)
    assert list(track("ab", "files", 2)) == ["a", "b"]
    assert shown == [
        {"text/plain": "reading 1 of 2 files; interrupt to stop"},
        {"text/plain": "reading 2 of 2 files; interrupt to stop"},
        {"text/plain": ""},
    ]


def test_an_inventory_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with Tables(40, {"manifests": 812, "broken": 2, "unread": 0}) as tables:
        tables.advance(12)
    said = capsys.readouterr().err
    assert said == "lakelens: reading 12 of 40 tables, 812 manifests, 2 broken; interrupt to stop\n"
    with (
        pytest.raises(Interrupted, match="stopped after 0 of 40 tables; what was committed is kept"),
        Tables(40, {}),
    ):
        raise KeyboardInterrupt


def test_a_check_names_the_part_that_it_is_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LOG_EVERY", 0)
    ll.sample("iceberg").check()
    parts = [line for line in capsys.readouterr().err.splitlines() if "reading" not in line]
    assert parts == [
        "lakelens: looking for files that nobody refers to; interrupt to stop",
        "lakelens: comparing what is recorded with what is there; interrupt to stop",
        "lakelens: trying the rules of known defects; interrupt to stop",
    ]


def test_an_interrupt_of_a_check_names_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("lakelens.analysis.check.check.compare_presence", stop)
    with pytest.raises(Interrupted, match="stopped while comparing what is recorded with what is there"):
        ll.sample("iceberg").check()


def test_an_interrupt_says_how_far_it_was() -> None:
    with (
        pytest.raises(Interrupted, match="stopped after 2 of 5 manifests") as raised,
        Progress("manifests", 5) as reading,
    ):
        reading.advance(2)
        raise KeyboardInterrupt
    assert raised.value._render_traceback_() == [f"Interrupted: {raised.value}"]


@pytest.mark.parametrize("grow", [grow_iceberg, grow_paimon])
@pytest.mark.parametrize("ask", ["to_arrow", "rows"])
def test_a_second_try_goes_on(
    grow: Callable[..., Path], ask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = grow(tmp_path / "t", files=20_000, manifests=10)
    monkeypatch.setattr(scan_to_arrow, "PORTION_BYTES", 1)
    monkeypatch.setattr(scan_to_arrow, "cut_portions", lambda tasks, limit=1: [[task] for task in tasks])
    act: Callable[[Any], Any] = {
        "to_arrow": lambda files: files.to_arrow().select(["path", "null_counts"]),
        "rows": lambda files: files.to_arrow(columns=["path", "size_bytes"]),
    }[ask]
    expected = act(ll.open(path).files)
    files, read = ll.open(path).files, list[str]()
    whole = scan_to_arrow.read_along

    def stop_after_three(*arguments: Any) -> Iterator[deque[Any]]:
        for number, batches in enumerate(whole(*arguments)):
            if number == 3:
                raise KeyboardInterrupt
            yield batches

    monkeypatch.setattr(scan_to_arrow, "read_along", stop_after_three)
    with pytest.raises(Interrupted, match=re.escape("stopped after 3 of")):
        act(files)
    monkeypatch.setattr(scan_to_arrow, "read_along", whole)
    reading = scan_to_arrow._read_portion

    def note(scan: Any, request: Any, removals: Any, stop: Any, portion: Any) -> Any:
        read.extend(task.path for task in portion)
        return reading(scan, request, removals, stop, portion)

    monkeypatch.setattr(scan_to_arrow, "_read_portion", note)
    assert act(files).equals(expected)
    first = [task.path for task in files._scan.tasks[:3]]
    assert read and not set(read[: len(files._scan.tasks) - 3]) & set(first)


def test_the_environment_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKELENS_PROGRESS", "0")
    assert not DisplayOptions().progress
    monkeypatch.setenv("LAKELENS_PROGRESS", "1")
    assert DisplayOptions().progress
