"""A predicate judged for many items at once: which can hold no row that fits, by what, and what is said of the others.

Proofs are added stage by stage, the cheapest first: partitions, buckets, keys, bounds, indexes. A stage that settles an item
is its reason, and the part of the predicate that fails is the one to name; what stages prove of different parts adds up.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from lakelens.display import Named
from lakelens.model.scan.ranges import Ranges, judge
from lakelens.model.stats import Condition, Constant, Group, Term, list_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

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
        import numpy as np

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
        import numpy as np

        return np.full(self.count, value)

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
        """Where no row fits a part."""
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
        import numpy as np

        failing = np.full(self.count, -1, np.int16)
        for number, part in enumerate(self.parts):
            failing[(failing < 0) & self._fold(part, self._own, "and", False)] = number
        return failing

    def answer(self, part: Condition) -> NDArray[np.int8]:
        """For each item what is said of a part that did not skip it, a code of `ANSWERS`."""
        import numpy as np

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
        """The proofs of a reason for the terms of a part."""
        return [
            (term, proof) for term in list_terms(part) for proof in self.proofs.get((id(term), reason), ())
        ]


def name_columns(part: Condition) -> str:
    """The columns of a part."""
    return ", ".join(dict.fromkeys(term.column for term in list_terms(part)))


def format_bounds(values: Any) -> list[str | None]:
    """Bounds as text; of text that goes on, its beginning."""
    import pyarrow as pa

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
    """How many items were skipped for each reason, the most first."""
    counted = Counter(reasons[reasons >= 0].tolist())
    return tuple((REASONS[code], number) for code, number in counted.most_common())
