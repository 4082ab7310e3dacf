"""Ladders: readers of at most a hundred lines pass every step, and each step catches what its readers get wrong."""

from __future__ import annotations

import importlib
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import UnknownName
from tests.support import LAKES

HERE = Path(__file__).parent / "references"
FORMATS = ("iceberg", "paimon", "hive")
# ruff: noqa: E501
#: Of each format and step what is changed in the reference, so that the step has to fail.
MUTANTS: dict[str, dict[int, list[tuple[str, str]]]] = {
    "iceberg": {
        1: [
            ('self.place / recorded.removeprefix(self.metadata["location"]).lstrip("/")', "Path(recorded)"),
            ("max(names,", "min(names,"),
            ('return [opened.locate(file["file_path"]) for', 'return [file["file_path"] for'),
            ('return [opened.locate(file["file_path"]) for _, file in opened.list_entries() if file["content"] == 0]',
             'return list((opened.place / "data").rglob("*.parquet"))'),
            ('for line in self.read_avro(snapshot["manifest-list"]):', 'for line in self.read_avro(snapshot["manifest-list"])[1:]:'),
        ],
        2: [
            ('if entry["status"] != 2:', "if True:"),
            ('if file["content"] == 0]', "]"),
            ('if file["content"] == 0]', 'if file["content"] != 1 or True]'),
            ('for line in self.read_avro(snapshot["manifest-list"]):', 'for line in self.read_avro(snapshot["manifest-list"])[:1]:'),
        ],
        3: [
            ("row = convert(line, schema, stored.schema)", "row = line"),
            ('{field["name"]: at and convert(value[at.name], field["type"], at.type) for field, at in found}',
             '{field["name"]: value.get(field["name"]) for field in kind["fields"]}'),
            ('return [convert(element, kind["element"], stored.value_type) for element in value]', "return value"),
            ('return {key: convert(held, kind["value"], stored.item_type) for key, held in dict(value).items()}', "return dict(value)"),
            ('each["schema-id"] == self.metadata["current-schema-id"]', 'each["schema-id"] == 0'),
        ],
        4: [
            ('(number, {line["pos"]})', '(number, {line["pos"] - 1})'),
            ('elif file["content"] == 1:', 'elif file["content"] == 9:'),
            ("if position not in deleted and", "if"),
            ('gone.setdefault(line["file_path"], []).append', "gone.setdefault(None, []).append"),
        ],
        5: [
            ("number < least and", ""),
            ('elif file["content"] == 2:', 'elif file["content"] == 9:'),
            ('(part == file["partition"] or not part) and', ""),
            ('number = line["sequence_number"] if number is None else number', "number = number or 0"),
            ("and not any(by_value)", ""),
        ],
        6: [
            ('if file["content"] == 1 and file["file_format"].lower() == "puffin":', 'if file["file_format"].lower() == "puffin":\n            pass\n        elif False:'),
            ("BitMap64.deserialize(blob[8:-4])", "position + 1 for position in BitMap64.deserialize(blob[8:-4])"),
            ("blob[8:-4]", "blob[4:-4]"),
            ('file["referenced_data_file"], []).append', 'file["file_path"], []).append'),
        ],
        7: [
            ("if branch is not None:", "if False:"),
            ('self.metadata["refs"][branch]["snapshot-id"]', 'self.metadata["snapshots"][-1]["snapshot-id"]'),
            ('self.metadata["refs"][branch]["snapshot-id"]', 'self.metadata["snapshots"][0]["snapshot-id"]'),
        ],
    },
    "paimon": {
        1: [
            ('lists=("baseManifestList", "deltaManifestList")', 'lists=("baseManifestList",)'),
            ('lists=("baseManifestList", "deltaManifestList")', 'lists=("deltaManifestList",)'),
            ("bucket-{entry['_BUCKET']}", "bucket-0/0"),
        ],
        2: [
            ('entry if entry["_KIND"] == 0 else None', "entry"),
            ('live[key] = entry if entry["_KIND"] == 0 else None', 'live[key] = entry if entry["_KIND"] == 0 else live[key]'),
        ],
        3: [
            ("{max(numbers)}", "{Path(table, 'snapshot', 'LATEST').read_text()}"),
        ],
        4: [
            ("start = (len(kinds) + 8 + 63) // 64 * 8", "start = 4 + (len(kinds) + 8 + 63) // 64 * 8"),
            ('"little", signed=True', '"big", signed=True'),
            ("row = data[4:]", "row = data"),
            ('("_MIN_KEY", "_MAX_KEY")', '("_MAX_KEY", "_MIN_KEY")'),
            ('("_MIN_KEY", "_MAX_KEY")', '("_MIN_KEY", "_MIN_KEY")'),
        ],
        5: [
            ('line.get(names.get(field["id"]))', 'line.get(field["name"])'),
            ("{file['_SCHEMA_ID']}", "{snapshot['schemaId']}"),
            ("schema-{file['_SCHEMA_ID']}", "schema-0"),
        ],
        6: [
            ("if kind in (0, 2)]", "]"),
            ("if kind in (0, 2)]", "if kind != 1]"),
            ("max(newest.get(key, (-1,)), (number, kind, row), key=lambda held: held[0])", "newest.get(key, (number, kind, row))"),
            ('tuple(line[name] for name in schema["primaryKeys"]) or (file["_FILE_NAME"], position)', '(file["_FILE_NAME"], position)'),
        ],
        7: [
            ('if position not in vectors.get(file["_FILE_NAME"], ()):', "if True:"),
            ('part["f1"] + 8 :', 'part["f1"] + 9 :'),
            ('if marked and schema["primaryKeys"] and file["_LEVEL"] == 0:', 'if marked and schema["primaryKeys"] and file["_LEVEL"] > 0:'),
            ("return Path(table).joinpath(*parts,", "return Path(table).joinpath("),
        ],
        8: [
            ('("+I", "-U", "+U", "-D")', '("+I", "+U", "-U", "-D")'),
            ('("changelogManifestList",)', '("deltaManifestList",)'),
        ],
    },
    "hive": {
        1: [('part[0] in "._"', "False"), ('rglob("*")', 'rglob("*.orc")')],
        2: [("unquote(value)", "value"), ("{**row, **values}", "row")],
        3: [
            ('any(part[0] in "._" for part in path.parts)', 'path.name[0] in "._"'),
            ('part[0] in "._"', 'part[0] == "_"'),
            ('part[0] in "._"', 'part[0] == "." or part.startswith("_S")'),
        ],
        4: [
            ('None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)', "unquote(value)"),
            ('None if value == "__HIVE_DEFAULT_PARTITION__" else', '"" if value == "__HIVE_DEFAULT_PARTITION__" else'),
        ],
    },
}  # fmt: skip
LISTED = [
    (format, step, number)
    for format, steps in MUTANTS.items()
    for step, mutants in steps.items()
    for number in range(len(mutants))
]


def change(format: str, step: int, number: int) -> dict[str, Any]:
    """The functions of a reference in which something is changed."""
    old, new = MUTANTS[format][step][number]
    source = (HERE / f"{format}.py").read_text()
    changed = re.sub(r"\s+".join(map(re.escape, old.split())), lambda _: new, source)
    assert changed != source, old
    namespace: dict[str, Any] = {}
    exec(compile(changed, f"{format}.py", "exec"), namespace)  # noqa: S102
    return namespace


@pytest.mark.parametrize("format", FORMATS)
def test_a_reader_of_a_hundred_lines_passes_every_step(format: str) -> None:
    path = HERE / f"{format}.py"
    assert sum(bool(line.strip()) for line in path.read_text().splitlines()) <= 100
    climb = ll.ladder(format).run(path)
    assert climb, climb
    assert climb.passed == climb.total == len(MUTANTS[format]) and "are passed" in repr(climb)
    assert ll.ladder(format).run(importlib.import_module(f"tests.practice.references.{format}"))


@pytest.mark.exhaustive(keep=15)
@pytest.mark.parametrize(("format", "step", "number"), LISTED)
def test_a_step_catches_the_readers_that_get_it_wrong(format: str, step: int, number: int) -> None:
    climb = ll.ladder(format).run(change(format, step, number))
    assert climb.step is not None and climb.step.number == step, climb
    assert climb.table == climb.step.sample and climb.rule and climb.difference
    shown = climb.to_text()
    assert climb.table in shown and climb.rule[:30] in shown.replace("\n", " ") and "Traceback" not in shown


def test_a_difference_names_the_row_and_the_file_that_holds_it() -> None:
    climb = ll.ladder("iceberg").run(change("iceberg", 4, 2))
    table = ll.sample(climb.table)
    assert climb.difference.startswith('the row {"') and climb.difference.endswith("is too many")
    assert climb.file in {
        Path(file.path).relative_to(table.location).as_posix() for file in table.files.where(content="data")
    }
    climb = ll.ladder("iceberg").run(change("iceberg", 2, 0))
    assert "is no live data file" in climb.difference and climb.file.startswith("data/")
    climb = ll.ladder("paimon").run(change("paimon", 4, 1))
    assert climb.difference.startswith("of `data-") and climb.file.startswith("bucket-0/data-")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("asks", ["files", "keys", "rows", "changes"])
def test_an_empty_and_a_wrong_reader_get_a_next_step(format: str, asks: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    for text, said in (
        ("", "there is no function"),
        ("def files(table)\n", "mine.py cannot be run: SyntaxError: expected ':' (mine.py, line 1) (line 1)"),
        ("import nothing_of_that_name\n", "mine.py cannot be run: ModuleNotFoundError"),
        (f"def {asks}(table):\n    return None\n", ""),
        (f"def {asks}(table):\n    return 7\n", ""),
        (f"def {asks}(table):\n    return [None, 3, {{}}]\n", ""),
        (f"def {asks}(table):\n    rows = []\n    return rows[3]\n", ""),
        (f"def {asks}():\n    return []\n", ""),
        (f"def {asks}(table):\n    yield 1 / 0\n", ""),
        (f"{asks} = 5\n", "there is no function"),
    ):
        path.write_text(text)
        climb = ll.ladder(format).run(path)
        assert not climb and climb.step is not None and climb.step.number == 1
        assert said in climb.difference and len(climb.difference) > 15, (text, climb)
        if climb.step.asks == asks and "rows[3]" in text:
            assert climb.difference.endswith("raised IndexError: list index out of range (line 3)")
    for mine in (None, 5, object(), {}, tmp_path / "nowhere.py"):
        assert ll.ladder(format).run(mine).passed == 0


def test_the_right_rows_are_those_of_the_engines() -> None:
    from tests.lakes import make_samples

    sources = {
        choice.name: choice.source
        for listed in vars(make_samples).values()
        if isinstance(listed, list | tuple)
        for choice in listed
        if isinstance(choice, make_samples.Choice)
    }
    known = json.loads((Path(ll.__file__).parent / "practice/ladder.json").read_text())
    # a compaction changes no row: what Paimon wrote then is what a reader sees in the snapshot before it
    merged, table = known.pop("paimon 3"), ll.sample("paimon")
    [compacted] = table.snapshot(4).files
    assert table.snapshot(4).operation == "COMPACT" and merged == [
        {name: row[name] for name in ("id", "name", "n")} for row in compacted.preview().to_pylist()
    ]
    for name, rows in known.items():
        sample, _, part = name.partition(" ")
        answered = json.loads((LAKES / sources[sample] / "answers.json").read_text())["rows"]
        assert rows == [row for row in answered if not part or row["dt"] is not None]


def test_a_branch_has_as_many_rows_as_the_engine_counted() -> None:
    table = ll.sample("iceberg-branches")
    counts = json.loads((LAKES / "spark/iceberg/v2-branches-and-tags/answers.json").read_text())[
        "row_count_at"
    ]
    audit = table.snapshot("audit")
    assert sum(file.record_count for file in audit.files) == counts[str(audit.id)]


def test_ladders_are_named_listed_and_kept() -> None:
    ladder = ll.ladder("Iceberg")
    assert [step.number for step in ladder.steps] == list(range(1, 8)) and ladder.steps[
        6
    ].call == "rows(table, branch='audit')"
    assert pickle.loads(pickle.dumps(ladder)).format == "iceberg"
    for step in ladder.steps:
        assert (
            step.title in ladder.to_text() and step.text.rstrip(".") == step.text and step.rule.endswith(".")
        )
    with pytest.raises(UnknownName, match="did you mean paimon"):
        ll.ladder("paimo")
