"""Run the notebooks in a fresh kernel each and save them with their outputs.

    python notebooks/execute.py                 every notebook beside this file
    python notebooks/execute.py 01-hive         only these (by name, with or without ".ipynb")

What is saved is what `make notebooks` compares with. Times of execution and the interpreter's version are not
kept: they differ between two machines, and say nothing of the tables.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
#: Seconds for one cell; the first cell of a Spark notebook may have to fetch jars.
TIMEOUT = 1800

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}

#: The directories that a run makes for itself, by the words that stand for them in what is saved: as in `sanitize.cfg`.
#: In a card a path may break after its separators, in a picture between two lines.
_BREAK = "(?:<wbr>|</text><text[^>]*>)?"
_NAME = f"(?:[a-z0-9_]{_BREAK}){{8}}"
PLACES = {
    "SAMPLE": re.compile(rf"""/(?:<wbr>|[^\s'"<>])*lakelens-{_BREAK}sample-{_BREAK}{_NAME}"""),
    "WAREHOUSE": re.compile(rf"""/(?:<wbr>|[^\s'"<>])*lakelens-{_BREAK}{_NAME}"""),
}

WIDGET = "application/vnd.jupyter.widget-view+json"
PICTURE_HEAD = "data:image/svg+xml;base64,"
PICTURE = re.compile(re.escape(PICTURE_HEAD) + r"([A-Za-z0-9+/=]+)")


class OwnKernel(KernelSpecManager):
    """Knows one kernel, whatever is registered on the machine: the interpreter that runs this script."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())


def execute_notebook(path: Path) -> None:
    """Run a notebook in its own directory, as JupyterLab and nbval do, and save it with its outputs.

    When a cell fails the notebook is left as it was, and `CellExecutionError` is raised.
    """
    notebook = nbformat.read(path, as_version=4)
    manager = AsyncKernelManager(kernel_name=KERNEL["name"], kernel_spec_manager=OwnKernel())
    client = NotebookClient(
        notebook, km=manager, timeout=TIMEOUT, record_timing=False, store_widget_state=False
    )
    os.environ["LAKELENS_PROGRESS"] = "0"  # what a slow machine shows for a moment is no result
    with tempfile.TemporaryDirectory(prefix="lakelens-") as state:
        os.environ["LAKELENS_STATE"] = state  # what is saved is what a reader sees who has guessed nothing yet
        client.execute(cwd=str(path.parent))
    clean_notebook(notebook)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def clean_notebook(notebook: NotebookNode) -> None:
    """Leave cells, sources and outputs, in one normal form."""
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), language_info=NotebookNode(LANGUAGE))
    for cell in notebook.cells:
        for name in ("execution", "ExecuteTime", "collapsed"):
            cell.metadata.pop(name, None)
        if cell.cell_type == "code":
            cell.outputs = [name_places(output) for output in join_streams(cell.outputs)]
            for output in cell.outputs:
                output.get("data", {}).pop(WIDGET, None)  # a widget lives as long as its kernel; its still picture stays


def name_places(held: Any) -> Any:
    """The same text, list or mapping with the temporary directories of this run named instead of spelled out."""
    if isinstance(held, str):
        for name, place in PLACES.items():
            held = place.sub(name, held)
        return PICTURE.sub(name_in_picture, held)
    if isinstance(held, dict):
        return type(held)((key, name_places(value)) for key, value in held.items())
    return [name_places(value) for value in held] if isinstance(held, list) else held


def name_in_picture(found: re.Match[str]) -> str:
    """A picture that is text itself, with the directories of this run named in it too."""
    drawn = base64.b64decode(found[1]).decode("utf-8")
    for name, place in PLACES.items():
        drawn = place.sub(name, drawn)
    return PICTURE_HEAD + base64.b64encode(drawn.encode("utf-8")).decode("ascii")


def join_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Neighbouring pieces of one stream as one: where the kernel cuts them depends on the clock."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last: Any = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def find_notebooks(names: list[str]) -> list[Path]:
    """The notebooks of these names, or all of them in order. Exits when there is no such notebook."""
    if not names:
        return sorted(HERE.glob("[0-9][0-9]-*.ipynb"))
    paths = [HERE / f"{Path(name).name.removesuffix('.ipynb')}.ipynb" for name in names]
    for path in paths:
        if not path.is_file():
            sys.exit(f"there is no {path.name}; there are {', '.join(p.stem for p in find_notebooks([]))}")
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description="Run notebooks and save them with their outputs.")
    parser.add_argument("names", nargs="*", help="notebooks to run (default: all)")
    failed = 0
    for path in find_notebooks(parser.parse_args().names):
        started = time.monotonic()
        try:
            execute_notebook(path)
            print(f"{path.name}: {time.monotonic() - started:.0f} s")
        except CellExecutionError as error:
            failed += 1
            print(f"{path.name}: a cell failed\n{error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
