"""Copies the tables that ship with the package from here to `lakelens/samples/tables`; `samples.json` names them.

python tests/lakes/make_samples.py
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

LAKES = Path(__file__).parent
SAMPLES = LAKES.parent.parent / "lakelens/samples"


def main() -> None:
    tables = SAMPLES / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    for entry in json.loads((SAMPLES / "samples.json").read_text("utf-8")):
        target = tables / entry["name"]
        shutil.copytree(LAKES / entry["source"] / "table", target, ignore=shutil.ignore_patterns("*.crc"))
        size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
        print(f"{entry['name']}: {size:,} bytes from {entry['source']}")


if __name__ == "__main__":
    main()
