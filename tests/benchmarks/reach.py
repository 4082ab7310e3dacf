"""How long an Iceberg table in a bucket takes when each request waits, and how many requests the server sees.

python -m tests.benchmarks.reach                          a table of 110 manifests, 50 ms added to each request
python -m tests.benchmarks.reach --peers PYTHON           an interpreter with DuckDB and, from PyPI, its packages
                                                          duckdb-extension-httpfs, -avro and -iceberg
python -m tests.benchmarks.reach --output ""              nothing is kept

moto's S3 server runs in this process, behind `tests.support.far.Weather`, which delays and counts. Each reader is a process
of its own that has imported what it needs and then opens the table: no connection, no listing and no document is known to
it. pyarrow reads the same objects and decodes nothing: it is the floor, of as many connections as lakelens uses.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lakelens.samples import unpack_table
from tests.benchmarks.measure import ROOT
from tests.support.far import KEY, REGION, SECRET, Bucket, run_bucket

_BEGIN = """
import json, os, sys, time
from concurrent.futures import ThreadPoolExecutor
endpoint, location, document, key, secret, region = sys.argv[1:]
host = endpoint.removeprefix("http://")
"""
_RUN = """
def run():
    {statement}
for _ in range(2):
    started = time.perf_counter()
    found = run()
    print(json.dumps(dict(seconds=time.perf_counter() - started, found=found)), flush=True)
    sys.stdin.readline()
os._exit(0)
"""
_OURS = """
import datafusion, pyarrow, s3fs, lakelens as ll
options = {"key": key, "secret": secret, "client_kwargs": {"endpoint_url": endpoint, "region_name": region}}
def show(table):
    assert str(table) and table._repr_html_()
    return len(table.snapshots)
"""
_PYICEBERG = """
import pyarrow.fs
from pyiceberg.table import StaticTable
names = ("endpoint", "access-key-id", "secret-access-key", "region")
properties = {f"s3.{name}": value for name, value in zip(names, (endpoint, key, secret, region))}
def show(table):
    assert str(table.schema()) and table.current_snapshot().manifests(table.io)
    return len(table.snapshots())
"""
_DUCKDB = """
import duckdb
from importlib import import_module
from pathlib import Path
connection = duckdb.connect()
for name in ("httpfs", "avro", "iceberg"):
    home = Path(import_module(f"duckdb_extension_{name}").__file__).parent
    for extension in home.rglob("*.duckdb_extension"):
        connection.execute(f"LOAD '{extension}'")
connection.execute(
    f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION '{region}', URL_STYLE 'path', USE_SSL false, "
    f"ENDPOINT '{host}')"
)
def count(function):
    return connection.execute(f"SELECT count(*) FROM {function}('{document}')").fetchone()[0]
"""
_PYARROW = """
import pyarrow, pyarrow.fs
pyarrow.set_io_thread_count(64)
store = pyarrow.fs.S3FileSystem(
    access_key=key, secret_key=secret, region=region, endpoint_override=host, scheme="http"
)
def read(path):
    with store.open_input_stream(path.removeprefix("s3://")) as stream:
        return stream.read()
def show():
    facts = json.loads(read(document))
    current = next(one for one in facts["snapshots"] if one["snapshot-id"] == facts["current-snapshot-id"])
    assert read(current["manifest-list"])
    return len(facts["snapshots"])
def load():
    show()
    folder = pyarrow.fs.FileSelector(document.removeprefix("s3://").rpartition("/")[0])
    paths = [one.path for one in store.get_file_info(folder)]
    with ThreadPoolExecutor(64) as pool:
        return len(list(pool.map(read, (path for path in paths if path.endswith(".avro") and "/snap-" not in path))))
"""
#: Of each reader what it imports, and the statement of each step.
READERS = {
    "lakelens": (
        _OURS,
        {
            "open": "return show(ll.open(location, storage_options=options))",
            "paimon": "return show(ll.open('s3://lake/paimon', storage_options=options))",
            "files": "return ll.open(location, storage_options=options).files.to_arrow().num_rows",
        },
    ),
    "pyiceberg": (
        _PYICEBERG,
        {
            "open": "return show(StaticTable.from_metadata(document, properties))",
            "files": "return StaticTable.from_metadata(document, properties).inspect.files().num_rows",
        },
    ),
    "DuckDB": (
        _DUCKDB,
        {"open": "return count('iceberg_snapshots')", "files": "return count('iceberg_metadata')"},
    ),
    "pyarrow, bytes alone": (_PYARROW, {"open": "return show()", "files": "return load()"}),
}
_WHAT = {
    "open": "open and describe",
    "files": "list all files",
    "paimon": "open and describe a Paimon table of five snapshots",
}


@dataclass(frozen=True, slots=True)
class Reached:
    """What a reader took for a step, first and again in the same process, and what the server saw of each."""

    reader: str
    step: str
    seconds: tuple[float, ...] = ()
    requests: tuple[int, ...] = ()
    together: int | None = None
    found: int | None = None
    unavailable: str | None = None


def write_table(bucket: Bucket, folder: Path, commits: int) -> tuple[str, str]:
    """A table of so many commits, each of one manifest, that pyiceberg writes; its location and its document."""
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    properties = {
        "s3.endpoint": bucket.endpoint,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.region": REGION,
    }
    catalog = SqlCatalog(
        "reach", uri=f"sqlite:///{folder}/catalog.db", warehouse="s3://lake/reach", **properties
    )
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("value", pa.float64())])
    table = catalog.create_table("db.reach", schema)
    for number in range(commits):
        table.append(
            pa.table({"id": [number], "name": [f"row {number}"], "value": [number / 2]}, schema=schema)
        )
    return table.location(), table.metadata_location


def measure(
    bucket: Bucket, location: str, document: str, peers: str, runs: int, delay: float
) -> Iterator[Reached]:
    """Every step of every reader on one table, in one run."""
    asked = (bucket.endpoint, location, document, KEY, SECRET, REGION)
    for reader, (setup, steps) in READERS.items():
        python = peers if reader == "DuckDB" else sys.executable
        for step, statement in steps.items():
            script = _BEGIN + setup + _RUN.format(statement=statement)
            answers = [_run(bucket, [python, "-c", script, *asked], delay) for _ in range(runs)]
            if failed := [answer for answer in answers if isinstance(answer, str)]:
                yield Reached(reader, step, unavailable=failed[0])
                continue
            known: list[list[dict[str, Any]]] = [one for one in answers if isinstance(one, list)]
            seconds = tuple(round(median(one[place]["seconds"] for one in known), 3) for place in (0, 1))
            last = known[-1]
            requests = tuple(one["requests"] for one in last)
            yield Reached(reader, step, seconds, requests, last[0]["together"], last[0]["found"])
    bucket.weather.clear()


def _run(bucket: Bucket, command: list[str], delay: float) -> list[dict[str, Any]] | str:
    """What one process took, twice, and what the server saw; the last line of its complaint where it failed."""
    if not Path(command[0]).exists():
        return "not installed (make benchmark-venv)"
    answers = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        for _ in range(2):
            bucket.weather.clear()
            bucket.weather.delay = delay
            line = process.stdout.readline()
            if not line:
                return (process.stderr.read().strip().splitlines() or ["it said nothing"])[-1][:200]
            seen = {"requests": len(bucket.weather.requests), "together": bucket.weather.together}
            answers.append({**json.loads(line), **seen})
            process.stdin.write("\n")
            process.stdin.flush()
    return answers


def render(results: list[Reached], facts: dict[str, Any]) -> str:
    """The results as a table in Markdown."""
    lines = [
        "# Tables in a bucket, with a delay of each request",
        "",
        f"An Iceberg table of {facts['commits']} commits, each of one manifest and one file; "
        f"{facts['delay_ms']:g} ms added to each request. "
        f"Seconds are the median of {facts['runs']} processes that had imported their libraries: `first`, without a "
        "connection, and `again`, opened again in the same process. Requests are those that the server saw.",
        "`python -m tests.benchmarks.reach` writes this file.",
        "",
        "| reader | step | first, s | requests | again, s | requests | together at most | found |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in results:
        figures: tuple[Any, ...] = (one.unavailable, "", "", "", "", "")
        if one.unavailable is None:
            pairs = [figure for pair in zip(one.seconds, one.requests, strict=True) for figure in pair]
            figures = (*pairs, one.together, one.found)
        lines.append(f"| {one.reader} | {_WHAT[one.step]} | {' | '.join(map(str, figures))} |")
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser("python -m tests.benchmarks.reach", description=__doc__)
    parser.add_argument("--commits", type=int, default=110)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--delay", type=float, default=50, help="milliseconds")
    parser.add_argument("--peers", default=str(ROOT / ".venv-benchmarks" / "bin" / "python"))
    parser.add_argument(
        "--output",
        type=lambda text: Path(text) if text else None,
        default=ROOT / "docs" / "benchmarks",
    )
    asked = parser.parse_args(arguments)
    facts = {"commits": asked.commits, "runs": asked.runs, "delay_ms": asked.delay}
    with tempfile.TemporaryDirectory(prefix="lakelens-reach-") as folder, run_bucket() as bucket:
        location, document = write_table(bucket, Path(folder), asked.commits)
        bucket.put(unpack_table("paimon", Path(folder)), "paimon")
        results = []
        for one in measure(bucket, location, document, asked.peers, asked.runs, asked.delay / 1000):
            results.append(one)
            print(one, flush=True)
    text = render(results, facts)
    print(f"\n{text}")
    if asked.output:
        kept = {"facts": facts, "results": [asdict(one) for one in results]}
        (asked.output / "reach.json").write_text(json.dumps(kept, indent=2) + "\n")
        (asked.output / "reach.md").write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
