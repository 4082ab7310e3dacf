"""Lives of rows compared with what the engines read at every snapshot: of 1,000 keys and more, and of every kept table."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.life.rows import RowLife
from lakelens.errors import LakeError, Missing, Unsupported
from tests.support import LAKES
from tests.support.engine_lake import EngineLake
from tests.support.unpacked import unpack_archive

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

ARCHIVES = sorted(LAKES.glob("lives/*.tar.xz"))
_KEYS = 120
KEPT = [
    EngineLake(path.parent.name, path.parent)
    for place in ("spark/iceberg", "spark/paimon", "spark/hive")
    for path in sorted(LAKES.glob(f"{place}/*/answers.json"))
    if path.parent.name != "view"
]
KEPT = [one for n, one in enumerate(KEPT) if n % 4 == 0 or "types" in one.name or "evolution" in one.name]
KEPT += [
    EngineLake(path.parent.name, path.parent)
    for path in sorted(LAKES.glob("paimon-java/2.0.0-*/answers.json"))
    if "2.0.0-pk-" in str(path) and "types" not in path.parent.name
]
_ONLY_METASTORE = {
    *(
        "day-numbers",
        "dynamic-overwrite",
        "key-in-file",
        "partition-elsewhere",
        "partitioned",
        "static-insert",
    ),
    *("partitioned-by-types", "partitioned-hive-format"),
}
_UNREAD = {
    "csv",
    "json",
    "text",
    "v2-types-orc",
}  # by pyarrow: no format of columns, or times before 1677 in ORC
POSITIONS = [
    EngineLake(path.parent.name, path.parent) for path in sorted(LAKES.glob("spark/iceberg/*/positions.json"))
]


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A table of 300 keys, and the rows that the engine read at every snapshot."""
    place = unpack_archive(request.param, tmp_path_factory.mktemp("lives"))
    document = json.loads((place / "rows.json").read_text("utf-8"))
    table = ll.open(place / "table")
    keys = sample_keys(document)
    yield Asked(table, document, keys, table.row(f"id IN ({', '.join(map(str, keys))})"))
    shutil.rmtree(place)


@dataclass(frozen=True)
class Asked:
    """A table, what the engine read, and the lives of the sampled keys."""

    table: Any
    document: dict[str, Any]
    keys: list[int]
    life: RowLife


def sample_keys(document: dict[str, Any]) -> list[int]:
    found = {
        row[document["columns"][number].index("id")]
        for number, rows in document["rows"].items()
        for row in rows
    }
    return sorted(random.Random(7).sample(sorted(found), _KEYS))


def count_rows(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in rows)


def test_enough_keys_are_sampled() -> None:
    assert _KEYS * len(ARCHIVES) >= 1_000


def test_rows_equal_time_travel_at_every_snapshot(lake: Asked) -> None:
    document, keys, life = lake.document, lake.keys, lake.life
    assert not life.doubts
    wanted = set(keys)
    for number, rows in document["rows"].items():
        names = document["columns"][number]
        read = [
            row for row in (dict(zip(names, values, strict=True)) for values in rows) if row["id"] in wanted
        ]
        assert count_rows(life.at(int(number))) == count_rows(read), number


def test_versions_follow_each_other_without_a_gap(lake: Asked) -> None:
    """`since` and `until` say the same as what is seen at each snapshot; what ended a version is named."""
    life = lake.life
    main = life.past.lines[0].places
    times = {place: life.past.snapshot(place).committed_at for place in main}
    for version in life.versions:
        if version.branch:
            continue
        assert version.since is not None
        seen = {
            p
            for p in main
            if version.since <= times[p] and (version.until is None or times[p] < version.until)
        }  # type: ignore[operator]
        assert seen == version.places & set(main)
        assert version.end is None or version.end.kind in {
            *("position delete", "equality delete", "deletion vector", "overwrite", "file removed"),
            *("newer record", "delete record"),
        }
        assert version.end is None or str(version.end.snapshot_id) in version.end.how
    for one in life.lives:
        for before, after in zip(one.main, one.main[1:], strict=False):
            assert before.until is not None and after.since is not None
            assert before.until <= after.since


def test_a_version_is_where_it_says(lake: Asked) -> None:
    """The file of a version holds its key at its position."""
    table, life = lake.table, lake.life
    known: dict[str, Any] = {}
    for version in life.versions[::7]:
        if version.file not in known:
            file = next(f for s in table.snapshots for f in s.files if f.path == version.file)
            known[version.file] = file.preview(1_000)["id"].to_pylist()
        assert known[version.file][version.position] == version.values["id"]


def test_row_ids_lead_to_versions_that_do_not_fit(tmp_path: Path) -> None:
    """With row lineage a value that a row had for a while leads to its whole life."""
    unpack_archive(LAKES / "lives" / "iceberg-v3-merge-on-read.tar.xz", tmp_path)
    table = ll.open(tmp_path / "table")
    keys = [43, 59, 101, 122, 17, 3]
    lives = {
        (life.key, life.versions[0].values["id"]): life
        for life in table.row(f"id IN ({str(keys)[1:-1]})").lives
    }
    tried = 0
    for (key, _), whole in lives.items():
        for version in whole.versions:
            found = table.row(f"v = {version.values['v']} AND id < 200")
            same = next(life for life in found.lives if life.key == key)
            assert found.identity.kind == "row id"
            assert [(one.since, one.values, one.until) for one in same.versions] == [
                (one.since, one.values, one.until) for one in whole.versions
            ]
            tried += len(whole.versions) > 1
    assert tried > 5


# --- every kept table --------------------------------------------------------------------------------------------------


def list_live(life: RowLife, number: int) -> dict[str, set[int]]:
    """Where the rows of a snapshot are: by file as recorded, the positions."""
    place = next(p for p, state in enumerate(life.past.states) if state.snapshot.id == number)
    order = {one.snapshot.id: at for at, one in enumerate(life.past.states)}
    found: dict[str, set[int]] = {}
    for version in life.versions:
        if place in version.places:
            file, position = version.file, version.position
            for move in version.moves:
                if order[move.snapshot_id] <= place:
                    file, position = move.file, move.position
            found.setdefault(file.rsplit("/", 1)[-1], set()).add(position)
    return found


@pytest.mark.parametrize("kept", POSITIONS, ids=lambda kept: str(kept.name))
def test_rows_are_where_iceberg_reads_them(kept: EngineLake) -> None:
    live = json.loads((kept.path / "positions.json").read_text("utf-8"))["live"]
    table = ll.open(kept.table_path)
    if (table.current.record_count or 0) > 20_000:  # type: ignore[union-attr]
        pytest.skip("takes long")
    if table.refs.branches.keys() != ["main"]:
        pytest.skip("moves on several branches")
    life = table.row("TRUE")
    for number, files in live.items():
        if "error" in files or not table.has_snapshot(int(number)):
            continue
        read = {
            file.rsplit("/", 1)[-1]: {
                at
                for one in positions
                for at in (range(one[0], one[1] + 1) if isinstance(one, list) else [one])
            }
            for file, positions in files.items()
        }
        assert list_live(life, int(number)) == read, number


def plain(value: Any) -> Any:
    """A value as answers.json has it."""
    if isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat()
        return text + ("+00:00" if value.tzinfo else "")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return (
            "NaN"
            if value != value
            else str(value).replace("inf", "Infinity")
            if value in (1e400, -1e400)
            else value
        )
    if isinstance(value, dict):
        return {str(plain(key)): plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if isinstance(value, bool | int | str | None) else str(value)


def normalise(row: dict[str, Any]) -> dict[str, Any]:
    """Decimals as numbers: engines write the zeros after them in more than one way."""
    return {
        name: str(Decimal(held).normalize()) if name.startswith("dec") and held is not None else held
        for name, held in row.items()
    }


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: f"{kept.path.parent.name}-{kept.name}")
def test_the_rows_of_today_are_those_of_the_engine(kept: EngineLake) -> None:
    rows = kept.answers.get("rows")
    if not isinstance(rows, list) or len(rows) != kept.answers.get("row_count", len(rows)):
        pytest.skip("not recorded, or before the last commit")
    if kept.name in _ONLY_METASTORE:
        pytest.skip("only the metastore knows the partitions and their types")
    table = ll.open(kept.table_path)
    life = table.row("TRUE")
    if table.current is None:
        assert not life.lives
        return
    if kept.name in _UNREAD:
        assert life.doubts
        return
    assert not life.doubts
    assert count_rows([normalise(plain(row)) for row in life.at()]) == count_rows(list(map(normalise, rows)))


# --- what is asked wrongly, and what cannot be known -------------------------------------------------------------------


def test_the_first_and_the_last_of_a_row_are_named() -> None:
    life = ll.sample("paimon").row("id = 3")
    (one,) = life.lives
    assert [version.number for version in one.versions] == list(range(1, len(one.versions) + 1))
    assert life.identity.kind == "primary key"
    assert repr(life).startswith("<RowLife of paimon, id = 3: ")
    assert life.to_arrow().num_rows == len(life.versions)
    assert {"row", "since", "until", "ended_by", "file", "position", "id"} <= set(
        life.to_arrow().column_names
    )


def test_versions_that_do_not_fit_belong_to_the_row_where_it_has_a_key() -> None:
    table = ll.sample("paimon")
    by_key = {version.values["id"] for version in table.row("id IS NOT NULL").versions}
    some = next(version for version in table.row("id IS NOT NULL").versions if version.number > 1)
    name = next(one for one in some.changed if isinstance(some.values[one], str))
    life = table.row(f"{name} = '{some.values[name]}'")
    assert any(version.values[name] != some.values[name] for version in life.versions)
    assert {version.values["id"] for version in life.versions} <= by_key


def test_a_row_that_never_was() -> None:
    life = ll.sample("iceberg").row("id = -77")
    assert not life.lives
    assert "no such row" in repr(life)
    assert "No state that is left has such a row" in str(life)
    assert life.to_arrow().num_rows == 0


def test_what_cannot_be_asked_is_refused() -> None:
    table = ll.sample("iceberg")
    with pytest.raises(Missing):
        table.row("idd = 1")
    with pytest.raises(LakeError):
        table.row("id + 1 = 2")
    with pytest.raises(LakeError, match="are opened at most") as caught:
        table.row("TRUE", most_files=1)
    assert "most_files" in str(caught.value.hint)
    with pytest.raises(Unsupported):
        ll.open(LAKES / "spark" / "paimon" / "append" / "table").row("name LIKE '%x'")
    parts = ll.open(LAKES / "paimon-java" / "2.0.0-data-evolution" / "table").row("TRUE")
    assert any("put together" in doubt for doubt in parts.doubts)


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    file = next(one for one in table.files if one.content == "data")
    Path(file.path).unlink()
    life = ll.open(table.location).row("TRUE")
    assert life.doubts
    assert life.lives
    assert "Something may be missing" in str(life)


def test_hive_rows_have_no_history() -> None:
    life = ll.sample("hive").row("id IS NOT NULL")
    assert life.lives
    assert all(version.until is None for version in life.versions)
    assert "keeps no history" in str(life)


def test_rows_of_other_branches_are_not_there() -> None:
    table = ll.sample("iceberg-branches")
    life = table.row("TRUE")
    assert life.there == len(life.at())
    branches = {version.branch for version in life.versions}
    assert branches - {""}
    assert any(not one.main for one in life.lives) == (life.there < len(life.lives))
