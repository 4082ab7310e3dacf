"""A course: what is slow, and therefore rare in a walk: skeleton, page, site, plots, timeline, a query."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz.courses import Course, Settings
from tests.fuzz.walk import Walk

STEPS = ("skeleton", "page", "site", "plot", "growth", "timeline", "sql", "pandas")
_CHOSEN = 4


def run(walk: Walk, root: Path, settings: Settings) -> None:
    """Open the table, and do some of the slow steps."""
    import lakelens as ll

    table = walk.step("table", lambda: ll.open(root))
    if table is None:
        return
    folder = walk.scratch / "rare"
    asked = {
        "skeleton": lambda: table.skeleton(folder / "skeleton"),
        "page": lambda: table.to_html(folder / "page.html"),
        "site": lambda: table.to_html(site=folder / "site", most_pages=40),
        "plot": lambda: table.files.plot(),
        "growth": lambda: table.plot(),
        "timeline": lambda: table.timeline()._repr_mimebundle_(),
        "sql": lambda: table.sql("SELECT * FROM files").to_arrow(),
        "pandas": lambda: table.files.to_pandas(),
    }
    folder.mkdir()
    for name in settings["steps"]:
        walk.step(f"rare.{name}", asked[name])


def choose(rng: random.Random) -> Settings:
    """Some of the steps, in an order of chance."""
    return {"steps": rng.sample(STEPS, _CHOSEN)}


def take_table(lake: str) -> bool:
    """A view has none of these steps."""
    return not lake.endswith(("/view", "/orders_by_day"))


COURSE = Course("rare", run, choose, takes=take_table)
