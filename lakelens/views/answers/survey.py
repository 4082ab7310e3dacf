"""The card of a survey: the tables to do something about, the worst first, each with the call that helps."""

from __future__ import annotations

from lakelens.model.warehouse.survey import SurveyedTable, TableSurvey
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Body, Card, Cell, Fold, Note, Role
from lakelens.views.cards.catalog import fold_problems
from lakelens.views.describe import describe, one

_MOST_WORST = 10
_TEXTS = ("verdict", "first", "call", "error")
_SIZES = ("total_bytes", "live_bytes", "reclaimable_bytes")
# a figure that is nothing to worry about where it is 0, and what it is else
_ROLES: dict[str, Role] = {"errors": "warn", "missing": "warn", "act": "warn", "warnings": "warn"}
_TITLES = {"first": "what to do first", "reclaimable_bytes": "could be freed", "total_bytes": "bytes"}


@describe.register
def card_of_survey(survey: TableSurvey, detail: int = 1) -> Card:
    """List the tables to do something about, the worst first; all of them are in a fold."""
    worst = survey.worst
    most = _MOST_WORST if detail <= 1 else display.max_rows
    body: list[Body] = [_grid(survey, worst[:most], len(worst))] if len(worst) else []
    if not len(worst):
        body.append(
            Note("Nothing to do about any of them." if len(survey) else "No table was found.", "mute")
        )
    folds = [
        Fold(
            "All tables",
            wording.plural(len(survey), "table"),
            lambda: one(_grid(survey, survey, len(survey))),
        )
    ]
    if survey.problems:
        folds.append(fold_problems(survey.problems, survey.place))
    return Card(
        f"{', '.join(survey.names)} of {wording.name(survey.root) or 'tables'}",
        count_tables(survey),
        wording.clean(survey.root),
        body=tuple(body),
        folds=tuple(folds),
    )


def count_tables(survey: TableSurvey) -> str:
    """Count the tables, those that are damaged, and those to act on.

    >>> import lakelens as ll
    >>> count_tables(ll.find(ll.sample("iceberg").location).ask("check"))
    '1 table, none damaged'
    """
    damaged, worst = len(survey.damaged), len(survey.worst)
    words = [wording.plural(len(survey), "table"), f"{damaged:,} damaged" if damaged else "none damaged"]
    return ", ".join([*words, *([f"{worst:,} to do something about"] if worst > damaged else [])])


@describe.register
def card_of_surveyed_table(table: SurveyedTable, detail: int = 1) -> Card:
    """Show what was answered about one table."""
    figures = cells.pairs((_name(name), _show(name, value)) for name, value in table.figures.items())
    alert = wording.clean(table.error, 400) if table.error else ""
    return Card(
        wording.clean(table.name),
        wording.clean(table.format),
        wording.clean(table.path),
        alert,
        body=(figures,),
    )


def _grid(survey: TableSurvey, tables: TableSurvey, total: int) -> Body:
    names = list(dict.fromkeys(name for table in tables for name in table.figures))
    if any(table.error for table in tables):
        names.append("error")
    columns = [f"{_name(name)}{'' if name in _TEXTS else '#'}" for name in names]
    rows = (
        (
            named.place("table", table.path, wording.clean(survey.place(table.path))),
            *(_show(name, table.error if name == "error" else table.figures.get(name)) for name in names),
        )
        for table in tables
    )
    return cells.grid(("table", *columns), rows, how=".to_pandas()", noun="table", total=total)


def _name(figure: str) -> str:
    return _TITLES.get(figure, figure.replace("_", " "))


def _show(name: str, value: object) -> Cell:
    if value is None:
        return Cell("", "mute")
    if name in _SIZES and isinstance(value, int):
        return cells.size(value)
    if isinstance(value, int):
        return Cell(f"{value:,}", _ROLES.get(name, "") if value else "mute")
    return cells.code(wording.clean(value, 400)) if name == "call" else cells.text(wording.clean(value, 400))
