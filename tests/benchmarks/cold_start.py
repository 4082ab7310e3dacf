"""What a cold process pays: bare Python, `import lakelens`, opening a sample, its card.

    python tests/benchmarks/cold_start.py

Prints the minimum and the median of several runs in seconds, each run in a process of its own.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 9
CASES = {
    "bare Python": "pass",
    "import lakelens": "import lakelens",
    "open a sample (Iceberg)": "import lakelens as ll; ll.sample('iceberg')",
    "its card": "import lakelens as ll; ll.sample('iceberg')._repr_html_()",
    "open a sample (Paimon)": "import lakelens as ll; ll.sample('paimon')",
    "its card, too": "import lakelens as ll; ll.sample('paimon')._repr_html_()",
}


def time_process(script: str) -> float:
    """Seconds from start to end of an interpreter that runs a script."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", script], check=True)
    return time.perf_counter() - started


def main() -> None:
    """Run every case and print a table."""
    print(f"{'case':26} {'min s':>8} {'median s':>9}")
    for name, script in CASES.items():
        seconds = [time_process(script) for _ in range(RUNS)]
        print(f"{name:26} {min(seconds):8.3f} {statistics.median(seconds):9.3f}")


if __name__ == "__main__":
    main()
