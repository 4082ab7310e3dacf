"""The answers' pages: what they say is what the model answers, asked once, bounded, and harmless."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier
from typing import Any

import html5lib
import pytest

import lakelens as ll
from lakelens.analysis.check.check import check_table
from lakelens.answers.question import find_question
from lakelens.errors import LakeError
from lakelens.explorer import answers
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.offers import find_price
from lakelens.explorer.page import Form, Listing, Page, Redirect
from lakelens.explorer.pages.diff import NOTHING
from lakelens.explorer.place import Place
from lakelens.explorer.questions import ask_question
from lakelens.explorer.render import render_page
from lakelens.model.table import Table
from lakelens.model.warehouse.catalog import FoundTable
from lakelens.options import display
from lakelens.views.card.model import Card, Grid, Note
from tests.explorer.reading import Reader, read_column, read_text
from tests.support import LAKES
from tests.support.growth import grow_iceberg

SAMPLES = ("iceberg", "iceberg-evolution", "paimon", "paimon-branches", "hive")
LAKE_PATHS = ("spark/iceberg/v2-statistics", "spark/iceberg/v2-no-snapshot", "spark/paimon/schema-only")
TABLES = (*SAMPLES, *LAKE_PATHS)
MOST = 300_000
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Views that fail raise; and while a test runs a table is opened once, however the explorer keeps it."""
    opened: dict[str, Table] = {}
    open_table = FoundTable.open

    def open_once(found: FoundTable, *more: Any, **options: Any) -> Table:
        if found.path not in opened:
            opened[found.path] = open_table(found, *more, **options)
        return opened[found.path]

    monkeypatch.setattr(FoundTable, "open", open_once)
    with display.using(strict_views=True):
        yield


class Walk:
    """A table in an explorer, and its pages at the newest snapshot."""

    def __init__(self, location: str) -> None:
        self.explorer = Explorer(location)
        first = self.explorer.answer(Place(()))
        assert isinstance(first, Redirect)
        self.here = first.place
        self.table = ll.open(location)

    def ask(self, name: str, **asked: object) -> Page:
        """A page, which is shown and bounded."""
        page = self.explorer.answer(self.here.with_page(name, **asked))
        assert isinstance(page, Page)
        assert page.status == 200, (name, asked, self.read(page))
        return page

    def read(self, page: Page) -> str:
        """The text of a page."""
        markup = render_page(page)
        assert len(markup.encode()) <= MOST
        tree = html5lib.HTMLParser(namespaceHTMLElements=False).parse(markup)
        assert page.status != 200 or "ERROR, cannot be read" not in markup
        return " ".join("".join(tree.itertext()).split())

    def say(self, name: str, **asked: object) -> str:
        """The text of a page that is there."""
        return self.read(self.ask(name, **asked))


@cache
def walk(name: str) -> Walk:
    return Walk(ll.sample(name).location if name in SAMPLES else str(LAKES / name / "table"))


def find_column(table: Table) -> str:
    return next(leaf for leaf, _ in table.schema.leaves())


def list_pages(table: Table) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every page of an answer, with everything that can be asked of it."""
    where = f"{find_column(table)} IS NOT NULL"
    for part in (None, "added", "removed", "kept", "partitions", "manifests", "manifests_new", "metadata"):
        yield "diff", {"part": part}
        yield "diff", {"before": NOTHING, "part": part}
    for part in (None, "kept", "skipped"):
        yield "explain", {"where": where, "part": part}
    yield "explain", {"where": where, "row_groups": "yes"}
    for part in (None, "findings", "missing", "orphans", "young"):
        yield "check", {"run": "yes", "part": part}
        yield "space", {}
    yield "check", {"run": "yes", "data": "yes"}
    for part in ("slices", "by_ref", "by_snapshot"):
        yield "space", {"part": part}
    for part in (None, "columns", "schemas", "specs"):
        yield "schema", {"part": part}
    yield from (("schema", {"id": schema.id}) for schema in table.schemas if schema.id is not None)
    if len(table.files):
        for part in (None, "events", "kept_by"):
            yield "biography", {"path": table.files[0].path, "part": part}
    for part in (None, "versions"):
        yield "row", {"where": where, "part": part}
    for name in ("explain", "check", "health", "biography", "row", "refs", "findings"):
        yield name, {}


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("name", TABLES)
def test_every_page_of_an_answer_is_shown(name: str) -> None:
    shown = walk(name)
    for page, asked in list_pages(shown.table):
        assert shown.say(page, **asked)


def shorten(table: Any, path: object) -> str:
    """A path as addresses have it: below the table's directory."""
    return str(path).removeprefix(f"{table.location}/")


def test_a_diff_says_what_the_model_says_and_leads_to_its_neighbours() -> None:
    shown = walk("iceberg")
    ids = [snapshot.id for snapshot in shown.table.snapshots]
    diff = shown.table.diff(ids[1], ids[3])
    page = shown.ask("diff", before=ids[1], after=ids[3])
    text = shown.read(page)
    assert f"{len(diff.added)} files added" in text or f"{len(diff.added)} file added" in text
    assert diff.action in text
    markup = render_page(page)
    for before, after in ((ids[0], ids[1]), (ids[3], ids[4]), (ids[3], ids[1])):
        assert f"diff?before={before}&amp;after={after}" in markup
    for side in (ids[1], ids[3]):
        assert f"@{side}/" in markup
    for file in diff.added[:20]:
        assert f"file?path={shorten(shown.table, file.path)}" in markup.replace("%3D", "=")


def test_a_diff_is_by_default_what_the_pinned_snapshot_changed() -> None:
    shown = walk("paimon")
    third = shown.table.snapshots[2]
    page = shown.explorer.answer(Place((), str(third.id), "diff"))
    assert isinstance(page, Page)
    assert f"from snapshot {third.parent_id} to snapshot {third.id}" in shown.read(page)
    (form,) = (part for part in page.parts if isinstance(part, Form))
    assert [field.value for field in form.fields] == [str(third.parent_id), str(third.id)]


def test_a_diff_whose_older_side_has_expired_says_so() -> None:
    shown = walk("spark/iceberg/v2-expired")
    oldest = shown.table.snapshots[0]
    assert oldest.parent_id is not None and not shown.table.has_snapshot(oldest.parent_id)
    text = shown.say("diff", before=oldest.parent_id, after=oldest.id)
    assert f"Snapshot {oldest.parent_id}, the parent of {oldest.id}, has expired" in text
    missing = shown.explorer.answer(shown.here.with_page("diff", before="123", after=oldest.id))
    assert isinstance(missing, Page)
    assert missing.status == 404


def test_a_large_diff_is_in_pages(tmp_path: Path) -> None:
    grown = Walk(str(grow_iceberg(tmp_path / "t", files=400, manifests=3)))
    text = grown.say("diff", before=NOTHING)
    assert len(render_page(grown.ask("diff", before=NOTHING)).encode()) <= 60_000
    page = grown.ask("diff", before=NOTHING, part="added")
    (listing,) = (part for part in page.parts if isinstance(part, Listing))
    files = grown.table.files
    assert f"0 to 49 of {len(files)} files" in listing.words
    assert "next 50" in {link.text for link in listing.pager}
    assert "added" in text
    last = grown.ask("diff", before=NOTHING, part="added", **{"from": 400})
    (end,) = (part for part in last.parts if isinstance(part, Listing))
    assert f"{len(files) - 1} of {len(files)}" in end.words


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive"])
def test_explain_says_what_the_model_says(name: str) -> None:
    shown = walk(name)
    found = shown.table.explain("id > 3")
    text = shown.say("explain", where="id > 3")
    kept = len(found.kept)
    assert f"Reads {kept} of {found.file_count} file" in text
    markup = render_page(shown.ask("explain", where="id > 3"))
    for file in found.kept[:20]:
        assert file.path.rsplit("/", 1)[-1] in re.sub("<[^>]+>", "", markup)
    assert 'value="id &gt; 3"' in markup


def test_explain_is_about_the_pinned_snapshot() -> None:
    shown = walk("iceberg")
    first = shown.table.snapshots[0]
    page = shown.explorer.answer(Place((), str(first.id), "explain", (("where", "id > 3"),)))
    assert isinstance(page, Page)
    found = shown.table.explain("id > 3", snapshot=first)
    assert found.file_count != shown.table.explain("id > 3").file_count
    assert f"Reads {len(found.kept)} of {found.file_count} file" in shown.read(page)


@pytest.mark.parametrize("page", ["explain", "row"])
def test_a_wrong_condition_is_marked_beside_the_form(page: str) -> None:
    shown = walk("iceberg")
    for where, wrong in (("id = 1 AND nmae = 'a'", "           ^^^^"), ("id >", "")):
        made = shown.ask(page, where=where)
        markup = render_page(made)
        assert isinstance(made.parts[0], Form)
        assert made.parts[0].fields[0].value == where
        assert wrong in markup
    assert "did you mean name?" in shown.say(page, where="nmae = 1")


def test_a_check_runs_only_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = tmp_path / "t"
    shutil.copytree(LAKES / "spark/iceberg/v2-merge-on-read/table", root)
    shown = Walk(str(root))
    ran: list[bool] = []
    check = check_table

    def count(table: Table, **asked: Any) -> Any:
        ran.append(asked["data"])
        return check(table, **asked)

    monkeypatch.setattr("lakelens.analysis.check.check.check_table", count)
    page = shown.ask("check")
    assert not ran
    price = find_price(shown.table)
    assert price.whole == sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    assert price.data == sum(path.stat().st_size for path in (root / "data").rglob("*") if path.is_file())
    forms = [part for part in page.parts if isinstance(part, Form)]
    assert [form.place.asked for form in forms] == [(("run", "yes"),), (("run", "yes"), ("data", "yes"))]
    text = shown.read(page)
    assert "reads about" in text
    assert "not run" in text
    own = check(shown.table, data=False)
    said = shown.say("check", run="yes")
    assert own.verdict.capitalize() in said
    assert f"{own.compared:,} figures compared" in said
    assert "Check everything" in said
    shown.say("check", run="yes", part="orphans")
    assert ran == [False], "once, whatever is shown of it"
    assert "Check everything" not in shown.say("check", run="yes", data="yes")
    assert ran == [False, True]


def test_damage_that_a_check_finds_is_listed_and_leads_to_its_place(tmp_path: Path) -> None:
    root = tmp_path / "t"
    shutil.copytree(LAKES / "spark/iceberg/v2-merge-on-read/table", root)
    gone = sorted(root.rglob("*.parquet"))[0]
    gone.unlink()
    shown = Walk(str(root))
    markup = render_page(shown.ask("check", run="yes"))
    assert "Damaged" in markup
    assert f"path={shorten(shown.table, gone)}" in markup.replace("%3D", "=")
    assert gone.name in re.sub("<[^>]+>", "", render_page(shown.ask("check", run="yes", part="missing")))
    findings = shown.say("findings")
    assert "ERROR" in findings
    assert "Looked at: " in findings


@pytest.mark.parametrize("name", TABLES)
def test_findings_always_say_three_things(name: str) -> None:
    shown = Walk(walk(name).table.location)
    for _ in range(2):
        text = shown.say("findings")
        assert "Looked at: " in text
        assert "Not looked at: " in text
        assert "no problem" not in text
        page = shown.ask("findings")
        (card,) = (part for part in page.parts if isinstance(part, Card))
        assert card.sentence
        shown.ask("check", run="yes")
    assert "figures compared" in shown.say("findings")


@pytest.mark.parametrize("name", SAMPLES)
def test_health_space_schema_and_refs_say_what_the_model_says(name: str) -> None:
    shown, table = walk(name), walk(name).table
    verdicts = table.health().format_verdicts()
    assert verdicts[:1].upper() + verdicts[1:] in shown.say("health")
    space = table.space()
    text = shown.say("space")
    assert f"{space.files:,} files" in text
    assert f"= {space.size_bytes:,} B listed" in text
    for column in table.schema.names:
        assert column in shown.say("schema")
    refs = shown.say("refs")
    for ref in table.refs:
        assert ref.name in refs
    for schema in table.schemas:
        if schema.id is not None:
            assert f"Schema {schema.id}" in shown.say("schema", id=schema.id)
    missing = shown.explorer.answer(shown.here.with_page("schema", id=999))
    assert isinstance(missing, Page)
    assert missing.status == 404


def test_health_is_that_of_the_pinned_snapshot() -> None:
    shown = walk("iceberg")
    first = shown.table.snapshots[0]
    page = shown.explorer.answer(Place((), str(first.id), "health"))
    assert isinstance(page, Page)
    own = shown.table.health(snapshot=first).format_verdicts()
    assert own != shown.table.health().format_verdicts()
    assert own[:1].upper() + own[1:] in shown.read(page)


@pytest.mark.parametrize("name", ["iceberg", "paimon"])
def test_lives_of_a_file_and_of_rows_say_what_the_model_says(name: str) -> None:
    shown, table = walk(name), walk(name).table
    file = table.snapshots[0].files[0]
    life = table.biography(file)
    text = shown.say("biography", path=file.path)
    assert all(event.what in text for event in life.events)
    by_name = shown.say("biography", path=file.path.rsplit("/", 1)[-1])
    assert all(event.what in by_name for event in life.events)
    rows = table.row("id = 2")
    said = shown.say("row", where="id = 2")
    assert rows.identity.words in said
    assert f"{len(rows.versions)} version" in said
    markup = render_page(shown.ask("row", where="id = 2"))
    for version in rows.versions:
        assert f"file?path={shorten(table, version.file)}" in markup.replace("%3D", "=")
    gone = shown.explorer.answer(shown.here.with_page("biography", path="no-such-file"))
    assert isinstance(gone, Page)
    assert gone.status == 404


def test_a_wrong_time_and_an_unknown_part_are_said() -> None:
    shown = walk("iceberg")
    assert "nonsense" in shown.say("space", before="nonsense")
    asked: tuple[tuple[str, dict[str, str]], ...] = (
        ("diff", {"part": "x"}),
        ("check", {"run": "yes", "part": "x"}),
        ("space", {"part": "x"}),
        ("schema", {"part": "x"}),
        ("biography", {"path": shown.table.files[0].path, "part": "x"}),
    )
    for name, wrong in asked:
        page = shown.explorer.answer(shown.here.with_page(name, **wrong))
        assert isinstance(page, Page)
        assert page.status == 404, name


def test_what_the_navigation_says_was_worked_out_before() -> None:
    table = ll.sample("iceberg")
    reads = table.reads.requests
    assert answers.peek_check(table) == "not run"
    assert answers.peek_health(table) == answers.peek_space(table) == "not run"
    assert table.reads.requests == reads
    asked: dict[str, dict[str, Any]] = {
        "check": {"data": False, "snapshots": "all"},
        "space": {"before": None},
        "health": {"snapshot": table.current},
    }
    check, space, health = (ask_question(table, find_question(name), asked[name]) for name in asked)
    words = {"act": "to act on", "watch": "to watch"}
    worst = next((verdict for verdict in words if health.verdicts[verdict]), None)  # type: ignore[index]
    assert worst is not None
    assert answers.peek_health(table) == f"{health.verdicts[worst]} {words[worst]}"  # type: ignore[index]
    assert answers.peek_space(table).endswith("KiB")
    assert str(round(space.size_bytes / 1024)) in answers.peek_space(table)
    assert answers.peek_check(table) == check.verdict == "sound"


def test_an_answer_is_worked_out_once_by_whoever_asks_first() -> None:
    table, made = ll.sample("hive"), list[int]()
    together = Barrier(8)

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    def ask(_: int) -> list[int]:
        together.wait()
        return answers.ask(table, "slow", make)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert made == [1]
    assert all(one is found[0] for one in found)
    for number in range(200):  # of what is asked only the last ones are kept
        answers.ask(table, number, lambda: [0])
    assert len(answers._answers_of(table)._kept) <= 32
    assert len(answers._answers_of(table)._locks) <= 32


def test_one_that_fails_is_worked_out_again() -> None:
    table = ll.sample("hive")

    def fail() -> None:
        raise LakeError("not now")

    with pytest.raises(LakeError):
        answers.ask(table, "x", fail)
    assert answers.ask(table, "x", lambda: 7) == 7


@pytest.mark.parametrize("page", ["explain", "row", "biography", "space", "diff", "schema", "check"])
def test_what_is_asked_is_never_markup(page: str) -> None:
    shown = walk("iceberg")
    names = ("where", "path", "before", "after", "part", "id", "q", "sort", "from", "run")
    for name in names:
        for asked in ({name: HOSTILE}, {name: HOSTILE, "run": "yes"}):
            answer = shown.explorer.answer(shown.here.with_page(page, **asked))
            assert isinstance(answer, Page)
            assert answer.status in (200, 404, 500)
            assert "<script>alert" not in render_page(answer)


def test_names_of_a_lake_are_never_markup(tmp_path: Path) -> None:
    root = tmp_path / "t" / "day=<img src=x onerror=alert(1)>"
    root.mkdir(parents=True)
    own = Path(ll.sample("hive").location)
    shutil.copy(next(own.rglob("*.parquet")), root / "<b>&'.parquet")
    shown = Walk(str(tmp_path / "t"))
    for name, asked in list_pages(shown.table):
        markup = render_page(shown.ask(name, **asked))
        assert "<img src=x" not in markup
        assert "<b>&'" not in markup


def test_notes_and_grids_of_a_page_lead_to_pages() -> None:
    """No list of an answer ends without a way to the rest of it."""
    shown = walk("iceberg")
    with display.using(max_rows=1):
        for name, asked in (("check", {"run": "yes"}), ("row", {"where": "id IS NOT NULL"}), ("space", {})):
            page = shown.explorer.answer(shown.here.with_page(name, **asked))
            assert isinstance(page, Page)
            for card in (part for part in page.parts if isinstance(part, Card)):
                for body in (*card.body, *(body for fold in card.folds for body in fold.body())):
                    if isinstance(body, Note) and body.text.startswith("…"):
                        assert body.target is not None
                    if isinstance(body, Grid) and body.more and body.how.startswith("space.by"):
                        assert body.target is not None


def test_a_finding_leads_to_the_figures_that_prove_it(tmp_path: Path) -> None:
    """A file that is too long is a finding; on the pages of findings its code leads to the line that compared lengths."""
    shutil.copytree(ll.sample("iceberg").location, tmp_path / "t")
    (file,) = sorted((tmp_path / "t").glob("data/*/*.parquet"))[:1]
    file.write_bytes(file.read_bytes() + b"x")
    reader = Reader(tmp_path / "t")
    reader.get("check", run="yes")
    page, _ = reader.get("findings")
    proving = {cell.text: cell.target for cell in read_column(page, "code")}
    target = proving["file-length"]
    assert target is not None
    shown, _ = reader.ask(reader.place("check").ask(**dict(target.asked)))
    assert [cell.text for cell in read_column(shown, "recorded")] == ["presence and length"]
    assert [cell.text for cell in read_column(shown, "differ")] == ["1"]
    _, overview = reader.get("")
    assert "findings of the check, with the figures that prove them" in read_text(overview)
