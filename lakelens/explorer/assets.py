"""The files that every page of the explorer refers to: its style sheet and its script."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from lakelens.explorer.keys import list_keys
from lakelens.views.card.markup import read_style


@cache
def read_assets() -> dict[str, bytes]:
    """Read what is at `<base>/-/`, by name: one sheet (cards, bytes, the explorer's own) and one script.

    >>> sorted(read_assets())
    ['explorer.css', 'explorer.js']
    """
    static = files("lakelens.explorer").joinpath("static")
    own = static.joinpath("explorer.css").read_text("utf-8")
    sheet = "\n".join((str(read_style("lakelens.css")), str(read_style("bytes.css")), own))
    script = static.joinpath("explorer.js").read_text("utf-8")
    known = f'"use strict";\nconst LAKELENS_KEYS = {json.dumps(list_keys())};\n'
    return {"explorer.css": sheet.encode(), "explorer.js": f"{known}{script}".encode()}
