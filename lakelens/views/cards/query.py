"""The card of what a query gave: its rows, as many as are shown of any list."""

from __future__ import annotations

from lakelens.options import display
from lakelens.queryresult import QueryResult
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Column
from lakelens.views.describe import describe


@describe.register
def describe_result(result: QueryResult, detail: int = 1) -> Card:
    """The first rows of a result under the names that the query gave to its columns."""
    columns = [Column(wording.clean(name)) for name in result.columns]
    rows = [tuple(cells.value(value) for value in row) for row in result.rows(display.max_rows)]
    grid = cells.grid(columns, rows, how=".to_pandas()", total=len(result), is_open=True)
    given = f"from {', '.join(result.views)}" if result.views else "from no view"
    sentence = f"{wording.plural(len(result), 'row')}, {wording.plural(len(columns), 'column')} {given}"
    return Card("query", sentence, body=(grid,) if rows else ())
