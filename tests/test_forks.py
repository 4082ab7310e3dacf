"""A process that was forked after lakelens was used, as `multiprocessing` does on Linux: it goes on, and says the same."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

import pytest

import lakelens as ll
from lakelens.codecs import fast

_SECONDS = 120  # nothing of it takes that long: what would wait for a thread of the parent waits for ever

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def _answer(names: list[str], answers: Any) -> None:
    """What each table says, in whichever process."""
    found = []
    for name in names:
        table = ll.sample(name)
        found += [table.check().to_text(0), table.space().to_text(0), str(table.files.to_arrow().num_rows)]
        found.append(str(table.sql("SELECT count(*) FROM files").to_arrow().to_pylist()))
    answers.put(found)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_after_use_gives_the_same_answers() -> None:
    context = multiprocessing.get_context("fork")
    names, answers = ["iceberg", "paimon", "hive"], context.Queue()
    _answer(names, answers)
    known = answers.get(timeout=_SECONDS)
    child = context.Process(target=_answer, args=(names, answers))
    child.start()
    try:
        assert answers.get(timeout=_SECONDS) == known
    finally:
        child.kill()
        child.join()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_child_leaves_datafusion_behind() -> None:
    """Its threads are in the parent alone: the child decodes record by record."""
    if fast.find_datafusion() is None:
        pytest.skip("datafusion is not installed")
    child = os.fork()
    if child == 0:
        os._exit(0 if fast.find_datafusion() is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert fast.find_datafusion() is not None
