"""What a file system may hold where a file is expected: pipes, devices, holes, loops, names and times.

What the store does with each by itself is in tests/io/test_stores.py; here whole tables are walked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.fuzz.known import KNOWN
from tests.fuzz.parent import PATIENT_SECONDS, WAITS_PATIENTLY, Walker
from tests.fuzz.recipes import Edit, Recipe

# the document, what points to it, lists, data and what goes with them
FILES = {
    "hive": {"data": "*.parquet"},
    "iceberg": {
        "document": "metadata/*.metadata.json",
        "list": "metadata/snap-*.avro",
        "manifest": "metadata/*-m0.avro",
        "data": "data/*.parquet",
    },
    "paimon": {
        "hint": "snapshot/LATEST",
        "document": "snapshot/snapshot-*",
        "schema": "schema/schema-0",
        "list": "manifest/manifest-list-*",
        "data": "*/data-*",
    },
}
PLACES: dict[str, Edit] = {
    "pipe": {"do": "fifo"},
    "socket": {"do": "socket"},
    "directory": {"do": "directory"},
    "zeros": {"do": "link", "to": "/dev/zero"},
    "noise": {"do": "link", "to": "/dev/urandom"},
    "own-memory": {"do": "link", "to": "/proc/self/mem"},
    "link-to-itself": {"do": "link", "to": "loop"},
    "hole": {"do": "sparse", "size": 8 << 30},
}
BESIDE: dict[str, Edit] = {
    "loops": {"links": {"a": ".", "b": "..", "c": "a/b"}},
    "the-machine": {"links": {"out": "/"}},
    "names-that-are-no-text": {"names": ["ff2e70617271756574", "6b3dfffe2f706172742dff"]},
    "names-that-act": {"names": ["1b5d303b6f776e656407", "61e280ae62"]},
    "many": {"empty": 3_000},
    "deep": {"depth": 15},
    "beyond-time": {"time": 10**13},
    "before-time": {"time": -(10**11)},
}
ALL = [(lake, role, name) for lake, files in FILES.items() for role in files for name in PLACES]
# each thing at one place of each format, each place with one thing: the rest is for `make fuzz`
CHOSEN = [
    one
    for number, one in enumerate(ALL)
    if number % 3 == 0 or (one[1] in ("hint", "data") and one[2] == "pipe")
]


@pytest.fixture(scope="module")
def walker() -> Iterator[Walker]:
    with Walker(PATIENT_SECONDS, WAITS_PATIENTLY) as made:
        yield made


def check(walker: Walker, lake: str, pattern: str, edit: Edit) -> None:
    edits = [{"file": pattern, "place": -1, "how": "place", **edit}]
    result = walker.walk(Recipe(lake, edits, seed=18, share=0.1))
    assert not result.impossible, result.impossible
    failures = [
        failure for failure in result.failures if not any(one.search(failure["cause"]) for one in KNOWN)
    ]
    assert not failures


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize(("lake", "role", "name"), CHOSEN)
def test_what_is_no_file(lake: str, role: str, name: str, walker: Walker) -> None:
    check(walker, lake, FILES[lake][role], PLACES[name])


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("lake", FILES)
@pytest.mark.parametrize("name", BESIDE)
def test_what_is_beside_a_file(lake: str, name: str, walker: Walker) -> None:
    if name.endswith("-time") and not os.access("/dev/shm", os.W_OK):
        pytest.skip("no file system in memory, and others do not hold such times")
    check(walker, lake, FILES[lake]["data"], {"do": "beside", **BESIDE[name]})
