"""The conformance kit: our own formats and another package's conform, and what does not conform is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.registry import load_formats
from lakelens.model.table import Table
from lakelens.samples import unpack_table
from lakelens.testing import CHECKS, NotConforming, Subject, find_subjects, run_checks
from lakelens.testing.checks import find_control, list_faults
from tests.formats.test_foreign_format import write_ledger
from tests.support.ledger_format import LEDGER, Ledger, LedgerFile, LedgerSnapshot, Page

OURS = ("hive", "iceberg-branches", "paimon-tags")
CHECK = {str(check): check for check in CHECKS}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A packaged table of each format."""
    folder = tmp_path_factory.mktemp("samples")
    for name in OURS:
        unpack_table(name, folder)
    return folder


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a table of a format that another package brings, by its entry point."""
    packages = tmp_path / "site-packages"
    info = packages / "ledger_format-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ledger-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[lakelens.formats]\nledger = tests.support.ledger_format:LEDGER\n"
    )
    monkeypatch.syspath_prepend(packages)
    load_formats.cache_clear()
    write_ledger(tmp_path / "tables" / "shop")
    yield tmp_path / "tables"
    load_formats.cache_clear()


@pytest.mark.parametrize("name", OURS)
def test_our_formats_conform(samples: Path, name: str) -> None:
    assert run_checks(name.partition("-")[0], samples / name) == []


def test_a_format_of_another_package_conforms(ledger: Path) -> None:
    assert run_checks("ledger", ledger) == run_checks(LEDGER, ledger) == []


def test_subjects_are_the_tables_of_the_format_alone(samples: Path, ledger: Path) -> None:
    assert [str(one) for one in find_subjects("iceberg", samples)] == ["iceberg:iceberg-branches"]
    assert [str(one) for one in find_subjects("hive", samples)] == ["hive:hive"]
    with pytest.raises(NotConforming, match="no table of paimon is in"):
        find_subjects("paimon", ledger)
    with pytest.raises(LakeError, match="no format 'lodger' is installed"):
        find_subjects("lodger", ledger)


def spoil_sizes(patch: pytest.MonkeyPatch) -> None:
    before = LedgerFile.__init__

    def after(self: LedgerFile, *arguments: Any) -> None:
        before(self, *arguments)
        self.size_bytes += 1

    patch.setattr(LedgerFile, "__init__", after)


def repeat_snapshots(patch: pytest.MonkeyPatch) -> None:
    every = Ledger.list_snapshots
    patch.setattr(Ledger, "list_snapshots", lambda self: [*every(self), every(self)[-1]])


def read_all_when_opening(patch: pytest.MonkeyPatch) -> None:
    before = Ledger.__init__

    def after(self: Ledger, request: Any) -> None:
        before(self, request)
        assert len(self.table.files)

    patch.setattr(Ledger, "__init__", after)


def lose_pages(patch: pytest.MonkeyPatch) -> None:
    def attempt(self: TableAccess, read: Any, path: str, default: Any, *_: Any) -> Any:
        try:
            return read()
        except LakeError:
            return default

    patch.setattr(TableAccess, "attempt", attempt)


def raise_from_pages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TableAccess, "attempt", lambda self, read, *_: read())


def write_on_opening(patch: pytest.MonkeyPatch) -> None:
    before = Ledger.__init__

    def after(self: Ledger, request: Any) -> None:
        before(self, request)
        Path(self.location, "_seen").write_text("x")

    patch.setattr(Ledger, "__init__", after)


def take_everything(patch: pytest.MonkeyPatch) -> None:
    from lakelens.model.storage import Evidence

    patch.setattr(type(LEDGER), "detect", lambda self, place: Evidence("ledger", ("a directory",)))


def break_line(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LedgerSnapshot, "__repr__", lambda self: "two\nlines")


def mistake_status(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Page, "entries", property(lambda self: [SimpleNamespace(status="NEW")]))


PLANTED = {
    "its sizes are wrong": (spoil_sizes, "walks", "bytes, stored"),
    "a snapshot comes twice": (repeat_snapshots, "walks", "two snapshots have one id"),
    "a status is unknown": (mistake_status, "walks", "statuses"),
    "opening reads everything": (read_all_when_opening, "opens", "opening reads"),
    "a page is lost without a word": (lose_pages, "damage", "missing without a finding"),
    "a page's damage is raised": (raise_from_pages, "damage", "walking raises"),
    "it writes": (write_on_opening, "only_reads", "was changed"),
    "it takes everything": (take_everything, "recognises", "recognised for certain"),
    "a line is two": (break_line, "cards", "several lines"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_what_does_not_conform_is_named(planted: str, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, check, words = PLANTED[planted]
    table = ledger / "shop"
    plant(monkeypatch)
    with pytest.raises(NotConforming, match=words):
        CHECK[check](Subject(LEDGER, str(table)))
    (said,) = run_checks(LEDGER, table, [CHECK[check]])
    assert said.startswith(f"ledger:shop {check}: NotConforming: ")


def test_an_exception_of_the_format_is_named_too(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "refs", property(lambda self: 1 / 0))
    assert run_checks(LEDGER, ledger, [CHECK["walks"]]) == [
        "ledger:shop walks: ZeroDivisionError: division by zero"
    ]


@pytest.mark.parametrize(
    ("markup", "faults"),
    [
        ("<p>a &lt;script&gt;</p>", 0),
        ("<script>f()</script>", 1),
        ("<p onclick='f()'>a</p>", 1),
        ("<a href='https://lake.example'>a</a><a href='#b'>b</a>", 0),
        ("<a href='javascript:f()'>a</a>", 1),
        ("<iframe src='//x'></iframe>", 2),
        ("<img src='data:image/svg+xml;base64,PHN2Zz48Zy8+PC9zdmc+'>", 0),
        ("<img src='data:image/svg+xml;base64,PHN2Zz48c2NyaXB0Lz48L3N2Zz4='>", 1),
    ],
)
def test_markup_that_acts_is_a_fault(markup: str, faults: int) -> None:
    assert len(list_faults(markup)) == faults


def test_characters_that_act_on_a_terminal_are_found() -> None:
    assert [find_control(text) for text in ("a\n\tb", "a\x1b[0m", "\x9b31m", "\r")] == [
        None,
        "\x1b",
        "\x9b",
        "\r",
    ]


def test_every_check_says_what_it_asks_for() -> None:
    assert len({str(check) for check in CHECKS}) == len(CHECKS) >= 10
    assert all(check.words.endswith(".") for check in CHECKS)
    page = Path(ll.__file__).parent.parent / "docs" / "testing.md"
    missing = [str(check) for check in CHECKS if f"`{check}`" not in page.read_text("utf-8")]
    assert not missing
