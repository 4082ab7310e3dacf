"""What a ledger says to the answers: limits and a measure of health, a rule, a procedure, and what a page's bytes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from lakelens.codecs.span.span import Octets, Span, damaged_leaf
from lakelens.errors import Corrupt
from lakelens.model.check.defect import DefectBook, Product, Writer, rule
from lakelens.model.finding import Finding
from lakelens.model.maintenance import Option, Piece, Procedure, Proposal
from lakelens.model.measures.measure import Call, Limit, Measure
from lakelens.model.measures.rules import HealthRules


def measure_scribes(snapshot: Any, *_: object) -> Iterator[Measure]:
    """Count who wrote the live files; many hands make the ledger hard to read."""
    scribes = {file.scribe for file in snapshot.files}
    call = Call("ledger appoint --one", "leaves one scribe", "")
    limit = Limit(1, "≤", "property", "ledger.scribes")
    yield Measure("scribes", "metadata", len(scribes), "count", limit, "one is enough", (call,))


def make_rules(table: Any, snapshot: Any) -> HealthRules:
    """Make the rules of one state of a ledger."""
    measures = () if snapshot is None else (partial(measure_scribes, snapshot),)
    size = Limit(8, "≥", "default", "ledger.smallest-file")
    return HealthRules(table, snapshot, file_size=size, measures=measures, limits_of_sight=("ink fades",))


@rule(
    "nameless-scribe",
    "the first edition of the pen left out the scribe",
    writers=(Product("pen", before="2.0"),),
    threads=("ledger/pen#1",),
    shows="a line without a scribe",
    severity="warning",
)
def find_nameless(table: Any) -> Iterator[Finding]:
    """Lines that do not say who wrote them."""
    for page in table.current.manifests:
        for entry in page.entries:
            if not entry.file.scribe:
                yield find_nameless.report(page.path, f"nobody wrote {entry.file.recorded_path}")


def list_writers(table: Any) -> tuple[Writer, ...]:
    """Every ledger is written with a pen."""
    return (Writer("pen", "1.0", "its ink"),)


BOOK = DefectBook((find_nameless,), list_writers)


def plan_tidy(table: Any, values: Mapping[str, Any]) -> Proposal:
    """Burn the data files that the newest document has no line for."""
    live = {file.path for file in table.files}
    gone = [
        Piece(stored.path, stored.role, stored.size_bytes, "no line names it")
        for stored in table.list_files()
        if stored.role == "data file" and stored.path not in live
    ]
    most = values.get("most", len(gone))
    return Proposal("The current data does not change.", "ledger tidy", "Ledger", deletes=gone[:most])


PROCEDURES: Mapping[str, Procedure] = {
    "tidy": Procedure(
        "tidy",
        "Tidy",
        "Burn what nobody needs.",
        (Option("most", "integer", "how many files at most", "all", least=0),),
        plan_tidy,
    )
}


def explain_ledger_page(data: Octets, start: int, end: int) -> Span:
    """Name every line of a page: the head, files that were added, files that were removed."""
    return Span(
        start, end, "ledger page", None, "CSV", partial(_explain_lines, bytes(data[start:end]), start)
    )


def _explain_lines(page: bytes, start: int) -> Sequence[Span]:
    names = {b"m": "names", b"+": "added", b"-": "removed"}
    leaves, at = [], start
    for line in page.splitlines(keepends=True):
        label = names.get(line[:1])
        if label is None:
            leaves.append(damaged_leaf(at, at + len(line), Corrupt("no mark", offset=at, seen=line[:1])))
        else:
            leaves.append(Span(at, at + len(line), label, line.decode("utf-8", "replace").rstrip("\n")))
        at += len(line)
    return leaves
