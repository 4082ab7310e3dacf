"""The extension of JupyterLab: what is installed is what is here, its version is the package's, its names of files hold."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

import lakelens as ll

SOURCE = Path(ll.__file__).parent / "jupyter" / "labextension"
SCRIPT = (SOURCE / "static" / "remoteEntry.js").read_text("utf-8")


def test_it_is_a_prebuilt_extension_of_this_version() -> None:
    package = json.loads((SOURCE / "package.json").read_text("utf-8"))
    built = package["jupyterlab"]["_build"]
    assert package["name"] == "lakelens" and package["version"] == ll.__version__
    assert (SOURCE / built["load"]).is_file() and built["extension"] == "./extension"
    assert json.loads((SOURCE / "install.json").read_text("utf-8"))["packageName"] == "lakelens"
    assert 'NAME = "lakelens"' in SCRIPT and "(window._JUPYTERLAB ??= {})[NAME]" in SCRIPT
    assert len(SCRIPT) < 10_000 and "http://www.w3.org" in SCRIPT and "https:" not in SCRIPT, (
        "small, and loads nothing"
    )


def test_what_is_installed_is_what_is_here() -> None:
    """An editable install copies these files: after a change of them `make` installs again."""
    shared = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / "lakelens"
    assert shared.is_dir(), "lakelens is to be installed again (make)"
    for path in SOURCE.rglob("*.js*"):
        assert (shared / path.relative_to(SOURCE)).read_bytes() == path.read_bytes(), f"{path.name}: make"
    (found,) = metadata.entry_points(group="jupyter_serverproxy_servers", name="lakelens")
    assert found.load()()["new_browser_tab"] is False


def read_patterns() -> list[re.Pattern[str]]:
    """The names of files that the menu is for."""
    block = re.search(r"const FILES = \[(.*?)\];", SCRIPT, re.DOTALL)
    assert block is not None
    return [re.compile(one) for one in re.findall(r"/([^/\n]+)/,", block[1])]


@pytest.mark.parametrize("name", [one.name for one in ll.sample() if "text" not in one.name])
def test_every_file_of_a_table_has_the_menu(name: str) -> None:
    patterns = read_patterns()
    assert len(patterns) == 7
    for stored in ll.sample(name).list_files():
        file = stored.path.rpartition("/")[2]
        if not file.startswith("_") and not file.endswith(".crc"):
            assert any(one.search(file) for one in patterns), (stored.role, file)


def test_other_files_have_not() -> None:
    others = "README.md notes.txt a.ipynb settings.json schema.sql index.html manifest.json snapshot.png data.csv setup.py"
    assert not [name for name in others.split() if any(one.search(name) for one in read_patterns())]
