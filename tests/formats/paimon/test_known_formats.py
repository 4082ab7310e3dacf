"""Tables whose files are of formats that lakelens knows and does not decode: named as what they are, never as damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import Unsupported
from lakelens.formats.paimon.roles import list_stored_files
from tests.support import LAKES
from tests.support.documents import read_document

HOME = LAKES / "pypaimon"
FORMATS = {
    "row": ("row", "Paimon's Row format"),
    "mosaic": ("mosaic", "Paimon's Mosaic format"),
    "lance": ("lance", "the Lance format"),
    "vortex": ("vortex", "the Vortex format"),
    "vector": ("lance", "the Lance format"),
    "nested": ("blob", "Paimon's blob format"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_says_what_it_is(name: str) -> None:
    kind, noun = FORMATS[name]
    table = ll.open(HOME / name / "table")
    files = [file for file in table.files if file.file_format == kind]
    assert files and not len(table.findings)
    for file in files:
        for ask in (file.preview, lambda file=file: file.footer):
            with pytest.raises(Unsupported, match=f"a file of {noun}: known, its rows are not decoded"):
                ask()
        view = file.bytes_view()
        view.check()
        assert kind in view.what.lower() and view.value
        assert f"{kind} (known, not decoded)" in str(file)
        page = file.to_text(2)
        assert kind in page and noun in page  # the footer's fold says it


@pytest.mark.parametrize("name", FORMATS)
def test_a_check_says_what_it_left_out(name: str) -> None:
    kind, noun = FORMATS[name]
    check = ll.open(HOME / name / "table").check(data=True)
    assert check.ok and check.verdict == "sound" and not len(check.missing) and not len(check.orphans)
    (gap,) = [gap for gap in check.not_looked_at if noun in gap.why]
    assert f"{kind} file" in gap.what and "does not decode it" in gap.why
    assert not any(found.code == "corrupt" for found in check.findings)


def test_rows_and_roles() -> None:
    table = ll.open(HOME / "row" / "table")
    assert table.current is not None and table.current.record_count == 3
    assert "a file of Paimon's Row format: known, its rows are not decoded" in str(table.row("id = 1"))
    roles = {file.relative_path.rpartition(".")[2]: file.role for file in list_stored_files(table)}
    assert roles["row"] == "data"
    roles = {file.relative_path: file.role for file in list_stored_files(ll.open(HOME / "vector" / "table"))}
    assert sorted(role for path, role in roles.items() if path.startswith("bucket-0")) == [
        "data",
        "vector data",
    ]


def test_the_bytes_of_a_file_alone(tmp_path: Path) -> None:
    for name in ("row", "mosaic", "lance", "vortex"):
        (path,) = (HOME / name / "table/bucket-0").iterdir()
        copied = tmp_path / "of-no-table"  # by its magic, without a name
        shutil.copyfile(path, copied)
        view = ll.explain_file(copied)
        assert view.what == f"{name.title()} file"
        assert read_document("bytes", str(path))["what"] == f"{name.title()} file"


def test_a_parquet_name_with_lance_inside(tmp_path: Path) -> None:
    shutil.copytree(HOME / "vector" / "table", tmp_path / "t")
    (lance,) = (tmp_path / "t/bucket-0").glob("*.lance")
    (parquet,) = (tmp_path / "t/bucket-0").glob("*.parquet")
    shutil.copyfile(lance, parquet)
    file = next(file for file in ll.open(tmp_path / "t").files if file.file_format == "parquet")
    with pytest.raises(Unsupported, match="the Lance format"):
        file.preview()
    gaps = ll.open(tmp_path / "t").check().not_looked_at
    assert any("footers of 1 data file" in gap.what and "Lance" in gap.why for gap in gaps)
