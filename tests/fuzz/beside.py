"""A writer beside readers: pyiceberg commits, and readers that open the table all the time see whole states only.

``python -m tests.fuzz.beside [COMMITS] [READERS]`` (300 and 4) needs pyiceberg, in this environment or in that of
`make benchmark-venv`; `python -m tests.fuzz` ends with a small one. It writes appends, overwrites, deletes, new columns and
expiries, after which it removes the files that nothing refers to, with the rows of each commit written down. A reader opens
the directory as it is at that moment and asks for the card, the files, the changes and the rows, and checks the table that
it opened a while ago. It may say that nothing is there as long as there is no commit, and that the table has gone on;
anything else that is raised, a finding of what is there, a number of rows that is not that of its snapshot, and the word
damaged are failures.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_OLDER = 5  # looks after which a table is kept for a while
_LONGEST = 1_800  # seconds that a writer, or the last look of a reader, may take
ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-benchmarks" / "bin" / "python"

WRITER = """
import json, random, sys
from pathlib import Path
from urllib.parse import urlsplit
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import StringType

home, commits = Path(sys.argv[1]), int(sys.argv[2])
catalog = SqlCatalog("c", uri=f"sqlite:///{home}/catalog.db", warehouse=f"file://{home}/warehouse")
catalog.create_namespace("db")
chance, schema = random.Random(7), pa.schema([("id", pa.int64()), ("part", pa.string())])
table = catalog.create_table("db.t", schema=schema)
ids, columns = set(), 0

def expire():
    # keep the current snapshot alone, and the files that it needs
    table.maintenance.expire_snapshots().by_ids(
        [one.snapshot_id for one in table.snapshots() if one != table.current_snapshot()]
    ).commit()
    current = table.current_snapshot()
    manifests = current.manifests(table.io)
    kept = {current.manifest_list, *(one.manifest_path for one in manifests)}
    kept |= {entry.data_file.file_path for one in manifests for entry in one.fetch_manifest_entry(table.io)}
    kept = {urlsplit(one).path for one in kept}
    place = Path(urlsplit(table.location()).path)
    for path in (*place.glob("metadata/*.avro"), *place.glob("data/**/*.parquet")):
        if str(path) not in kept:
            path.unlink()

for number in range(commits):
    kind = chance.choice(["append"] * 6 + ["delete", "delete", "overwrite", "column", "expire"])
    if kind == "expire" and ids:
        expire()
        continue
    if kind == "delete" and ids:
        limit = chance.choice(sorted(ids))
        table.delete(f"id < {limit}")
        ids = {one for one in ids if one >= limit}
    elif kind == "column" and columns < 9:
        with table.update_schema() as update:
            update.add_column(f"extra_{columns}", StringType())
        columns += 1
        continue
    else:
        new = [number * 100 + step for step in range(chance.randint(1, 40))]
        rows = pa.table({"id": new, "part": [f"p{one % 3}" for one in new]}, schema=schema)
        if kind == "overwrite":
            table.overwrite(rows)
            ids = set(new)
        else:
            table.append(rows)
            ids |= set(new)
    print(json.dumps([table.current_snapshot().snapshot_id, len(ids)]), flush=True)
"""


def find_python() -> str | None:
    """The Python whose pyiceberg writes; None where there is none."""
    if find_spec("pyiceberg") is not None:
        return sys.executable
    return str(PEER) if PEER.exists() else None


def read(place: str, stop: Any, answers: Any) -> None:
    """Open the table again and again until told to stop; what was seen, or what failed, goes to `answers`."""
    import lakelens as ll

    seen, failures, looks = {}, [], 0
    older: Any = None
    while not stop.is_set():
        looks += 1
        table: Any = None
        try:
            table = ll.open(place)
            table._repr_html_()
            if table.current is not None:
                files = table.current.files
                rows = files.record_count
                if not any(one.code == "missing" for one in table.findings):
                    seen[table.current.id] = rows
                len(table.current.changes.added)
                failures += _judge(table)
            if older is not None and (check := older.check()).verdict == "damaged":
                errors = [f"{one!r} {one.message}" for one in check.findings if one.severity == "error"]
                failures.append(f"called damaged: {check!r}: {errors[:3]}")
            older = table if looks % _OLDER == 0 or older is None else older
            if looks % _OLDER == 1:
                older = None
        except ll.errors.NotATable as error:
            if seen:
                failures.append(f"{type(error).__name__}: {error}")
        except ll.errors.Missing as error:
            has_gone_on = any(opened is not None and opened.find_newer() for opened in (table, older))
            if seen and not has_gone_on:
                failures.append(f"{type(error).__name__}: {error}")
        except Exception as error:  # whatever it is: a reader that ends without a word is waited for in vain
            failures.append(f"{type(error).__name__}: {error}")
    answers.put((looks, seen, failures))


def _judge(table: Any) -> list[str]:
    """The findings of a table that is still the newest one; of another one those that are no missing file."""
    has_gone = table.find_newer() is not None
    passed = ("missing", "gone-on", "no-files", "foreign-file") if has_gone else ("gone-on",)
    return [f"{one!r} {one.message}" for one in table.findings if one.code not in passed]


def main(commits: int = 300, readers: int = 4) -> int:
    """Run it and print its figures; 1 where a reader saw what is not."""
    with tempfile.TemporaryDirectory() as home:
        place = str(Path(home) / "warehouse" / "db" / "t")
        Path(place).mkdir(parents=True)
        stop, answers = multiprocessing.Event(), multiprocessing.Queue()
        processes = [
            multiprocessing.Process(target=read, args=(place, stop, answers)) for _ in range(readers)
        ]
        for process in processes:
            process.start()
        start = time.monotonic()
        written = subprocess.run(
            [find_python() or sys.executable, "-c", WRITER, home, str(commits)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
        time.sleep(1)
        stop.set()
        results = [answers.get(timeout=_LONGEST) for _ in processes]
        for process in processes:
            process.join()
    if written.returncode:
        print(written.stderr[-2_000:])
        return 1
    known = dict(json.loads(line) for line in written.stdout.splitlines())
    failures = Counter(failure for _, _, said in results for failure in said)
    # an overwrite and some deletes are several snapshots; only the last one of each is written down
    wrong = [
        (one, rows, known[one])
        for _, seen, _ in results
        for one, rows in seen.items()
        if known.get(one, rows) != rows
    ]
    looks, states = sum(one[0] for one in results), len({state for _, seen, _ in results for state in seen})
    took = time.monotonic() - start
    print(
        f"  beside: {len(known):,} commits in {took:.0f} s, {looks:,} steps of {readers} readers, {states:,} states"
    )
    print(
        f"{len(wrong)} wrong totals, {sum(failures.values())} failures",
        *failures.most_common(5),
        *wrong[:5],
        sep="\n",
    )
    return int(bool(wrong or failures) or not known or not states)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
