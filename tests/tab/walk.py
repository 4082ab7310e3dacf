"""The packaged samples, unpacked and walked.

    python -m tests.tab.walk [--bare] DIRECTORY NAME…

Prints one JSON object with what every question of `tests.support.light` was answered, by sample; `--bare` takes away what a
tab does not have. The directory is made where this runs, the same one everywhere: paths and times are in the answers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from lakelens.samples import unpack_table
from tests.support.light import take_away, walk

_TIME = 1_700_000_000


def walk_samples(directory: str, names: Iterable[str]) -> str:
    """Unpack samples below a directory, every file with the same time, and ask everything of them."""
    answers = {}
    for name in names:
        table = unpack_table(name, Path(directory))
        for folder, _, files in os.walk(table):
            for path in ("", *files):
                os.utime(Path(folder, path), (_TIME, _TIME))
        answers[name] = walk(str(table))
    return json.dumps(answers)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--bare"]
    if "--bare" in sys.argv:
        take_away()
    print(walk_samples(arguments[0], arguments[1:]))
