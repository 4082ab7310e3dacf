"""What a cold process pays: bare Python, `import lakelens`, opening a sample, its card, the card of 100,000 files.

Its CPU is compared with that of a process that imports the two libraries which a card needs, `jinja2` and `msgspec`, alone.

    python -m tests.benchmarks.cold_start

Prints the minimum and the median of several runs in seconds, each run in a process of its own; then the ratios, of the
minimums and of the medians, and how many modules of ours a first card loads.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lakelens.samples import unpack_table
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


#: What the first card of a small table is compared with, and what `lakelens show` is.
FLOOR = ("-c", "import jinja2, msgspec")
FORMATS = ("iceberg", "paimon", "hive", "delta")
SHOW = ("-m", "lakelens.cli", "show")
_RATIO_RUNS = 15


def measure_cpu(*arguments: str) -> float:
    """Seconds of CPU of an interpreter, with its compiled modules kept as those of a user are."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], check=True, cwd="/", env=environment, stdout=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_ratios(runs: int = _RATIO_RUNS) -> dict[str, list[float]]:
    """Seconds of CPU of every run of the floor, the cards and `lakelens show`, in turn, after a first one.

    The tables are those of the samples, unpacked before: a card of a sample unpacks it, too.
    """
    with tempfile.TemporaryDirectory() as folder:
        places = {name: str(unpack_table(name, Path(folder))) for name in FORMATS}
        cases: dict[str, tuple[str, ...]] = {"floor": FLOOR} | {
            f"card ({name})": ("-c", f"import lakelens as ll; ll.open({place!r})._repr_html_()")
            for name, place in places.items()
        }
        cases["show (iceberg)"] = (*SHOW, places["iceberg"])
        seconds: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(runs + 1):
            for name, arguments in cases.items():
                spent = measure_cpu(*arguments)
                seconds[name] += [spent] if number else []
    return seconds


def render_ratios(spent: dict[str, list[float]], modules: dict[str, int]) -> str:
    """Seconds of CPU as a table in Markdown, each beside the floor; then the modules of ours that a card loads."""
    lines = [
        "| cold process | CPU, median s | min s | × floor | × floor |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, seconds in spent.items():
        least, median = min(seconds), statistics.median(seconds)
        ratios = median / statistics.median(spent["floor"]), least / min(spent["floor"])
        lines.append(f"| {name} | {median:.3f} | {least:.3f} | {ratios[0]:.2f} | {ratios[1]:.2f} |")
    loaded = ", ".join(f"{name} {count}" for name, count in modules.items())
    return "\n".join([*lines, "", f"The floor imports jinja2 and msgspec alone. Modules of ours: {loaded}."])


def count_all() -> dict[str, int]:
    """Count the modules of ours after a card of each format."""
    return {name: count_modules(name) for name in FORMATS}


def count_modules(name: str) -> int:
    """Count the modules of ours that a process has loaded after the card of a sample."""
    count = "import sys; print(sum(name.partition('.')[0] == 'lakelens' for name in sys.modules))"
    script = f"{CASES['its card'].replace('iceberg', name)}\n{count}"
    return int(
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    )


def main() -> None:
    """Run every case and print a table."""
    print(render_ratios(measure_ratios(), count_all()))
    print(f"{'case':32} {'min s':>8} {'median s':>9}")
    for name, seconds in measure_cases().items():
        print(f"{name:32} {min(seconds):8.3f} {statistics.median(seconds):9.3f}")


if __name__ == "__main__":
    main()
