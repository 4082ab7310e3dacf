"""Who wrote a table, as its files say it: `created_by` of Parquet footers, and what libraries stand for.

parquet-mr version 1.13.1 (build …)   parquet-cpp-arrow version 17.0.0   parquet-rs version 53.0.0   ClickHouse v25.6
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import sample_footers
from lakelens.model.check.defect import Writer

if TYPE_CHECKING:
    from lakelens.model.table import Table

_CREATED = re.compile(
    r"^\s*([A-Za-z][A-Za-z.-]*(?:[ _][A-Za-z.-]+)*?)\s*(?:version)?\s*v?(\d[\w.-]*)?(?:\s|\(|$)"
)
#: Products whose tables are written by these libraries when no other writer is named.
LIBRARIES = {
    "parquet-rs": "iceberg-rust",
    "parquet-cpp-arrow": "pyiceberg",
    "parquet-go": "iceberg-go",
    "arrow-go": "iceberg-go",
    "clickhouse": "clickhouse",
    "duckdb": "duckdb-iceberg",
}


def parse_created_by(text: str) -> Writer | None:
    """The product and version that a Parquet footer names; None for none.

    >>> parse_created_by("parquet-mr version 1.13.1 (build db418)"), parse_created_by("DuckDB version v1.3.0 (build 71c5)")
    (Writer(product='parquet-mr', version='1.13.1', source=''), Writer(product='duckdb', version='1.3.0', source=''))
    >>> parse_created_by("ClickHouse v25.6.1").product, parse_created_by("")
    ('clickhouse', None)
    """
    matched = _CREATED.match(text)
    if matched is None:
        return None
    name = re.sub(r"\s*version$", "", matched[1].strip(), flags=re.IGNORECASE)
    return Writer(name.lower(), matched[2] or "")


def list_footer_writers(table: Table) -> Iterator[Writer]:
    """The writers that the sampled footers name, each once."""
    texts = dict.fromkeys(footer.created_by for _, footer in sample_footers(table) if footer.created_by)
    for text in texts:
        found = parse_created_by(text or "")
        if found is not None:
            yield Writer(found.product, found.version, "created_by of data files")


def add_products(writers: Iterable[Writer], named: str) -> tuple[Writer, ...]:
    """Some writers, each once, and the products that their libraries stand for where no writer is called `named`."""
    found = tuple(dict.fromkeys(writers))
    if any(writer.product == named for writer in found):
        return found
    products = (
        Writer(
            LIBRARIES[writer.product], "" if LIBRARIES[writer.product] != writer.product else writer.version
        )
        for writer in found
        if writer.product in LIBRARIES
    )
    return tuple(dict.fromkeys((*found, *products)))
