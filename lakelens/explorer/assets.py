"""The files that every page of the explorer refers to: its style sheet and its script."""

from __future__ import annotations

import json
from functools import cache

from lakelens.explorer.keys import list_keys
from lakelens.installed import read_text
from lakelens.views.card.markup import read_style


@cache
def read_assets() -> dict[str, bytes]:
    """Read what is at `<base>/-/`, by name: one sheet (cards, bytes, the explorer's own) and one script.

    >>> sorted(read_assets())
    ['explorer.css', 'explorer.js']
    """
    own = read_text("lakelens.explorer", "static", "explorer.css")
    sheet = "\n".join((str(read_style("lakelens.css")), str(read_style("bytes.css")), own))
    script = read_text("lakelens.explorer", "static", "explorer.js")
    known = f'"use strict";\nconst LAKELENS_KEYS = {json.dumps(list_keys())};\n'
    return {"explorer.css": sheet.encode(), "explorer.js": f"{known}{script}".encode()}
