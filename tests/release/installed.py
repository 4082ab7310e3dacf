"""What an installed lakelens has to do, away from its checkout: `tests/release/dist.py` runs this in fresh environments.

    python -I installed.py [EXTRA]

It imports nothing but lakelens and the standard library, so that it runs where no test tool is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path

import lakelens as ll

TABLES = ("fastavro", "mmh3", "numpy", "pandas", "pyarrow", "pyroaring")
HEAVY = (*TABLES, "datafusion", "isal", "pyspark", "jupyterlab", "matplotlib", "anywidget")


def main(extra: str) -> None:
    """Run every check; the first that fails ends it."""
    check_place()
    check_packages(extra)
    check_formats()
    check_samples(extra)
    check_contents()
    check_command()
    check_jupyter()
    check_sql(extra)
    if extra == "notebook":
        check_widgets()
    print(
        f"lakelens {ll.__version__}{f'[{extra}]' if extra else ''} on Python {sys.version.split()[0]}: every check passed"
    )


def check_place() -> None:
    """It is the installed one, and its version is one fact."""
    home = Path(ll.__file__).resolve()
    assert Path(sys.prefix).resolve() in home.parents, home
    assert metadata.version("lakelens") == ll.__version__
    assert not find_spec("tests"), "tests are installed too"


def check_packages(extra: str) -> None:
    """The core brings nothing heavy; its extras are named."""
    there = {name for name in HEAVY if find_spec(name) is not None}
    expected = (
        {*TABLES, "datafusion", "isal", "jupyterlab", "matplotlib", "anywidget"}
        if extra == "notebook"
        else set(TABLES)
        if extra == "tables"
        else set()
    )
    assert there == expected, (there, expected)
    assert {"tables", "fast", "spark", "notebook", "all"} <= set(
        metadata.metadata("lakelens").get_all("Provides-Extra") or ()
    )


def check_formats() -> None:
    """The four formats are found."""
    from lakelens.formats.registry import load_formats

    assert sorted(load_formats()) == ["delta", "hive", "iceberg", "paimon"]


def check_samples(extra: str) -> None:
    """Every packaged table opens, has files and a card; one of each format is read by column and checked, or cannot be."""
    from lakelens.errors import Unsupported

    names = [one.name for one in ll.sample()]
    assert len(names) >= 30
    for name in names:
        table = ll.sample(name)
        assert len(table.files) > 0 and "ll-" in table._repr_html_(), name
    for name in ("hive", "iceberg", "paimon"):
        table = ll.sample(name)
        try:
            assert table.files.to_arrow().num_rows == len(table.files) and table.check().ok, name
            assert extra
        except Unsupported as error:
            assert not extra and "lakelens[tables]" in str(error), error
        table.to_html(f"{name}.html")
        assert "<html" in Path(f"{name}.html").read_text("utf-8")


def check_contents() -> None:
    """Templates, statics and the mark of a typed package are inside."""
    package = resources.files("lakelens")
    for name in (
        "py.typed",
        "views/render/templates",
        "views/render/static",
        "views/card/glossary",
        "widgets/static",
    ):
        place = package.joinpath(name)
        assert place.is_file() or any(True for _ in place.iterdir()), name
    assert package.joinpath("widgets/static").joinpath("timeline.js").is_file()


def check_jupyter() -> None:
    """JupyterLab's extension is where JupyterLab looks for it, and jupyter-server-proxy finds the explorer."""
    folder = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / "lakelens"
    package = json.loads((folder / "package.json").read_text("utf-8"))
    assert package["version"] == ll.__version__
    assert (folder / package["jupyterlab"]["_build"]["load"]).is_file()
    assert (folder / "install.json").is_file()
    (server,) = metadata.entry_points(group="jupyter_serverproxy_servers", name="lakelens")
    assert server.load()()["launcher_entry"]["title"] == "lakelens"


def check_command() -> None:
    """The command is there, and answers people and machines."""
    command = str(Path(sys.executable).with_name("lakelens"))

    def ask(*arguments: str, status: int = 0) -> str:
        ended = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
        assert ended.returncode == status, (arguments, ended.stdout, ended.stderr)
        return ended.stdout or ended.stderr

    assert ll.__version__ in ask("--version")
    assert "iceberg" in ask("show", "sample:iceberg").lower()
    assert json.loads(ask("snapshots", "sample:paimon", "--json"))["table"]["format"] == "paimon"
    assert ask("show", "/no/such/table", status=2).count("\n") == 1


def check_sql(extra: str) -> None:
    """SQL answers where the extra `fast` is, and says how to have it where it is not."""
    from lakelens.errors import Unsupported

    table = ll.sample("iceberg")
    try:
        assert len(table.sql("select path from files")) == len(table.files)
        assert extra == "notebook"
    except Unsupported as error:
        assert extra != "notebook" and "lakelens[fast]" in str(error), error


def check_widgets() -> None:
    """Widgets have their scripts."""
    widget = ll.sample("iceberg").timeline()
    assert len(str(widget._esm)) > 1000


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
