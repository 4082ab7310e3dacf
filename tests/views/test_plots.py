"""Plots: axes with units, every file counted, many categories folded, names of the lake as words only."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient import NotebookClient

import lakelens as ll
from lakelens.analysis.shape import FileGroup, Moment
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.stats import Partition
from lakelens.views.render.plot import _PAIRS, LINE, MUTED, TEXT
from lakelens.views.render.plots import _draw_groups, _draw_growth, draw_panels
from tests.support import LAKES
from tests.support.fakes import FakeFile


def make_files(names: list[str]) -> FileSet:
    made: list[Any] = []
    for number, name in enumerate(names):
        found = FakeFile(lambda: "x")
        found.recorded_path = str(number)
        found.partition = Partition({"p": name}, {"p": name})
        made.append(found)
    return FileSet(lambda: made, FileColumns)


def read_texts(figure: Any) -> list[str]:
    return [
        text.get_text() for axes in figure.axes for text in (*axes.get_yticklabels(), *axes.texts, axes.title)
    ]


def test_every_file_is_in_the_histogram() -> None:
    files = ll.sample("iceberg").files
    sizes = files.plot().figure.axes[0]
    assert sum(bar.get_height() for bar in sizes.patches) == len(files)
    assert sizes.get_ylabel() == "files"


def test_buckets_show_levels() -> None:
    bucket = ll.sample("paimon").files.plot().figure.axes[-1]
    assert {text.get_text() for text in bucket.get_legend().get_texts()} == {"level 0", "level 5"}


def test_growth_reads_no_manifest() -> None:
    table = ll.sample("iceberg")
    before = table.reads.files
    figure = table.plot().figure
    assert table.reads.files == before
    assert [axes.get_ylabel() for axes in figure.axes] == ["live rows", "files", "bytes (binary units)"]


def test_a_hive_table_shows_its_files() -> None:
    assert ll.sample("hive").plot().figure.axes[0].get_ylabel() == "files"


def test_more_than_fifty_partitions_are_folded() -> None:
    figure = make_files([f"{i:04}" for i in range(300)]).plot().figure
    names = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert len(names) == 50
    assert names[-1] == "251 other partitions"


@pytest.mark.parametrize("name", ["$\\frac{1}{0}$", "\x1b[31m", "a\u202eb", "x" * 10_000, "<b>"])
def test_names_are_words(name: str) -> None:
    figure = make_files([name, "other"]).plot().figure
    figure.savefig(io.BytesIO(), dpi=40)  # mathematical text that cannot be read would raise here
    for text in read_texts(figure):
        assert len(text) < 80
        assert all(character.isprintable() for character in text)


def test_an_empty_set_has_a_plot() -> None:
    figure = make_files([]).plot().figure
    figure.savefig(io.BytesIO(), dpi=40)
    assert figure.axes[0].get_title(loc="left") == "0 files by size"


def test_a_plot_shows_itself_once_and_the_same_each_time() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    plot = ll.sample("iceberg").plot()
    data, metadata = InteractiveShell().display_formatter.format(plot)
    assert list(data) == ["text/plain", "text/html", "image/svg+xml", "image/png"]
    assert data["text/plain"] == repr(plot)
    assert metadata["image/png"] == {"width": 826, "height": 490}
    assert plot.to_svg() == data["image/svg+xml"] and plot.to_png() == data["image/png"]
    again = ll.sample("iceberg").plot()
    assert again.to_svg() == plot.to_svg(), "two figures of the same table"
    import matplotlib.pyplot as plt

    assert not plt.get_fignums(), "what pyplot does not know it does not show a second time"


def read_lightness(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def compare_lightness(one: str, other: str) -> float:
    low, high = sorted((read_lightness(one), read_lightness(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_is_seen_on_both_grounds() -> None:
    for mid, (light, dark) in _PAIRS.items():
        least = 4.0 if mid in (TEXT, MUTED, LINE) else 2.9
        assert min(compare_lightness(mid, "#ffffff"), compare_lightness(mid, "#111111")) >= least, mid
        if mid in (TEXT, MUTED):
            assert min(compare_lightness(light, "#ffffff"), compare_lightness(dark, "#111111")) >= 4.5, mid
    svg, png = ll.sample("paimon").files.plot().to_svg(), ll.sample("paimon").files.plot().to_png()
    assert "background" not in svg and "fill:light-dark(#1b1b1b,#e6e6e6)" in svg
    from PIL import Image

    assert Image.open(io.BytesIO(png)).getpixel((2, 2))[3] == 0, "no ground"


def test_the_style_that_a_reader_has_set_is_not_ours() -> None:
    import matplotlib as mpl

    plain = ll.sample("paimon").files.plot().to_svg()
    with mpl.rc_context({"axes.facecolor": "white", "text.color": "black", "xtick.labelcolor": "black"}):
        assert ll.sample("paimon").files.plot().to_svg() == plain


def test_hostile_names_are_text_in_the_picture() -> None:
    names = ["<script>alert(1)</script>", '" onload="x', "fill: #3b73bd", "a\ufffe\x1b[0m", "$x$ -->", "日本"]
    plot = make_files(names).plot()
    root = ElementTree.fromstring(plot.to_svg())
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"p=<script>alert(1)</script>", 'p=" onload="x', "p=fill: #3b73bd", "p=日本", "p=$x$ -->"} <= texts
    assert "p=a⟨U+FFFE⟩⟨U+001B⟩[0m" in texts
    allowed = {"svg", "style", "g", "path", "defs", "use", "text", "clipPath", "rect"}
    assert {element.tag.partition("}")[2] for element in root.iter()} <= allowed
    for element in root.iter():
        for name, held in element.attrib.items():
            assert not name.startswith("on")
            assert not name.endswith("href") or held.startswith("#")
    assert "url(" not in re.sub(r"url\(#\w+\)", "", plot.to_svg())


@pytest.mark.exhaustive
def test_a_picture_is_bounded() -> None:
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    history = [Moment(begin + timedelta(hours=n), "append", n * 7919 % 10_007, n, n) for n in range(5_000)]
    groups = [FileGroup(f"bucket {n}", 9, 100, 7_000, dict.fromkeys(range(7), 1_000 + n)) for n in range(50)]
    for draw in (
        lambda axes: _draw_growth(axes, "rows", history),
        lambda axes: _draw_groups(axes, "x", groups),
    ):
        held, _ = draw_panels([(4, draw)], None)._repr_mimebundle_()
        assert len(held["text/html"]) <= 64 * 1024
        assert "data:image/png;base64" in held["image/svg+xml"]


def test_it_is_written_as_it_is_shown(tmp_path: Path) -> None:
    plot = ll.sample("paimon").files.plot()
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text("utf-8") == plot.to_svg()
    plot.figure.axes[0].set_title("mine", loc="left")
    plot.save(tmp_path / "plot.png", dpi=40, facecolor="white")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert repr(plot) == "<Plot: mine; by bucket>" and "mine" in plot.to_svg()


def test_a_fresh_notebook_shows_a_plot_once_whatever_pyplot_does() -> None:
    sources = (
        "import lakelens as ll\nll.sample('paimon').files.plot()",
        "%matplotlib inline\nimport matplotlib.pyplot\nll.sample('paimon').files.plot()",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=120).execute()
    first, second = (cell.outputs for cell in notebook.cells)
    for (output,) in (first, second):
        assert {"text/html", "image/svg+xml", "image/png"} <= output.data.keys()
    assert first[0].data == second[0].data


def test_rows_of_a_plot_are_the_live_ones_beside_those_stored() -> None:
    """Vectors delete rows of files that stay: what is stored stays as it is."""
    table = ll.open(LAKES / "spark" / "iceberg" / "v3-deletion-vectors" / "table")
    axes = table.plot().figure.axes[0]
    lines = {
        line.get_label(): list(line.get_ydata())
        for line in axes.lines
        if line.get_label() in ("live", "stored")
    }
    assert lines["live"] == [one.live_record_count for one in table.snapshots]
    assert lines["stored"] == [one.record_count for one in table.snapshots]
    assert lines["live"][-1] < lines["stored"][-1]
    axes.figure.draw_without_rendering()
    words = [tick.get_text() for tick in axes.get_xticklabels() if tick.get_text()]
    assert words and all(word.count(":") == 2 for word in words), "a second alone is no time"
