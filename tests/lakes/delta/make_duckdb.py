"""Record in `duckdb.json` what DuckDB's delta extension says of every version of the tables of `spark/` and `rs/`.

    python tests/lakes/delta/make_duckdb.py

Needs `duckdb` and the extension, as a package of PyPI (`duckdb_extension_delta`) or from DuckDB itself. A version has the
positions of the rows that DuckDB reads of each of its files (`live`, as `[first, last]`), their partition values by
`delta_list_files` (`partitions`, where there are any), or `{"error": "…"}`.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/delta")


def connect() -> Any:
    connection = duckdb.connect()
    package = importlib.util.find_spec("duckdb_extension_delta")
    if package is None:
        connection.execute("INSTALL delta; LOAD delta")
    else:
        (library,) = Path(str(package.origin)).parent.rglob("*.duckdb_extension")
        connection.execute(f"LOAD '{library}'")
    connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
    return connection


def join_rows(rows: list[int]) -> list[list[int]]:
    """Write neighbouring numbers as their first and their last."""
    ranges = []
    for _, run in groupby(enumerate(sorted(rows)), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        ranges.append([numbers[0], numbers[-1]])
    return ranges


def ask(connection: Any, table: Path, version: int) -> dict[str, Any]:
    def relate(path: str) -> str:
        return unquote(path.removeprefix("file://")).removeprefix(f"{table}/")

    state = f"'{table}', version => {version}"
    try:
        listed = connection.execute(f"SELECT data_file, partitions FROM delta_list_files({state})").fetchall()
        rows = connection.execute(
            f"SELECT filename, list(file_row_number) FROM delta_scan({state}, filename => true, "
            "file_row_number => true) GROUP BY ALL"
        ).fetchall()
    except duckdb.Error as error:
        return {"error": str(error).splitlines()[0][:200].replace(str(table), "TABLE")}
    said: dict[str, Any] = {"live": {relate(path): [] for path, _ in listed}}
    said["live"] |= {relate(path): join_rows(numbers) for path, numbers in rows}
    said["live"] = dict(sorted(said["live"].items()))
    partitions = {relate(path): dict(values) for path, values in listed if values}
    return said | ({"partitions": dict(sorted(partitions.items()))} if partitions else {})


def main() -> None:
    connection = connect()
    shutil.rmtree(ROOT, ignore_errors=True)
    found: dict[str, Any] = {}
    for folder in sorted([*(HERE / "spark").iterdir(), *(HERE / "rs").iterdir()]):
        kind, name = folder.parts[-2:]
        place = ROOT / name if kind == "spark" else ROOT / kind / name
        shutil.copytree(folder / "table", place)
        if (folder / "source").exists():
            shutil.copytree(folder / "source", ROOT / "source")
        known = json.loads((folder / "engine.json").read_text("utf-8"))["versions"]
        found[f"{kind}/{name}"] = {version: ask(connection, place, int(version)) for version in known}
    lines = (
        f'"{table}": {{\n '
        + ",\n ".join(
            f'"{version}": {json.dumps(said, ensure_ascii=False, default=str)}'
            for version, said in held.items()
        )
        + "}"
        for table, held in found.items()
    )
    text = f'{{"engine": "duckdb {duckdb.__version__}", "tables": {{\n' + ",\n".join(lines) + "\n}}\n"
    (HERE / "duckdb.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
