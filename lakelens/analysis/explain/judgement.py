"""A predicate judged for many items at once: which can hold no row that fits, by what, and what is said of the others.

Proofs are added stage by stage, the cheapest first: partitions, buckets, keys, bounds, indexes. A stage that settles an item
is its reason, and the part of the predicate that fails is the one to name; what stages prove of different parts adds up.

What was judged shows as rows: one an item, and one for each reason with the files that it concerns.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from lakelens.display import Named
from lakelens.model.arrow import text_array
from lakelens.model.scan.ranges import Ranges, judge
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    import pyarrow as pa

    from lakelens.analysis.explain.explanation import Explanation
    from lakelens.model.stats import Condition


#: Why items are skipped, and what keeps others, by code.
REASONS = ("partition", "bucket", "key", "bounds", "nulls", "file_index", "dictionary", "bloom", "constant")
ANSWERS = ("all_match", "overlaps", "no_statistics", "not_invertible", "unsupported_type", "merged")
_UNORDERED = {
    "list",
    "map",
    "multiset",
    "struct",
    "vector",
    "variant",
    "blob",
    "geometry",
    "geography",
    "unknown",
}


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proved of a term in items: where no row fits, where all do, where anything is known; by these ranges."""

    none: Mask
    all: Mask | None = None
    known: Mask | None = None
    ranges: Ranges | None = None


class Judgement:
    """Which of `count` items are skipped, and why; the others are kept."""

    def __init__(self, condition: Condition, count: int) -> None:
        from lakelens.arrays import np

        self.condition = condition
        self.count = count
        self.terms = tuple(list_terms(condition))
        is_and = isinstance(condition, Group) and condition.kind == "and"
        self.parts: tuple[Condition, ...] = (
            condition.parts if is_and and isinstance(condition, Group) else (condition,)
        )
        self.reason = np.full(count, -1, np.int8)
        self.part = np.full(count, -1, np.int16)
        self.proofs: dict[tuple[int, str], list[Proof]] = {}
        self._none = {id(term): self._fill(False) for term in self.terms}
        self._own = {id(term): self._fill(False) for term in self.terms}
        self._all = {id(term): self._fill(False) for term in self.terms}
        self._known = {id(term): self._fill(False) for term in self.terms}
        self._merged = {id(term): self._fill(False) for term in self.terms}
        self.settle("constant")

    def _fill(self, value: bool) -> Mask:
        from lakelens.arrays import np

        filled: Mask = np.full(self.count, value)
        return filled

    @property
    def skipped(self) -> Mask:
        """Which items are skipped."""
        found: Mask = self.reason >= 0
        return found

    @property
    def kept(self) -> Mask:
        """Which items are kept."""
        return ~self.skipped

    def add_ranges(self, term: Term, ranges: Ranges, reason: str, limit: Mask | None = None) -> None:
        """Add what ranges of a term's column prove; nothing is proved outside of `limit`."""
        verdict = judge(term, ranges)
        proof = Proof(verdict.none, verdict.all, ranges.is_bounded | verdict.none | verdict.all, ranges)
        if reason == "bounds" and verdict.none_by_nulls.any():
            by_nulls = Proof(verdict.none_by_nulls, None, None, ranges)
            self.add(term, "nulls", by_nulls, limit)
        self.add(term, reason, proof, limit)

    def add(self, term: Term, reason: str, proof: Proof, limit: Mask | None = None) -> None:
        """Add what is proved of a term; outside of `limit` nothing is proved of the rows that a reader merges."""
        none, every = proof.none, proof.all
        self._own[id(term)] |= none
        if limit is not None:
            none = none & limit
            every = None if every is None else every & limit
            self._merged[id(term)] |= proof.none & ~limit
        self._none[id(term)] |= none
        if every is not None:
            self._all[id(term)] |= every
        if proof.known is not None:
            self._known[id(term)] |= proof.known
        self.proofs.setdefault((id(term), reason), []).append(proof)

    def settle(self, reason: str) -> None:
        """Skip the items that what was added by now leaves no row of; those that were skipped before keep their reason."""
        found = self._fails(self.condition) & (self.reason < 0)
        if not found.any():
            return
        code = REASONS.index(reason)
        for number, part in enumerate(self.parts):
            here = found & (self.part < 0) & self._fails(part)
            self.part[here] = number
            self.reason[here] = code
            if reason == "bounds":
                # counts of nulls alone may decide a term
                nulls = (proof.none for proof in self.proofs.get((id(part), "nulls"), ()))
                self.reason[here & reduce(operator.or_, nulls, self._fill(False))] = REASONS.index("nulls")

    def skip(self, items: Mask, reason: str, part: int = 0) -> None:
        """Skip items for a reason that concerns a whole part."""
        here = items & (self.reason < 0)
        self.reason[here], self.part[here] = REASONS.index(reason), part

    def _fails(self, condition: Condition) -> Mask:
        """Say where no row fits a part."""
        return self._fold(condition, self._none, "and", False)

    def _fold(self, condition: Condition, proved: dict[int, Mask], enough: str, constant: bool) -> Mask:
        """Where something is proved of a part: in a group of the kind `enough` by one of its parts, else by all of them."""
        if isinstance(condition, Term):
            return proved[id(condition)]
        if isinstance(condition, Constant):
            return self._fill(condition.value == constant)
        found = [self._fold(part, proved, enough, constant) for part in condition.parts]
        return reduce(operator.or_ if condition.kind == enough else operator.and_, found)

    def find_failing(self) -> NDArray[np.int16]:
        """For each item the first part that none of its own rows fits, merged with others or not; -1 without one."""
        from lakelens.arrays import np

        failing = np.full(self.count, -1, np.int16)
        for number, part in enumerate(self.parts):
            failing[(failing < 0) & self._fold(part, self._own, "and", False)] = number
        return failing

    def answer(self, part: Condition) -> NDArray[np.int8]:
        """For each item what is said of a part that did not skip it, a code of `ANSWERS`."""
        from lakelens.arrays import np

        codes = np.full(self.count, ANSWERS.index("overlaps"), np.int8)
        known = self._fill(False)
        for term in list_terms(part):
            known |= self._known[id(term)]
            if term.type.logical in _UNORDERED:
                codes[~known] = ANSWERS.index("unsupported_type")
        unknown = ~known & (codes == ANSWERS.index("overlaps"))
        codes[unknown] = ANSWERS.index("no_statistics")
        placed = any((id(term), "place") in self.proofs for term in list_terms(part))
        if placed:
            codes[unknown] = ANSWERS.index("not_invertible")
        for term in list_terms(part):
            codes[self._merged[id(term)]] = ANSWERS.index("merged")
        codes[self._fold(part, self._all, "or", True)] = ANSWERS.index("all_match")
        return codes

    def find_ranges(self, part: Condition, reason: str) -> list[tuple[Term, Proof]]:
        """Find the proofs of a reason for the terms of a part."""
        return [
            (term, proof) for term in list_terms(part) for proof in self.proofs.get((id(term), reason), ())
        ]


def name_columns(part: Condition) -> str:
    """Name the columns of a part."""
    return ", ".join(dict.fromkeys(term.column for term in list_terms(part)))


def format_bounds(values: Any) -> list[str | None]:
    """Bounds as text; of text that goes on, its beginning."""
    from lakelens.arrays import pa

    array = getattr(values, "storage", values)
    coded = array.dictionary_encode()
    known = [_format_bound(one) for one in coded.dictionary.to_pylist()]
    if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type) or pa.types.is_time(array.type):
        # times in UTC; of whole seconds without a fraction
        texts = (text.removesuffix("Z") for text in coded.dictionary.cast(pa.string()).to_pylist())
        known = [text.rstrip("0").rstrip(".") if "." in text else text for text in texts]
    return [None if number is None else known[number] for number in coded.indices.to_pylist()]


def _format_bound(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return f"{value[:-1].decode()}…" if value.endswith(b"\xff") else value.decode()
        except UnicodeDecodeError:
            return "0x" + value.hex()
    return str(value)


@dataclass(frozen=True, slots=True)
class Level(Named):
    """One step of the way: how many items of a level were looked at, how many were skipped by what, what is left.

    `size_bytes` are the bytes of the data files that are left after it; None where that is not known without reading more.
    """

    name: str
    looked_at: int
    skipped: int
    reasons: tuple[tuple[str, int], ...]
    size_bytes: int | None

    @property
    def left(self) -> int:
        """How many items are left."""
        return self.looked_at - self.skipped


def count_reasons(reasons: NDArray[Any]) -> tuple[tuple[str, int], ...]:
    """Count how many items were skipped for each reason, the most first."""
    counted = Counter(reasons[reasons >= 0].tolist())
    return tuple((REASONS[code], number) for code, number in counted.most_common())


_MOST_TEXT = 400
_MOST_PROOFS = 8  # of a part with many comparisons the first ones are shown


@dataclass(frozen=True, slots=True)
class Share(Named):
    """Files that were skipped, or kept, for the same reason: by which part of the predicate, how many, how much.

    `level` says whether they were skipped by their manifest's line or by their entries, `detail` the values that decided.
    """

    part: str
    column: str
    reason: str
    level: str
    files: int
    record_count: int | None
    size_bytes: int | None
    detail: str = ""


COLUMNS = {
    "level": "string",
    "path": "string",
    "row_group": "int64",
    "decision": "string",
    "reason": "string",
    "term": "string",
    "column": "string",
    "lower": "string",
    "upper": "string",
    "record_count": "int64",
    "size_bytes": "int64",
}


def build_items(explanation: Explanation) -> pa.Table:
    """See `Explanation.to_arrow`; without Arrow it is a table of ours."""
    from lakelens.arrays import pa

    schema = pa.schema(
        [(name, pa.string() if kind == "string" else pa.int64()) for name, kind in COLUMNS.items()]
    )
    tables = []
    manifests = explanation.manifests
    if manifests:
        plain = {
            "path": text_array([manifest.path for manifest in manifests]),
            "record_count": pa.array([_count_rows(manifest) for manifest in manifests], pa.int64()),
            "size_bytes": pa.array([manifest.size_bytes for manifest in manifests], pa.int64()),
        }
        tables.append(_build(explanation.manifest_judgement, "manifest", plain, None, schema))
    if explanation.snapshot is not None:
        facts, within = explanation.facts, explanation.in_kept_manifests
        plain = {name: facts.column(name) for name in ("path", "record_count", "size_bytes")}
        tables.append(_build(explanation.file_judgement, "file", plain, within, schema))
    for group in explanation.row_groups if explanation.with_row_groups else ():
        if group.groups is not None and group.judgement is not None:
            count = len(group.groups)
            plain = {
                "path": text_array([group.file.path] * count),
                "row_group": pa.array(range(count), pa.int64()),
                "record_count": pa.array(list(group.groups.record_counts), pa.int64()),
                "size_bytes": pa.array(list(group.groups.size_bytes), pa.int64()),
            }
            tables.append(_build(group.judgement, "row_group", plain, None, schema))
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _count_rows(manifest: Any) -> int | None:
    """Count the rows of the files that are there, as the list counts them."""
    counts = (getattr(manifest, name, None) for name in ("added_rows_count", "existing_rows_count"))
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


def _build(
    judgement: Judgement,
    level: str,
    plain: dict[str, Any],
    within: NDArray[np.bool_] | None,
    schema: pa.Schema,
) -> pa.Table:
    from lakelens.arrays import np, pa

    places = np.arange(judgement.count) if within is None else np.flatnonzero(within)
    skipped, answers, parts = judgement.skipped, *find_answers(judgement, is_known=level == "manifest")
    chosen = np.where(skipped, judgement.part, parts)
    reasons = np.where(skipped, judgement.reason, answers + len(REASONS))
    lower, upper = list_bounds(judgement, chosen, reasons)
    texts = [part.text for part in judgement.parts]  # each stands in every row that it decided
    columns = {
        "row_group": pa.nulls(judgement.count, pa.int64()),
        **plain,
        "level": pa.array([level] * judgement.count, pa.string()),
        "decision": pa.array(np.where(skipped, "skipped", "kept"), pa.string()),
        "reason": pa.array(np.array([*REASONS, *ANSWERS])[reasons], pa.string()),
        "term": pa.array(
            [text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…" for text in texts], pa.string()
        ).take(pa.array(chosen)),
        "column": pa.array([name_columns(part) for part in judgement.parts], pa.string()).take(
            pa.array(chosen)
        ),
        "lower": lower,
        "upper": upper,
    }
    return pa.table([columns[name] for name in schema.names], schema=schema).take(pa.array(places))


def find_answers(
    judgement: Judgement, *, is_known: bool = False
) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
    """For each item the answer that keeps it, and the part that gives it: the first that not every row fits.

    With `is_known` parts of which something is known go first: lists of manifests know of partitions alone.
    """
    from lakelens.arrays import np

    whole = ANSWERS.index("all_match")
    answers = np.full(judgement.count, whole, np.int8)
    parts = np.zeros(judgement.count, np.int16)
    found = [(number, judgement.answer(part)) for number, part in enumerate(judgement.parts)]
    for wanted in (
        ({ANSWERS.index("overlaps")}, set(range(len(ANSWERS)))) if is_known else (set(range(len(ANSWERS))),)
    ):
        for number, codes in found:
            here = (answers == whole) & (codes != whole) & np.isin(codes, [*wanted])
            answers[here], parts[here] = codes[here], number
    return answers, parts


def list_bounds(
    judgement: Judgement, parts: NDArray[Any], reasons: NDArray[Any]
) -> tuple[pa.Array, pa.Array]:
    """List the values that rows can have of the column of a part, item by item, as text: of what decided."""
    from lakelens.arrays import np, pa

    ends: tuple[list[str | None], list[str | None]] = ([None] * judgement.count, [None] * judgement.count)
    for number, part in enumerate(judgement.parts):
        for code in np.unique(reasons[parts == number]).tolist():
            places = np.flatnonzero((parts == number) & (reasons == code))
            name = REASONS[code] if code < len(REASONS) else ""
            for end, found in zip(ends, _list_ranges(judgement, part, name, places), strict=True):
                for place, text in zip(places.tolist(), found, strict=True):
                    end[place] = text
    return pa.array(ends[0], pa.string()), pa.array(ends[1], pa.string())


def _list_ranges(
    judgement: Judgement, part: Condition, reason: str, places: NDArray[Any]
) -> tuple[list[str | None], list[str | None]]:
    """List the bounds of the terms of a part in some items; without a reason those that are narrowest, of the files."""
    reasons = (reason,) if reason else ("bounds", "key", "partition")
    names = {name for _, name in judgement.proofs}
    lower: list[str | None] = [None] * len(places)
    upper: list[str | None] = [None] * len(places)
    for name in reasons:
        for _, proof in judgement.find_ranges(part, name)[:_MOST_PROOFS] if name in names else ():
            if proof.ranges is None or None not in lower:
                continue
            lows, highs = (
                format_bounds(end.take(places)) for end in (proof.ranges.lower, proof.ranges.upper)
            )
            lower = [new if old is None else old for old, new in zip(lower, lows, strict=True)]
            upper = [new if old is None else old for old, new in zip(upper, highs, strict=True)]
    return lower, upper


def group_skipped(explanation: Explanation) -> tuple[Share, ...]:
    """Group what skipped how many files: manifests by what their list says, files by what their entries say."""
    from lakelens.arrays import np

    judged, shares = explanation.manifest_judgement, []
    skipped = [(n, one) for n, one in enumerate(explanation.manifests) if judged.skipped[n]]
    for number, code in dict.fromkeys((int(judged.part[n]), int(judged.reason[n])) for n, _ in skipped):
        here = [(n, one) for n, one in skipped if judged.part[n] == number and judged.reason[n] == code]
        files = explanation.count_files([one for _, one in here])
        part = judged.parts[number]
        detail = describe_range(judged, part, REASONS[code], np.array([n for n, _ in here]))
        shares.append(Share(part.text, name_columns(part), REASONS[code], "manifest", *files, detail))
    facts, within, judgement = explanation.facts, explanation.in_kept_manifests, explanation.file_judgement
    rows, sizes = facts.numpy("record_count"), facts.numpy("size_bytes")
    for number, part in enumerate(judgement.parts):
        for code in range(len(REASONS)):
            places = np.flatnonzero(within & (judgement.part == number) & (judgement.reason == code))
            if len(places):
                detail = describe_range(judgement, part, REASONS[code], places)
                counts = len(places), int(rows[places].sum()), int(sizes[places].sum())
                shares.append(Share(part.text, name_columns(part), REASONS[code], "file", *counts, detail))
    return tuple(sorted(shares, key=lambda share: (share.level != "manifest", -share.files)))


def group_kept(explanation: Explanation) -> tuple[Share, ...]:
    """Group what keeps how many files: the part that not every row fits, and the answer to it."""
    from lakelens.arrays import np

    facts, judgement = explanation.facts, explanation.file_judgement
    answers, parts = find_answers(judgement)
    kept = judgement.kept & explanation.in_kept_manifests
    rows, sizes = facts.numpy("record_count"), facts.numpy("size_bytes")
    shares = []
    for number, part in enumerate(judgement.parts):
        for code, answer in enumerate(ANSWERS):
            places = np.flatnonzero(kept & (parts == number) & (answers == code))
            if len(places):
                counts = len(places), int(rows[places].sum()), int(sizes[places].sum())
                detail = explanation.explain_answer(part, answer, places)
                shares.append(Share(part.text, name_columns(part), answer, "file", *counts, detail))
    return tuple(sorted(shares, key=lambda share: -share.files))


def describe_range(judgement: Judgement, part: Condition, reason: str, places: NDArray[Any]) -> str:
    """Describe what decided in some items, as one range: from the least lower bound to the greatest upper one."""
    from lakelens.arrays import pc

    for _, proof in judgement.find_ranges(part, reason):
        if proof.ranges is None:
            continue
        lower, upper = (
            getattr(end, "storage", end).take(places) for end in (proof.ranges.lower, proof.ranges.upper)
        )
        ends = pc.min_max(lower)["min"], pc.min_max(upper)["max"]
        if all(end.is_valid for end in ends):
            from lakelens.arrays import pa

            (low,), (high,) = (format_bounds(pa.array([end.as_py()], end.type)) for end in ends)
            return str(high) if high in (low, f"{low}…") else f"{low} … {high}"
    return ""
