"""What the site is: every link leads somewhere, every example runs, and nothing of Markdown is left unread."""

from __future__ import annotations

import doctest
import json
import re
import tempfile
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

import lakelens as ll
from lakelens.answers.own import QUESTIONS
from lakelens.cli.commands import commands
from lakelens.tab.inside import Tab
from lakelens.views.describe import CARDS
from tests.site.built import Built
from website import course, reference, repository, shown
from website.lab import CHAPTERS

_UNREAD = re.compile(
    r"KEPT\d|\{\{|\{%|\| --- \||```|\]\([\w./#:-]+\)|<p>[^<]*\n[*-] |href=\"(?:tab|lab):|:::"
)
_CODE = re.compile(r"<(pre|code)\b.*?</\1>", re.DOTALL)


def test_every_link_anchor_and_picture_leads_somewhere(built: Built) -> None:
    assert list(built.find_faults()) == []
    assert len(built.pages) > 60


@cache
def open_tab(sample: str) -> Tab:
    return Tab(ll.sample(sample).location, f"sample/{sample}")


def test_every_way_into_the_tab_leads_to_a_page_of_it(built: Built) -> None:
    """Each fragment is asked of what answers in the browser, and follows to a page."""
    fragments = built.list_tab_links() - {""}
    assert len(fragments) > 50
    for fragment in sorted(fragments):
        kind, sample, address = fragment.split("/", 2)
        assert kind == "sample", fragment
        tab = open_tab(unquote(sample))
        said = json.loads(tab.answer(address))
        while "location" in said:
            said = json.loads(tab.answer(said["location"].split("/", 2)[2]))
        assert said["status"] == 200, fragment


def test_a_notebook_that_a_page_offers_to_run_is_one_that_runs_in_a_browser(built: Built) -> None:
    assert built.list_notebook_links() == {"00-start.ipynb"}  # the one chapter of this site
    for name in CHAPTERS:
        assert f"path={name}.ipynb" in course.write_page(name)


def test_no_markdown_is_left_unread(built: Built) -> None:
    for page in built.pages:
        if not page.startswith("one-insert/"):
            text = _CODE.sub("", (built.folder / page).read_text("utf-8"))
            found = _UNREAD.search(text)
            assert found is None, (page, text[max(0, found.start() - 80) : found.end() + 80])


def test_no_page_has_a_path_of_the_machine_that_made_it(built: Built) -> None:
    """A recorded location of the machine that wrote a sample may stand in it; where it is now may not."""
    own = re.compile(
        rf"{re.escape(tempfile.gettempdir())}/(?:<wbr>)?lakelens-|{re.escape(str(repository.ROOT))}"
    )
    assert [page for page in built.pages if own.search((built.folder / page).read_text("utf-8"))] == []


@pytest.mark.parametrize("name", ["qewdzx4i", "qewdz_<wbr>4i", "_<wbr>ab_<wbr>cd_<wbr>e"])
def test_the_place_of_a_sample_is_found_whatever_it_is_called(name: str) -> None:
    place = f"/tmp/<wbr>lakelens-<wbr>sample-<wbr>{name}/<wbr>iceberg"
    assert shown.PLACE.sub("warehouse", f"<code>{place}</code>") == "<code>warehouse/<wbr>iceberg</code>"


def test_every_question_and_verb_is_in_the_reference(built: Built) -> None:
    assert set(QUESTIONS) <= set(built.pages["reference/questions/index.html"].ids)
    assert set(commands.commands) <= set(built.pages["reference/verbs/index.html"].ids)


def test_every_public_name_is_in_the_reference(built: Built) -> None:
    anchors = {
        anchor for page, leads in built.pages.items() if page.startswith("reference/") for anchor in leads.ids
    }
    named = [name for name in ll.__all__ if name not in ("errors", "options", "samples", "spark")]
    assert [name for name in named if f"lakelens.{name}" not in anchors] == []


def test_the_gallery_has_a_card_of_each_kind() -> None:
    """Each module that draws cards draws one of the gallery."""
    drawn = {type(shown.run(entry["code"])).__mro__ for entry in reference.read_gallery().values()}
    names = {f"{kind.__module__}.{kind.__qualname__}" for kinds in drawn for kind in kinds}
    # what Spark writes, what a warehouse is asked, what is shown of other cards only, what is kept of the reader's own, and
    # what the command line alone gives
    elsewhere = {"cards.trace", "answers.survey", "cards.delete", "answers.guesses", "answers.evidence"}
    assert {module for module, kinds in CARDS.items() if not names & set(kinds)} <= elsewhere


def test_the_list_for_language_models_names_every_page(built: Built) -> None:
    text = (built.folder / "llms.txt").read_text("utf-8")
    listed = set(re.findall(r"\]\(([^)]+)\)", text))
    pages = {
        f"./{page.removesuffix('index.html')}" if page == "index.html" else page.removesuffix("index.html")
        for page in built.pages
        if not page.startswith("one-insert/")
    }
    assert listed == pages


def test_links_of_the_repository_lead_to_pages() -> None:
    """A page by its title where the words were its path, words where there is no page, and code as it is."""
    text = "[docs/spark.md](docs/spark.md) [base](lakelens/formats/base.py) `[x](docs/cli.md)` [y](https://example.org)"
    moved = repository.move_links(text, "README.md", "tasks/many.md")
    assert (
        moved == "[Files and entries on Spark](../spark.md) base `[x](docs/cli.md)` [y](https://example.org)"
    )
    both = '<source media="x" srcset="docs/pictures/file-dark.png"><img src="docs/pictures/file-light.png" alt="A">'
    moved = repository.move_links(f"<picture>{both}</picture>", "README.md", "index.md")
    assert moved == "![A](pictures/file-light.png#only-light) ![A](pictures/file-dark.png#only-dark)"
    with pytest.raises(KeyError):
        repository.cut_section("README.md", "No such heading")


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    """The checker finds a file, an anchor and a picture that are not there, another origin, and what is no address."""
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text(
        '<p id="here"><a href="a/">1</a><a href="a/#there">2</a><a href="#here">3</a><a href="tab/#sample/x/">4</a>'
        '<a href="https://example.org/x">5</a><img src="data:image/png;base64,x"></p>'
    )
    (tmp_path / "a" / "index.html").write_text('<p id="there"><a href="../">1</a></p>')
    assert list(Built(tmp_path).find_faults()) == []
    (tmp_path / "b.html").write_text(
        '<a href="no.html">1</a><a href="a/#no">2</a><img src="no.png"><a href="ftp://x">4</a><a href="/a/">5</a>'
        '<script src="https://example.org/x.js"></script><p style="background:url(//example.org/x)">7</p>'
    )
    said = list(Built(tmp_path).find_faults())
    assert len(said) == 7, said
    assert {fault.rsplit(": ", 1)[1] for fault in said} == {
        *("no such file", "no such anchor", "no address of the web", "another origin"),
        "the site may be below any path",
    }


def test_the_examples_of_the_makers_are_true() -> None:
    for module in (repository, shown, course, reference):
        assert doctest.testmod(module).failed == 0


def test_an_output_with_a_script_is_no_page() -> None:
    with pytest.raises(ValueError, match="script"):
        course.show_output({"data": {"text/html": "<p onclick=alert(1)>"}})
    kept = course.show_output({"data": {"text/html": "<style>p{}</style><p>onclick = 1</p>"}})
    assert "<style" not in kept and "onclick = 1" in kept
