"""Opening a Paimon table as one of its branches."""

from __future__ import annotations

import posixpath
from functools import partial

from lakelens.formats.access import explain_late
from lakelens.formats.base import OpenRequest, name_table
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.metadata.layout import MAIN
from lakelens.formats.paimon.refs import enter_branch
from lakelens.formats.paimon.table import PaimonTable


def open_paimon(request: OpenRequest) -> PaimonTable:
    """Open what detection found. A folder `branch/branch-NAME` opens as that branch of the table above it."""
    root, branch = request.path.rstrip("/"), request.branch
    folder, above = posixpath.basename(root), posixpath.dirname(root)
    if branch is None and folder.startswith("branch-") and posixpath.basename(above) == "branch":
        root, branch = posixpath.dirname(above), folder.removeprefix("branch-")
    name = request.name or name_table(root)
    explain = partial(explain_late, "lakelens.formats.paimon.explain")
    context = TableContext(request.store, root, find_bytes=explain)
    table = PaimonTable(enter_branch(context, branch or MAIN), request.evidence, name, request.catalog)
    _ = table.current, table.schema
    return table
