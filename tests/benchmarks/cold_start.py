"""What a cold process pays: bare Python, `import lakelens`, opening a sample, its card, the card of 100,000 files.

    python -m tests.benchmarks.cold_start

Prints the minimum and the median of several runs in seconds, each run in a process of its own.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support import growth

RUNS = 9
FILES = 100_000
CASES = {
    "bare Python": "pass",
    "import lakelens": "import lakelens",
    "open a sample (Iceberg)": "import lakelens as ll; ll.sample('iceberg')",
    "its card": "import lakelens as ll; ll.sample('iceberg')._repr_html_()",
    "open a sample (Paimon)": "import lakelens as ll; ll.sample('paimon')",
    "its card, too": "import lakelens as ll; ll.sample('paimon')._repr_html_()",
    "card of {files:,} files (Iceberg)": "import lakelens as ll; ll.open({iceberg!r})._repr_html_()",
    "card of {files:,} files (Paimon)": "import lakelens as ll; ll.open({paimon!r})._repr_html_()",
}


def time_process(script: str) -> float:
    """Seconds from start to end of an interpreter that runs a script."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", script], check=True)
    return time.perf_counter() - started


def measure_cases(runs: int = RUNS, files: int = FILES) -> dict[str, list[float]]:
    """Seconds of every run of every case, by what it is."""
    with tempfile.TemporaryDirectory() as folder:
        grown = {
            "iceberg": str(growth.grow_iceberg(Path(folder) / "iceberg", files=files)),
            "paimon": str(growth.grow_paimon(Path(folder) / "paimon", files=files)),
        }
        return {
            name.format(files=files): [time_process(script.format(**grown)) for _ in range(runs)]
            for name, script in CASES.items()
        }


def main() -> None:
    """Run every case and print a table."""
    print(f"{'case':32} {'min s':>8} {'median s':>9}")
    for name, seconds in measure_cases().items():
        print(f"{name:32} {min(seconds):8.3f} {statistics.median(seconds):9.3f}")


if __name__ == "__main__":
    main()
