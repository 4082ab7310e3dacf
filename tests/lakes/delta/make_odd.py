"""Record in the logs of `odd/` what deltalake and DuckDB's delta extension say of each.

    python tests/lakes/delta/make_odd.py [NAME …]

A log is one file: `about` says what is odd, `files` are its files below the table, each the lines of a commit, a text as it
is, one in Latin-1, or bytes in Base64. `engines` are the answers that this script writes: the files of the newest version,
or an `error`.
`expect` is what lakelens says, written by hand: the files of each `version`, the `findings`, or an `error`.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
from deltalake import DeltaTable

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/odd")


def write_log(files: dict[str, Any], root: Path) -> None:
    """Write the files of a log below a directory."""
    for name, held in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(held, list):
            path.write_bytes("".join(json.dumps(line) + "\n" for line in held).encode())
        elif "base64" in held:
            path.write_bytes(b64decode(held["base64"]))
        else:
            path.write_bytes(held["text"].encode() if "text" in held else held["latin1"].encode("latin1"))


def ask(list_files: Callable[[], list[str]], root: Path) -> Any:
    try:
        found = [unquote(path).removeprefix("file://").removeprefix(f"{root}/") for path in list_files()]
    except Exception as error:
        return {"error": str(error).partition("\n")[0].replace(str(root), "…")[:160]}
    return sorted(found)


def main(wanted: list[str]) -> None:
    connection = duckdb.connect()
    package = importlib.util.find_spec("duckdb_extension_delta")
    assert package is not None and package.origin is not None
    [extension] = Path(package.origin).parent.rglob("*.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
    shutil.rmtree(ROOT, ignore_errors=True)
    for path in sorted((HERE / "odd").glob("*.json")):
        if wanted and path.stem not in wanted:
            continue
        case, root = json.loads(path.read_text("utf-8")), ROOT / path.stem
        write_log(case["files"], root)
        query = f"SELECT data_file FROM delta_list_files('{root}')"
        case["engines"] = {
            "deltalake": ask(lambda root=root: DeltaTable(str(root)).file_uris(), root),  # type: ignore[misc]
            "duckdb": ask(lambda query=query: [row[0] for row in connection.execute(query).fetchall()], root),  # type: ignore[misc]
        }
        path.write_text(json.dumps(case, indent=1) + "\n", "utf-8")
        print(path.stem, case["engines"])


if __name__ == "__main__":
    main(sys.argv[1:])
