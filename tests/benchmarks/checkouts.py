"""This checkout beside another one: the same tables, the same machine, runs taken in turn, ratios.

    python -m tests.benchmarks.checkouts ../older-checkout

Prints the least seconds of each case in both, and the ratio. Every run is a process of its own; `warm` repeats inside of it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.cold_start import CASES as COLD
from tests.benchmarks.tables import Tables

ROOT = Path(__file__).parents[2]
FILES = 100_000
COLUMNS = 25
RUNS = 5
# each takes `path`; the least of three repetitions in one process
WARM = {
    "files.to_arrow()": "ll.open(path).files.to_arrow()",
    "files.to_arrow(stats=False)": "ll.open(path).files.to_arrow(stats=False)",
    "files.batches()": "sum(batch.num_rows for batch in ll.open(path).files.batches())",
    "entries of one manifest": "len(list(ll.open(path).current.manifests[0].entries))",
    "bounds of 2,000 files": "[e.file.bounds for e in ll.open(path).current.manifests[0].entries[:2000]]",
}
TIMER = """
import time, lakelens as ll
path = {path!r}
seconds = []
for _ in range(3):
    started = time.perf_counter()
    {statement}
    seconds.append(time.perf_counter() - started)
print(min(seconds))
"""
COLD_TIMER = "import time; started = time.time()\n{statement}\nprint(time.time() - started)"


def time_script(script: str, checkout: Path) -> float:
    """What a script prints last, run in a process that imports lakelens from a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(  # -P: the working directory is no place to import from, the checkout is
        [sys.executable, "-P", "-c", script], env=environment, check=True, capture_output=True, text=True
    )
    return float(done.stdout.split()[-1])


def list_scripts(folder: Path, files: int) -> dict[str, str]:
    """Every case with the script that measures it."""
    tables = Tables(folder, print)
    grown = {
        name: str(tables.grow(name, files=files, columns=COLUMNS).target.path)
        for name in ("iceberg", "paimon")
    }
    scripts = {
        name.format(files=files): COLD_TIMER.format(statement=statement.format(**grown))
        for name, statement in COLD.items()
    }
    for format, path in grown.items():
        for name, statement in WARM.items():
            scripts[f"{name}, {format}"] = TIMER.format(path=path, statement=statement)
    return scripts


def main() -> None:
    """Measure both checkouts in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'case':40} {'other s':>9} {'this s':>9} {'ratio':>6}")
        for name, script in list_scripts(Path(folder), asked.files).items():
            pairs = [
                (time_script(script, asked.other.resolve()), time_script(script, ROOT))
                for _ in range(asked.runs)
            ]
            other, this = (min(pair[side] for pair in pairs) for side in (0, 1))
            print(f"{name:40} {other:9.3f} {this:9.3f} {this / other:6.2f}", flush=True)


if __name__ == "__main__":
    main()
