"""Loaded once by the process that children are forked from: a first look at sound tables loads what every look loads."""

from __future__ import annotations

import lakelens as ll
from tests.fuzz import bombs as bombs

for _name in ("iceberg", "paimon"):
    _table = ll.sample(_name)
    _table._repr_html_()
    (
        str(_table),
        _table.to_text(2),
        _table.current.to_text(),
        _table.refs._repr_html_(),
        _table.files._repr_html_(),
    )
    _table.files.to_arrow(), _table.files.to_pandas(), _table.tree().to_text(), _table.findings.to_text()
    [manifest.bytes_view().to_text() for manifest in _table.current.manifests]
    _table.current.count_live_rows()
