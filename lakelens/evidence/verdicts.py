"""Verdicts as claims: what a predicate rules out, which measures keep their limits, which figures are as recorded.

Each is said with the rule that decides (what is compared with which limit, and whose that is) and the places that hold both
values, so that whoever reads the places can decide it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from lakelens.errors import LakeError
from lakelens.evidence.claims import ANY, Address, Claim, Rule
from lakelens.evidence.nouns import MOST_PARTS, list_lines
from lakelens.evidence.places import Places
from lakelens.model.stats import Term, list_terms

#: Which bound of a column shows that no row fits a comparison, where it stands so to the literal.
_BY_BOUNDS = {
    "=": (("lower", ">"), ("upper", "<")),
    "in": (("lower", ">"), ("upper", "<")),
    "<": (("lower", "≥"),),
    "<=": (("lower", ">"),),
    ">": (("upper", "≤"),),
    ">=": (("upper", "<"),),
}
#: How the one value of a partition shows it.
_BY_VALUE = {"=": "≠", "!=": "=", "in": "∉", "not in": "∈", "<": "≥", "<=": ">", ">": "≤", ">=": "<"}
_OUT, _IN = "ruled out", "not ruled out"
_MOST_LITERALS = 100
_WORD = re.compile(r"[\w.-]+")


def claim_terms(places: Places, condition: Any, file: Any, says: str) -> Iterator[Claim]:
    """Claim which comparisons of a predicate are ruled out by what is recorded of a file, and which are not.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> known = table.explain("id > 15").known
    >>> claim = next(claim_terms(Places(table), known, table.files[0], "a file"))
    >>> claim.says, claim.rule.sense, claim.rule.limit, claim.rule.words
    ('a file: upper of the column', '≤', 15, 'id > 15')
    """
    about = file.path.rpartition("/")[2]
    for term in list_terms(condition):
        by_value = _claim_value(places, term, file, says, f"{about} {term.column}")
        by_bounds = _claim_bounds(places, term, file, says, f"{about} {term.column}")
        yield from chain(by_value, by_bounds)


def _claim_value(places: Places, term: Term, file: Any, says: str, about: str) -> Iterator[Claim]:
    """Claim what the value of a partition that is the column as it is says of a comparison."""
    name = _name_partition(places.table, term)
    if name is None or term.test not in _BY_VALUE or (file.partition or {}).get(name) is None:
        return
    place = places.find("partition", "value", thing=file, name=name, kind=term.type.logical)
    limit = list(term.values) if "in" in term.test else term.values[0]
    if place is not None and len(term.values) <= _MOST_LITERALS:
        rule = Rule(_BY_VALUE[term.test], limit, _OUT, _IN, "predicate", term.text)  # type: ignore[arg-type]
        yield Claim(f"{says}: value of its partition", ANY, (place,), about=about, rule=rule)


def _name_partition(table: Any, term: Term) -> str | None:
    """Name the partition field that is a column as it is, in every spec that has a field of this name."""
    fields = [field for spec in table.specs for field in spec]
    names = {
        field.name
        for field in fields
        if field.transform == "identity"
        and (field.source_id == term.field_id if field.source_id is not None else field.name == term.column)
    }
    others = {field.name for field in fields if field.transform != "identity"}
    return next(iter(sorted(names - others)), None)


def _claim_bounds(places: Places, term: Term, file: Any, says: str, about: str) -> Iterator[Claim]:
    """Claim what the bounds and the counts of nulls of a column say of a comparison."""
    try:
        bound = file.bounds.get(term.column)
    except LakeError:
        return
    if bound is None:
        return
    things = {"thing": file, "field_id": bound.field_id, "column": term.column}
    nulls = None if bound.nulls is None else places.find("bound", "nulls", **things)
    if nulls is not None and term.test == "is null":
        rule = Rule("=", 0, _OUT, _IN, "predicate", term.text)
        yield Claim(f"{says}: nulls of the column", ANY, (nulls,), about=about, rule=rule)
    elif nulls is not None and (values := places.find("bound", "values", **things)) is not None:
        rule = Rule("=", ANY, _OUT, _IN, "predicate", term.text)
        if term.test == "is not null" or bound.nulls == bound.values:
            yield Claim(f"{says}: nulls of all values", ANY, (nulls, values), about=about, rule=rule)
    for side, sense in _BY_BOUNDS.get(term.test, ()):
        place = places.find("bound", side, kind=term.type.logical, **things)
        if place is None or getattr(bound, side) is None:
            continue
        limit = (max if side == "lower" else min)(term.values)
        rule = Rule(sense, limit, _OUT, _IN, "predicate", term.text)  # type: ignore[arg-type]
        yield Claim(f"{says}: {side} of the column", ANY, (place,), about=about, rule=rule)


def claim_measures(
    places: Places, health: Any, data: Sequence[Any], deleted: Sequence[Address]
) -> Iterator[Claim]:
    """Claim of each measure that has places whether it keeps its limit; `deleted` are counts of deleted rows and of all."""
    sized = [place for file in data if (place := places.find("file", "size_bytes", thing=file)) is not None]
    lines = [] if health.snapshot is None else list_lines(health.snapshot)
    listed = [places.find("manifest", "recorded_path", **line) for line in lines]
    shared = {
        "file size, median": ("median", sized if len(sized) == len(data) else ()),
        "deleted rows, worst file": ("greatest share", deleted),
        "manifests": ("count", [place for place in listed if place is not None]),
        "age of the oldest snapshot": ("seconds between", _place_ends(places)),
    }
    for measure in health.measures:
        how, found = shared.get(measure.name) or places.list_measured(measure.name)
        rule = _make_rule(places, measure)
        if rule is not None and 0 < len(found) <= MOST_PARTS:
            yield Claim(measure.name, measure.value, tuple(found), how, rule=rule)


def _make_rule(places: Places, measure: Any) -> Rule | None:
    """Make the rule of a measure; None where its limit stands nowhere, as one that was worked out."""
    place, words = None, measure.compared_with
    if measure.limit == measure.value and measure.source != "lakelens":
        return None
    if measure.source == "property":
        known = [word for word in _WORD.findall(words) if word in places.table.properties]
        place = places.find("property", "value", key=known[0]) if known else None
        if place is None:
            return None
    broken = "watch" if measure.verdict == "good" else measure.verdict
    return Rule(measure.sense, measure.limit, "good", broken, measure.source, words, place)


def _place_ends(places: Places) -> list[Address]:
    """Place when the oldest of the snapshots was committed, and when the newest."""
    dated = [snapshot for snapshot in places.table.snapshots if snapshot.committed_at is not None]
    if len(dated) < 2:
        return []
    ends = (pick(dated, key=lambda snapshot: snapshot.committed_at) for pick in (min, max))
    found = [places.find("snapshot", "committed_at", thing=snapshot) for snapshot in ends]
    return [place for place in found if place is not None]


def claim_agreement(
    says: str, about: str, recorded: Address | None, counted: Iterable[Address], how: str
) -> Iterator[Claim]:
    """Claim whether a figure is as recorded: what is counted, compared with the place that records it."""
    parts = tuple(counted)
    if recorded is not None and 0 < len(parts) <= MOST_PARTS:
        rule = Rule("=", ANY, "as recorded", "differs", "recorded")
        yield Claim(says, ANY, (*parts, recorded), how, about, rule)
