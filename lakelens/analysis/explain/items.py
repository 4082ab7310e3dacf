"""What was judged as rows: one an item, and one for each reason with the files that it concerns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.judgement import (
    ANSWERS,
    REASONS,
    Judgement,
    format_bounds,
    name_columns,
)
from lakelens.display import Named
from lakelens.model.arrow import text_array

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.analysis.explain.explanation import Explanation
    from lakelens.model.stats import Condition

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
    """See `Explanation.to_arrow`."""
    import pyarrow as pa

    schema = pa.schema(
        [(name, pa.string() if kind == "string" else pa.int64()) for name, kind in COLUMNS.items()]
    )
    tables = []
    manifests = explanation.manifests
    if manifests:
        plain = {
            "path": text_array([one.path for one in manifests]),
            "record_count": pa.array([_count_rows(one) for one in manifests], pa.int64()),
            "size_bytes": pa.array([one.size_bytes for one in manifests], pa.int64()),
        }
        tables.append(_build(explanation.manifest_judgement, "manifest", plain, None, schema))
    if explanation.snapshot is not None:
        facts, within = explanation.facts, explanation.in_kept_manifests
        plain = {name: facts.column(name) for name in ("path", "record_count", "size_bytes")}
        tables.append(_build(explanation.file_judgement, "file", plain, within, schema))
    for found in explanation.row_groups if explanation.with_row_groups else ():
        if found.groups is not None and found.judgement is not None:
            count = len(found.groups)
            plain = {
                "path": text_array([found.file.path] * count),
                "row_group": pa.array(range(count), pa.int64()),
                "record_count": pa.array(list(found.groups.record_counts), pa.int64()),
                "size_bytes": pa.array(list(found.groups.size_bytes), pa.int64()),
            }
            tables.append(_build(found.judgement, "row_group", plain, None, schema))
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _count_rows(manifest: Any) -> int | None:
    """The rows of the files that are there, as the list counts them."""
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
    import numpy as np
    import pyarrow as pa

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
        "decision": pa.array(np.array(["kept", "skipped"])[skipped.astype(int)], pa.string()),
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
    import numpy as np

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
    """The values that rows can have of the column of a part, item by item, as text: of what decided."""
    import numpy as np
    import pyarrow as pa

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
    """The bounds of the terms of a part in some items; without a reason those that are narrowest, of the files."""
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
    """What skipped how many files: manifests by what their list says, files by what their entries say."""
    import numpy as np

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
    """What keeps how many files: the part that not every row fits, and the answer to it."""
    import numpy as np

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
    """What decided in some items, as one range: from the least lower bound to the greatest upper one."""
    import pyarrow.compute as pc

    for _, proof in judgement.find_ranges(part, reason):
        if proof.ranges is None:
            continue
        lower, upper = (
            getattr(end, "storage", end).take(places) for end in (proof.ranges.lower, proof.ranges.upper)
        )
        ends = pc.min_max(lower)["min"], pc.min_max(upper)["max"]
        if all(end.is_valid for end in ends):
            import pyarrow as pa

            (low,), (high,) = (format_bounds(pa.array([end.as_py()], end.type)) for end in ends)
            return str(high) if high in (low, f"{low}…") else f"{low} … {high}"
    return ""
