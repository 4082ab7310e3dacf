"""One measured process: prepares a runner, runs it, and tells one line of JSON.

    python -m tests.benchmarks.child '{"runner": "to_arrow", "format": "iceberg", "path": …, "mode": "cold"}'

`cold` runs once; the parent counts from the start of the process to `finished`. `warm` runs once unmeasured, then `runs`
times. `imports` only imports the `modules` that another process is known to have needed, and tells the memory that takes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.memory import tell_now, tell_peak, tell_peak_of_java
from tests.benchmarks.runners import RUNNERS, Target, Unavailable


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """What the request asks for."""
    if cpus := request.get("cpus"):  # before anything starts a thread or a process
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])
    if request["mode"] == "imports":
        return _measure_imports(json.load(sys.stdin))
    target = Target(request["format"], Path(request["path"]), request.get("proof", ""))
    known = set(sys.modules)
    try:
        prepared = RUNNERS[request["runner"]].prepare(target)
    except Unavailable as error:
        return {"unavailable": str(error)}
    seconds: list[float] = []
    found: Any = None
    is_warm = request["mode"] == "warm"
    for _ in range(request.get("runs", 1) + 1 if is_warm else 1):
        found = None  # a run does not hold the result of the one before
        started = time.perf_counter()
        found = prepared.run()
        seconds.append(time.perf_counter() - started)
    finished = time.time()
    peak, java = tell_peak(), tell_peak_of_java() if "pyspark" in sys.modules else None
    modules = [name for name in sys.modules if name not in known and not name.startswith(("tests", "__"))]
    sums = prepared.total(found)
    answer = {
        "seconds": seconds[1:] if is_warm else seconds,
        "finished": finished,
        "peak": peak,
        "java_peak": java,
        "files": sums.files,
        "records": sums.records,
        "bytes": sums.bytes,
        "bounds": sums.bounds,
        "modules": modules,
    }
    prepared.close()
    return answer


def _measure_imports(modules: list[str]) -> dict[str, Any]:
    import importlib
    import warnings

    warnings.simplefilter("ignore")
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # some were made while running and cannot be imported by name
            continue
    return {"held": tell_now()}


if __name__ == "__main__":
    print("\n" + json.dumps(measure(json.loads(sys.argv[1]))), flush=True)
    os._exit(0)  # taking a large heap apart is no part of what is measured
