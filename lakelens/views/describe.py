"""`describe`: the card of any object, found by its class; each file of `cards` registers what it draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from importlib import import_module
from typing import Any, TypeVar

from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Fact, Fold, Target

F = TypeVar("F", bound="Callable[..., Card]")

#: Which module has the cards of which classes, so that none is loaded before something of its classes is shown.
CARDS = {
    module: tuple(f"lakelens.{name}" for name in names.split())
    for module, names in {
        "answers.biography": """analysis.life.biography.Biography analysis.life.events.Events model.life.lifetimes.Lifetimes
            model.life.lifetimes.Lifetime""",
        "answers.check": "analysis.check.check.Check analysis.check.check.FirstAid analysis.check.check.Defects",
        "answers.evidence": "evidence.claims.Evidence evidence.claims.Cited evidence.claims.Answered",
        "answers.commits": """practice.commits.seen.Moments practice.commits.seen.Kills
            practice.commits.seen.AnomalyTable""",
        "answers.compare": "analysis.compare.Comparison",
        "answers.conflict": "analysis.conflict.conflict.Conflict",
        "answers.explanation": "analysis.explain.explanation.Explanation",
        "answers.guesses": """practice.guesses.guess.Guess practice.guesses.guess.Look
            practice.guesses.calibration.Calibration practice.guesses.review.Review
            practice.guesses.review.Reply""",
        "answers.health": """analysis.health.health.Health model.measures.measure.Measures model.measures.measure.Measure
            model.measures.measure.Calls analysis.health.clustering.Clustering analysis.health.health.PartRows
            model.measures.measure.DocumentParts model.measures.measure.Needs""",
        "answers.map": "analysis.map.Map model.charts.RowMap",
        "answers.plan": "analysis.dry_run.Plan",
        "answers.practice": """practice.exercise.Exercise practice.exercise.Exercises practice.exercise.Verdict
            practice.exercise.Hint practice.exercise.Solution practice.exercise.Quiz practice.ladder.Ladder
            practice.ladder.Climb practice.encodings.Encoding practice.exercise.Drill
            practice.exercise.Turn""",
        "answers.row": "analysis.life.rows.RowLife analysis.life.rows.Versions analysis.life.rows.Version",
        "answers.space": "analysis.space.space.Space analysis.space.holders.Expiry",
        "answers.survey": "model.warehouse.survey.TableSurvey model.warehouse.survey.SurveyedTable",
        "answers.advice": "analysis.layout.advice.Advice",
        "answers.what_if": "analysis.layout.what_if.WhatIf",
        "cards.catalog": """model.warehouse.catalog.Catalog model.warehouse.catalog.FoundTable
            model.warehouse.sample.Samples model.warehouse.sample.Sample model.warehouse.catalog.FoundView""",
        "cards.delete": """model.life.positions.Positions model.deletes.DeleteMatch model.deletes.DanglingDelete
            model.deletes.LiveRows model.datafile.IndexFile model.datafile.StatisticsFile model.comparison.IndexChanges""",
        "cards.diff": """analysis.diff.diff.Diff analysis.diff.diff.ManifestChanges analysis.diff.diff.PartitionChanges
            analysis.diff.diff.PartitionChange analysis.diff.documents.FieldChanges analysis.diff.documents.FieldChange
            analysis.diff.diff.DeleteChanges analysis.diff.documents.JsonChanges analysis.diff.documents.JsonChange""",
        "cards.file": """model.stats.Bounds model.stats.ColumnBounds model.stats.RowStats model.stats.Partition
            model.stats.KeyRow model.stats.ColumnCounts model.datafile.DataFile""",
        "cards.fileset": "model.fileset.FileSet analysis.explain.tasks.Tasks analysis.explain.tasks.ScanTaskGroup",
        "cards.finding": """model.finding.Findings model.finding.Finding errors.LakeError model.storage.Evidence
            model.storage.Relocation model.storage.Reads""",
        "cards.footer": "model.datafile.Footer",
        "cards.items": """model.collections.Items model.manifest.FieldSummary model.snapshot.LogEntry
            model.storage.MetadataLogEntry model.schema.SortOrder model.collections.Document
            model.collections.QueryResult model.collections.Preview showing.ShownRows""",
        "cards.manifest": "model.manifest.ManifestList model.manifest.Manifest model.manifest.Entry",
        "cards.schema": """model.schema.Schema model.schema.Field model.schema.PartitionSpec model.schema.PartitionField
            model.snapshot.Refs model.snapshot.Ref""",
        "cards.snapshot": "model.snapshot.Snapshots model.snapshot.History model.snapshot.Snapshot",
        "cards.table": "model.table.Table model.view.View",
        "cards.timeline": "analysis.timeline.timeline.Timeline",
        "cards.trace": """analysis.trace.Trace analysis.trace.TableTrace analysis.trace.CommitTrace
            analysis.trace.TracedFiles""",
        "cards.tree": "analysis.tree.StorageTree",
    }.items()
}
_HOMES = {name: module for module, names in CARDS.items() for name in names}


class Describer:
    """Makes cards by class: the module that draws one is loaded when something of its class is first shown.

    So a first card loads no card of anything else. A package with classes of its own registers their cards itself.
    """

    def __init__(self, default: Callable[..., Card]) -> None:
        self._draw = singledispatch(default)
        self._loaded: set[type] = set()

    def register(self, function: F) -> F:
        """Register a function as what draws the class of its first argument."""
        self._draw.register(function)
        return function

    @property
    def registry(self) -> Mapping[Any, Callable[..., Card]]:
        """The functions that are registered so far, by class."""
        return self._draw.registry

    def __call__(self, thing: Any, detail: int = 1) -> Card:
        """Make the card of an object: that of its class, or of the nearest class above it that has one."""
        kind = type(thing)
        if kind not in self._loaded:
            homes = (_HOMES.get(f"{base.__module__}.{base.__qualname__}") for base in kind.__mro__)
            if home := next(filter(None, homes), None):
                import_module(f"lakelens.views.{home}")
            self._loaded.add(kind)
        card: Card = self._draw(thing, detail)
        return card


def _describe_fields(thing: Any, detail: int = 1) -> Card:
    """Describe the card of an object that has no card of its own: its public fields, one a line."""
    shown = [(name, cells.value(held)) for name, held in list_fields(thing)]
    fold = Fold(
        "Fields", wording.plural(len(shown), "field"), lambda: [cells.pairs(shown, is_open=True)], opened=True
    )
    return Card(type(thing).__name__, wording.clean(repr(thing)), folds=(fold,) if shown else ())


describe = Describer(_describe_fields)


def list_fields(thing: Any) -> list[tuple[str, Any]]:
    """List the public data of an object by name; what cannot be read is said in its place."""
    if is_dataclass(thing) and not isinstance(thing, type):
        names = [field.name for field in fields(thing)]
    else:
        names = [name for name in getattr(thing, "__dict__", {}) if not name.startswith("_")]
    return [(name, getattr(thing, name)) for name in names if not name.startswith("_")]


def fold_document(raw: Mapping[str, Any], detail: int) -> list[Fold]:
    """Fold a stored document key by key; at detail 2 as JSON too."""
    answer = f"{wording.plural(len(raw), 'key')}, as stored"
    keys = Fold("Document", answer, lambda: cells.fields(raw, how=".raw"))
    return [keys, fold_json(raw)] if detail >= 2 else [keys]


def fold_json(raw: Any, how: str = ".raw") -> Fold:
    """Fold a stored document as JSON."""
    return Fold("JSON", "the complete document", lambda: one(cells.document(raw, how=how)), level=3)


def card_of_path(
    noun: str, path: str | None, facts: Iterable[Fact], folds: Iterable[Fold], about: Sequence[str]
) -> Card:
    """The card of a file of the table: under its name, with its path, which leads to its bytes."""
    name, place = wording.name(path), wording.clean(path)
    target = Target("bytes", path) if path else None
    return Card(noun, name, place, facts=tuple(facts), folds=tuple(folds), about=tuple(about), target=target)


def one(body: Body) -> Sequence[Body]:
    """A fold that holds one thing."""
    return (body,)
