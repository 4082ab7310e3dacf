"""lakelens itself, opened anew at each run."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.runners import Prepared, Sums, Target


def prepare_table(target: Target) -> Prepared:
    """All files as one Arrow table, with typed statistics."""
    import lakelens

    return Prepared(
        lambda: lakelens.open(target.path).files.to_arrow(), lambda table: sum_up(table, target.proof)
    )


def prepare_narrow(target: Target) -> Prepared:
    """All files as one Arrow table, without statistics."""
    import lakelens

    return Prepared(lambda: lakelens.open(target.path).files.to_arrow(stats=False), lambda t: sum_up(t, ""))


def prepare_batches(target: Target) -> Prepared:
    """All files in batches, each dropped before the next: what is timed includes summing up."""
    import lakelens

    def run() -> Sums:
        totals = [0, 0, 0, 0]
        for batch in lakelens.open(target.path).files.batches():
            part = sum_up(batch, target.proof)
            for place, number in enumerate((part.files, part.records, part.bytes, part.bounds)):
                totals[place] += number or 0
        return Sums(totals[0], totals[1], totals[2], totals[3] if target.proof else None)

    return Prepared(run, lambda sums: sums)


def prepare_history(target: Target) -> Prepared:
    """What one sees of a table of many snapshots: its card, and the card of its history."""
    import lakelens

    def run() -> Any:
        table = lakelens.open(target.path)
        return table, table._repr_html_(), table.history._repr_html_()

    return Prepared(run, lambda seen: Sums(len(seen[0].snapshots)))


def sum_up(table: Any, proof: str) -> Sums:
    """The sums of an Arrow table or batch of files."""
    import pyarrow.compute as pc

    bounds = None
    if proof:
        bounds = pc.sum(pc.struct_field(table["lower_bounds"], proof)).as_py() or 0
    return Sums(
        table.num_rows, pc.sum(table["record_count"]).as_py(), pc.sum(table["size_bytes"]).as_py(), bounds
    )
