"""`python -m website FOLDER`: make the site; a warning of MkDocs ends it."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from pymdownx.superfences import SuperFencesException

from website.repository import ROOT


def make_site(folder: Path, only: str = "") -> None:
    """Make the site in a folder, which is emptied first; raises `Abort` where a page names what is not there.

    `only` names the notebook that the course has, for a site that is made in seconds.
    """
    config = load_config(str(ROOT / "website" / "mkdocs.yml"), site_dir=str(folder.resolve()), strict=True)
    config.extra["only"] = only
    config.plugins.on_startup(command="build", dirty=False)
    build(config)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m website", description=__doc__)
    parser.add_argument("folder", type=Path)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        make_site(parser.parse_args().folder)
    except (Abort, SuperFencesException) as error:
        raise SystemExit(str(error)) from error
