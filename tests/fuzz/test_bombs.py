"""The bomb table: every small file that claims to be large costs at most what its row allows, and says why it is refused.

Each is walked by a child process of its own, within 6 GiB of address space. Seconds are of CPU, the peak is that of the
child above what it had when it began, and *kept* is what it still holds when everything is dropped but the modules. Bombs
that are not quick to make or to walk are for the long run: `LAKELENS_EVERY_LAKE=1`.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from pathlib import Path

import pytest

from tests.fuzz.bombs import BOMBS, Cost, measure

_EVERY = os.environ.get("LAKELENS_EVERY_LAKE", "") not in ("", "0")
_SPACE = 6 << 30
_MOST_SECONDS = 20
# whoever measures asks for the allowance itself; elsewhere a machine may be slow, and a bomb takes far more than this
_SLACK = 1 if _EVERY else 5
_FORK = multiprocessing.get_context("forkserver") if sys.platform == "linux" else None

pytestmark = pytest.mark.skipif(_FORK is None, reason="peaks of memory are read from /proc, which is Linux's")


def _run(name: str, path: Path, answer: object) -> None:
    """In the child: a first look at a sound table loads what a look loads, then the bomb."""
    resource.setrlimit(resource.RLIMIT_AS, (_SPACE, _SPACE))
    answer.send(measure(name, path))  # type: ignore[attr-defined]


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("name", [name for name, row in BOMBS.items() if row.is_quick or _EVERY])
def test_a_bomb_costs_no_more_than_it_may(name: str, tmp_path: Path) -> None:
    assert _FORK is not None
    row = BOMBS[name]
    path = row.make(tmp_path)
    _FORK.set_forkserver_preload(["tests.fuzz.bombs_warm"])
    ours, theirs = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_run, args=(name, path, theirs))
    child.start()
    theirs.close()
    try:
        # a child that dies closes its end; one that goes on and on is ended, long after what is allowed
        assert ours.poll(10 * _MOST_SECONDS), "no end"
        cost: Cost = ours.recv()
    except EOFError:
        pytest.fail(f"the child died: {child.exitcode}")
    finally:
        child.kill()
        child.join()
    assert cost.seconds <= _SLACK * row.seconds, cost
    assert cost.mib <= row.mib, cost
    assert cost.kept <= row.kept, cost
    if row.expected:
        assert any(row.expected in said for said in cost.said), cost.said
    else:
        assert not cost.said, cost.said
