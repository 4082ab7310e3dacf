"""Plant the best layout of twenty Iceberg tables by arithmetic on their rows, before `advise` sees any of them.

    python tests/lakes/layouts/fresh.py SEED

writes `fresh.tar.xz` (the tables, by PyIceberg) and `fresh.json`: what each is asked how often, the bytes of a file, and the
layouts that are planted; a curve is the same in either order of its columns, and a partition without an order is in that
of its column. A referee that knows nothing of lakelens plants them: it puts the rows themselves in each order, cuts them
into as many files as there are to be, encodes those as Parquet, and counts the bytes of those whose least and greatest
values, or whose partition, a predicate leaves. A layout has at most as many partitions as files. The plant is the layout
that saves most, with those that save at least 97 % as much; it is empty (leave the table) where no layout saves more bytes
than the table has, or a tenth of what is read today.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/fresh")
BATCHES = 12
FILES = 12
ROWS = 12_000
FEW = 40
#: what a referee writes a layout as: the partition field, how rows are put in order, and by what
Key = tuple[str, str, tuple[str, ...]]
#: a column, the least and the greatest value that are asked for
Span = tuple[str, Any, Any]


@dataclass(frozen=True)
class Case:
    """A table: its rows, by what it is partitioned, and what it is asked how often."""

    columns: dict[str, Any]
    asked: list[tuple[int, list[Span]]]
    partitioned: str = ""
    files: int = FILES


def draw_cases(seed: int) -> dict[str, Case]:
    """Draw the tables: twenty shapes, whose numbers are those of the seed."""
    rng = np.random.default_rng(seed)
    count = ROWS

    def ints(most: int) -> Any:
        return rng.integers(0, most, count)

    def skewed(most: int) -> Any:
        return np.minimum((rng.pareto(1.2, count) * most / 40).astype(np.int64), most - 1)

    def names(stem: str, many: int) -> Any:
        return np.array([f"{stem}{number:03d}" for number in rng.integers(0, many, count)])

    def at(spread: int) -> Any:
        seconds = 1_767_225_600 + np.arange(count) * 180 + rng.integers(0, spread, count)
        return seconds.astype("datetime64[s]")

    def some(column: Any, share: float = 0.0) -> tuple[Any, Any]:
        ordered = np.sort(column)
        low = int(rng.uniform(0.1, 0.85) * count)
        return ordered[low], ordered[min(low + int(share * count), count - 1)]

    def span(name: str, columns: dict[str, Any], share: float = 0.0) -> Span:
        return (name, *some(columns[name], share))

    cases: dict[str, Case] = {}

    def add(name: str, columns: dict[str, Any], asked: Any, **given: Any) -> None:
        wanted = [
            (often, [span(column, columns, share) for column, share in spans]) for often, spans in asked
        ]
        cases[name] = Case(columns, wanted, **given)

    serial = np.arange(count)
    same = np.full(count, 7)
    base = ints(50_000)
    near = base // 10 + rng.integers(0, 12, count)
    add("point", {"id": serial, "k": ints(4000), "v": ints(900)}, [(70, [("k", 0)])])
    add(
        "narrow",
        {"id": serial, "w": ints(9000) / 7.0, "k": ints(500)},
        [(40, [("w", 0.04)]), (3, [("k", 0)])],
    )
    add(
        "texts",
        {"id": serial, "who": names("u", 600), "v": ints(90)},
        [(50, [("who", 0)]), (30, [("who", 0.05)])],
    )
    add(
        "boxes",
        {"x": ints(65_536), "y": ints(65_536)},
        [(40, [("x", 0.2), ("y", 0.2)]), (20, [("x", 0.15)]), (20, [("y", 0.15)])],
        files=16,
    )
    add(
        "floats",
        {"x": rng.uniform(100, 200, count), "y": rng.uniform(100, 200, count)},
        [(30, [("x", 0.18), ("y", 0.18)]), (30, [("y", 0.1)])],
    )
    add(
        "kinds",
        {"kind": names("t", 6), "n": ints(20_000), "id": serial},
        [(60, [("kind", 0), ("n", 0.1)])],
    )
    add(
        "two_often",
        {"a": ints(3000), "b": ints(3000), "id": serial},
        [(200, [("a", 0)]), (12, [("b", 0)])],
    )
    add(
        "two_dear",
        {"a": ints(3000), "b": ints(3000), "id": serial},
        [(10, [("a", 0.3)]), (90, [("b", 0.02)])],
    )
    add(
        "constant",
        {"c": same, "n": ints(7000), "id": serial},
        [(40, [("c", 0)]), (30, [("c", 0), ("n", 0.02)])],
    )
    add("skew", {"s": skewed(5000), "n": ints(800), "id": serial}, [(60, [("s", 0.02)])])
    add(
        "related",
        {"base": base, "near": near, "id": serial},
        [(50, [("base", 0.03)]), (50, [("near", 0.03)])],
    )
    add("arrival", {"at": at(600), "host": ints(150)}, [(90, [("at", 0.05)])], files=12)
    add(
        "regions",
        {"region": np.array(["e", "n", "s", "w"])[serial * 4 // count], "w": rng.uniform(0, 1, count)},
        [(60, [("region", 0)])],
        partitioned="region",
    )
    add("seldom", {"k": ints(9000), "id": serial}, [(1, [("k", 0)])])
    add("alone", {"k": ints(9000), "w": rng.uniform(0, 1, count)}, [(80, [("k", 0)])], files=1)
    moment = (1_767_225_600 + rng.integers(0, 6 * 86_400, count)).astype("datetime64[s]")
    add("days", {"moment": moment, "host": ints(70), "v": ints(9000)}, [(60, [("moment", 0.12)])])
    add(
        "codes",
        {"code": skewed(8), "v": ints(90_000)},
        [(50, [("code", 0)]), (50, [("code", 0), ("v", 0.05)])],
    )
    add("late", {"at": at(60), "k": ints(2000)}, [(30, [("at", 0.03)]), (150, [("k", 0)])])
    add("late_seldom", {"at": at(60), "k": ints(2000)}, [(400, [("at", 0.03)]), (5, [("k", 0)])])
    add(
        "both",
        {"who": names("w", 400), "n": ints(30_000)},
        [(60, [("who", 0)]), (60, [("n", 0.05)])],
    )
    return cases


# --- the referee -------------------------------------------------------------------------------------------------------


def spread(column: Any) -> Any:
    """Write values as whole numbers without a sign in their order, as curves take them."""
    if column.dtype.kind == "f":
        return column.astype(np.float64).view(np.uint64) | np.uint64(1 << 63)  # none is below zero
    if column.dtype.kind == "U":
        return np.array(
            [int.from_bytes(text.encode()[:8].ljust(8, b"\0"), "big") for text in column], np.uint64
        )
    return column.astype(np.int64).view(np.uint64) ^ np.uint64(1 << 63)


def weave(columns: list[Any]) -> list[Any]:
    """Weave the bits of columns: the keys of a z-order, the first the first."""
    bits = [(column >> np.uint64(63 - place)) & np.uint64(1) for place in range(64) for column in columns]
    keys = []
    for begin in range(0, len(bits), 63):
        key = np.zeros(len(bits[0]), np.uint64)
        for bit in bits[begin : begin + 63]:
            key = (key << np.uint64(1)) | bit
        keys.append(key)
    return keys


def part(columns: dict[str, Any], term: str) -> Any:
    """Say of each row in which partition it is."""
    name = term.rpartition(" ")[2].rstrip(")").rpartition("(")[2]
    column = columns[name]
    if term.startswith("day("):
        return column.astype("datetime64[D]").astype(np.int64)
    if term.startswith("bucket("):
        many = int(term[7:].partition(",")[0])
        _, numbers = np.unique(column, return_inverse=True)
        return (numbers * 2_654_435_761 % 1_000_003) % many
    return np.unique(column, return_inverse=True)[1]


def list_keys(case: Case) -> Iterator[Key]:
    """List the layouts that a referee tries."""
    for name in case.columns:
        yield "", "sort", (name,)
    for pair in permutations(case.columns, 2):
        yield "", "sort", pair
        yield "", "zorder", pair
    for name, column in case.columns.items():
        terms = []
        if column.dtype.kind == "M":
            terms.append(f"day({name})")
        elif len(np.unique(column)) <= FEW:
            terms.append(name)
        elif any(spans and low == high for _, spans in case.asked for at, low, high in spans if at == name):
            terms += [f"bucket({many}, {name})" for many in (2, 4, 8, 16)]
        for term in terms:
            if len(np.unique(part(case.columns, term))) > case.files:
                continue
            yield from ((term, "sort", (inner,)) for inner in case.columns if term != case.partitioned)


def cut(case: Case, key: Key) -> list[Any]:
    """Put the rows in order, and cut them into files: the numbers of the rows of each."""
    term, strategy, names = key
    keys = [case.columns[name] for name in names]
    keys = weave([spread(column) for column in keys]) if strategy == "zorder" else keys
    parts = (
        part(case.columns, term or case.partitioned) if term or case.partitioned else np.zeros(ROWS, np.int64)
    )
    order = np.lexsort([*keys[::-1], parts])
    places = (np.arange(1, case.files) * ROWS // case.files).tolist()
    firsts = [np.concatenate([[True], column[order][1:] != column[order][:-1]]) for column in [parts, *keys]]
    fresh = np.flatnonzero(np.any(firsts, axis=0))
    # Spark ends no range within equal keys
    ends = {int(fresh[min(np.searchsorted(fresh, place), len(fresh) - 1)]) for place in places}
    ends |= set(np.flatnonzero(np.diff(parts[order])).astype(int) + 1)
    return np.split(order, sorted(ends - {0}))


def count_bytes(case: Case, files: list[Any], term: str) -> tuple[int, int]:
    """Count the bytes that all queries read of files, and those that they take."""
    sizes, total = [], 0
    ends = [{name: np.sort(column[rows])[[0, -1]] for name, column in case.columns.items()} for rows in files]
    for rows in files:
        sink = pa.BufferOutputStream()
        held = pa.table({name: as_arrow(column[rows]) for name, column in case.columns.items()})
        pq.write_table(held, sink, compression="zstd", compression_level=3)
        sizes.append(sink.getvalue().size)
    for often, spans in case.asked:
        for rows, size, end in zip(files, sizes, ends, strict=True):
            is_read = all(end[name][0] <= high and end[name][1] >= low for name, low, high in spans)
            if is_read and term.startswith("bucket("):
                asked = [
                    low for name, low, high in spans if name == term[:-1].rpartition(" ")[2] and low == high
                ]
                whole = part(case.columns, term)
                name = term[:-1].rpartition(" ")[2]
                is_read = all(whole[case.columns[name] == value][0] == whole[rows[0]] for value in asked)
            total += often * size * is_read
    return total, sum(sizes)


def plant(case: Case) -> dict[str, Any]:
    """Plant the best layouts of a table."""
    step = ROWS // (1 if case.files == 1 else BATCHES)
    parts = part(case.columns, case.partitioned) if case.partitioned else np.zeros(ROWS, np.int64)
    files = [np.arange(begin, begin + step) for begin in range(0, ROWS, step)]
    files = [rows[parts[rows] == value] for rows in files for value in np.unique(parts[rows])]
    today, size = count_bytes(case, files, case.partitioned)
    saved = {key: today - count_bytes(case, cut(case, key), key[0])[0] for key in list_keys(case)}
    best = max(saved.values())
    pays = best > max(size, 0.1 * today)
    order = sorted(saved, key=lambda key: -saved[key])
    return {
        "best": [write_key(key) for key in order if pays and saved[key] >= 0.97 * best],
        "today": today,
        "size": size,
        "saved": {" ".join([*filter(None, key[:2]), *key[2]]): saved[key] for key in order[:5]},
    }


def write_key(key: Key) -> dict[str, list[str]]:
    """Write a layout by the options of `lakelens.Layout`."""
    term, strategy, names = key
    return {**({"partition_by": [term]} if term else {}), f"{strategy}_by": list(names)}


# --- the tables --------------------------------------------------------------------------------------------------------


def as_arrow(column: Any) -> pa.Array:
    """Make a column of Arrow's."""
    return (
        pa.array(column.astype("datetime64[us]"), pa.timestamp("us", "UTC"))
        if column.dtype.kind == "M"
        else pa.array(column)
    )


def say(value: Any) -> str:
    """Write a value in SQL."""
    if isinstance(value, np.datetime64):
        return f"'{str(value).replace('T', ' ')}'"
    return f"'{value}'" if isinstance(value, str) else str(value.item())


def ask(spans: list[Span]) -> str:
    """Write a predicate in SQL."""
    return " AND ".join(
        f"{name} = {say(low)}" if low == high else f"{name} >= {say(low)} AND {name} <= {say(high)}"
        for name, low, high in spans
    )


def write_table(catalog: Any, name: str, case: Case) -> Any:
    """Write a table in batches, in the order of its rows."""
    rows = pa.table({column: as_arrow(values) for column, values in case.columns.items()})
    table = catalog.create_table(f"lakes.{name}", rows.schema)
    if case.partitioned:
        with table.update_spec() as update:
            update.add_identity(case.partitioned)
    step = ROWS // (1 if case.files == 1 else BATCHES)
    for begin in range(0, ROWS, step):
        table.append(rows.slice(begin, step))
    return table


def strip(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take out of an archive what is of this machine."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def main(arguments: list[str]) -> int:
    """Plant, and write the tables."""
    from pyiceberg.catalog.sql import SqlCatalog

    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    catalog = SqlCatalog("lakes", uri=f"sqlite:///{ROOT}/catalog.db", warehouse=f"file://{ROOT}")
    catalog.create_namespace("lakes")
    planted = {}
    with tarfile.open(HERE / "fresh.tar.xz", "w:xz", preset=9) as archive:
        for name, case in draw_cases(int(arguments[0])).items():
            table = write_table(catalog, name, case)
            place = Path(table.location().removeprefix("file://"))
            for path in sorted(path for path in place.rglob("*") if path.is_file()):
                archive.add(path, f"{name}/{path.relative_to(place)}", filter=strip)
            size = sum(task.file.file_size_in_bytes for task in table.scan().plan_files())
            asked = {ask(spans): often for often, spans in case.asked}
            planted[name] = {"asked": asked, "target_file_size": size // case.files, **plant(case)}
            print(name, planted[name]["best"][:3], flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in planted.items())
    (HERE / "fresh.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")
    shutil.rmtree(ROOT, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[2]))
    sys.exit(main(sys.argv[1:]))
