"""A writer beside readers: pyiceberg commits, and readers that open the table all the time see whole states only.

``python -m tests.fuzz.beside [COMMITS] [READERS]`` (300 and 4) needs the environment of `make benchmark-venv`, whose
pyiceberg writes: appends, overwrites, deletes and new columns, with the rows of each commit written down. A reader opens
the directory as it is at that moment and asks for the card, the files, the changes and the rows. It may say that nothing
is there as long as there is no commit; anything else that is raised, a finding, and a number of rows that is not that of
its snapshot are failures.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-benchmarks" / "bin" / "python"

WRITER = """
import json, random, sys
from pathlib import Path
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import StringType

home, commits = Path(sys.argv[1]), int(sys.argv[2])
catalog = SqlCatalog("c", uri=f"sqlite:///{home}/catalog.db", warehouse=f"file://{home}/warehouse")
catalog.create_namespace("db")
chance, schema = random.Random(7), pa.schema([("id", pa.int64()), ("part", pa.string())])
table = catalog.create_table("db.t", schema=schema)
ids, columns = set(), 0
for number in range(commits):
    kind = chance.choice(["append"] * 6 + ["delete", "delete", "overwrite", "column"])
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


def read(place: str, stop: Any, answers: Any) -> None:
    """Open the table again and again until told to stop; what was seen, or what failed, goes to `answers`."""
    import lakelens as ll

    seen, failures, looks = {}, [], 0
    while not stop.is_set():
        looks += 1
        try:
            table = ll.open(place)
            table._repr_html_()
            if table.current is not None:
                files = table.current.files
                seen[table.current.id] = files.record_count
                len(table.current.changes.added)
                failures += [str(finding) for finding in table.findings]
        except ll.errors.LakeError as error:
            if seen or not isinstance(error, ll.errors.NotATable | ll.errors.Missing):
                failures.append(f"{type(error).__name__}: {error}")
    answers.put((looks, seen, failures))


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
            [str(PEER), "-c", WRITER, home, str(commits)], capture_output=True, text=True, check=False
        )
        time.sleep(1)
        stop.set()
        results = [answers.get() for _ in processes]
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
    print(f"{len(known)} commits in {took:.0f} s; {readers} readers looked {looks} times, at {states} states")
    print(
        f"{len(wrong)} wrong totals, {sum(failures.values())} failures",
        *failures.most_common(5),
        *wrong[:5],
        sep="\n",
    )
    return int(bool(wrong or failures))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
