"""The same as `record.py`, with Paimon's Java core 2.0: `record-2.0.json`. Needs a JDK, Maven and pyspark's jars.

python tests/lakes/maintenance/paimon/record_java.py
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark

HERE = Path(__file__).resolve().parent
LAKES = HERE.parents[1]
ROOT = Path("/tmp/lakes/maintenance-java")
sys.path[:0] = [str(HERE), str(HERE.parents[3]), str(LAKES / "paimon-java")]

import cases  # noqa: E402
import make  # noqa: E402
import record  # noqa: E402


def main() -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    chosen = cases.list_java_cases()
    places = [ROOT / f"t{number}" for number in range(len(chosen))]
    before = [prepare(case, place) for case, place in zip(chosen, places, strict=True)]
    lines = (
        f"{place}\t{case.procedure}\t{write(case.options)}"
        for case, place in zip(chosen, places, strict=True)
    )
    (ROOT / "cases.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    run()
    found = {
        case.name: compare(place, *known) for case, place, known in zip(chosen, places, before, strict=True)
    }
    for name, one in found.items():
        print(name, len(one["deleted"]), "deleted", one["error"] or "")
    text = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in found.items()
    )
    (HERE / "record-2.0.json").write_text(f'{{"engine": "paimon 2.0.0", "cases": {{\n{text}\n}}}}\n', "utf-8")
    shutil.rmtree(ROOT)
    return 0


def write(options: dict[str, Any]) -> str:
    return ";".join(f"{key}={value}" for key, value in options.items())


def prepare(case: cases.Case, place: Path) -> tuple[set[str], dict[str, Any]]:
    """Copy the table and plant what is to be planted."""
    shutil.copytree(LAKES / case.lake / "table", place)
    for path, text in case.planted.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
    return record.list_paths(place), record.list_live(place)


def run() -> None:
    """Compile the driver against the engine's jar and run all cases in one JVM."""
    classes = ROOT / "classes"
    path = f"{classes}:{make.fetch_jar('2.0.0')}:{Path(pyspark.__file__).parent / 'jars'}/*"
    subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", path, HERE / "Maintain.java"], check=True)
    java = ["java", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-Dlog4j2.level=ERROR", "-Xmx2g"]
    subprocess.run([*java, "-cp", path, "Maintain", ROOT / "cases.tsv"], check=True, timeout=280)


def compare(place: Path, before: set[str], live: dict[str, Any]) -> dict[str, Any]:
    """What has become of a table."""
    error = place.with_name(f"{place.name}.error").read_text("utf-8") or None
    after = record.list_paths(place)
    return {
        "error": None if error is None else record.cut(error)[:200],
        "deleted": sorted(map(record.cut, before - after)),
        "written": sorted(map(record.cut, after - before)),
        "before": live,
        **(record.describe(place) if error is None else {}),
    }


if __name__ == "__main__":
    sys.exit(main())
