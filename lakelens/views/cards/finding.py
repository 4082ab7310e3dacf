"""Cards of findings, what is wrong or odd about a table as found so far, and of errors, what keeps it from being read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from traceback import FrameSummary, extract_tb

from lakelens.errors import LakeError, NotATable
from lakelens.model.finding import GONE_ON, Finding, Findings
from lakelens.model.storage import EncryptionKeys, Evidence, Reads, Relocation
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Block, Body, Card, Cell, Fact, Fold, Note
from lakelens.views.describe import describe, one

_MOST_SAID, _MOST_SQL = 2_000, 90
_SEVERITIES = ("error", "warning", "note")
#: What compares everything that is recorded with what is there.
CHECK = "table.check()"
HINT_CHECK = cells.hint(
    "every figure and every file", CHECK, named.page("check"), "Check every figure and every file"
)


def format_alert(findings: Findings) -> str:
    """Say how many errors and warnings there are; empty when there are none."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(
        wording.plural(counts[s], s.upper(), f"{s.upper()}S") for s in ("error", "warning") if counts[s]
    )


def fold_findings(findings: Findings, looked_at: str = "no problems found so far") -> Fold:
    """Fold the findings of a table: the worst is said in the answer; `looked_at` is the answer where there are none."""
    if not len(findings):
        return Fold("Findings", looked_at, lambda: one(HINT_CHECK))
    notes = sum(finding.severity == "note" for finding in findings)
    worst = min(findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    alert = format_alert(findings)
    counted = wording.plural(notes, "note") if notes and alert else ""
    first = wording.clean(worst.message, 160)
    answer = first if alert else f"{wording.plural(notes, 'note')}: {first}"
    return Fold(
        "Findings",
        f"{counted}; {answer}" if counted else answer,
        lambda: [*_list_findings(findings), HINT_CHECK],
        alert=alert,
    )


def _list_findings(findings: Findings) -> list[Body]:
    ordered = sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    rows = [
        (
            Cell(f.severity.upper(), "warn" if f.severity != "note" else "mute"),
            cells.code(f.code),
            cells.text(f.message),
            name_place(f, wording.name(f.path)),
            named.linked(cells.text(_format_snapshots(f) or None), *_link_snapshots(f)),
        )
        for f in islice(ordered, display.max_rows)
    ]
    columns = ("severity!", "code!", "what", "where", "snapshots")
    about, total = ("common.finding",), len(ordered)
    grid = cells.grid(
        columns,
        rows,
        how="table.findings.to_pandas()",
        noun="finding",
        total=total,
        about=about,
        target=named.page("findings"),
    )
    return [cells.prune(grid)]


def name_place(finding: Finding, shown: str) -> Cell:
    """Name where a finding is: a file of the table, or a place in one, after its path and a number sign."""
    path = finding.path.partition("#")[0]
    return named.place("bytes", path if "/" in path else None, shown)


def _link_snapshots(finding: Finding) -> tuple[Cell, ...]:
    shown = finding.snapshots[:3]
    return named.snapshots(shown, len(finding.snapshots) - len(shown))


def _format_snapshots(finding: Finding) -> str:
    shown = [str(number) for number in finding.snapshots[:3]]
    more = [f"… {wording.count(len(finding.snapshots) - 3)} more"] if len(finding.snapshots) > 3 else []
    return ", ".join([*shown, *more])


@describe.register
def card_of_findings(findings: Findings, detail: int = 1) -> Card:
    """What was found so far, the worst first."""
    notes = sum(finding.severity == "note" for finding in findings)
    sentence = wording.plural(notes, "note") if notes else "" if len(findings) else "no problems found so far"
    body = tuple(_list_findings(findings)) if len(findings) else ()
    return Card(
        "Findings",
        sentence,
        alert=format_alert(findings),
        body=body,
        about=list_sections(findings, "finding"),
    )


@describe.register
def card_of_finding(finding: Finding, detail: int = 1) -> Card:
    """One thing found: what, where, and which snapshots it affects."""
    items = [("what", cells.text(finding.message)), ("where", name_place(finding, finding.path))]
    if finding.snapshots:
        cell = cells.code(_format_snapshots(finding))
        items.append(("snapshots", named.linked(cell, *_link_snapshots(finding))))
    about = list_sections(finding, "finding")
    alert = finding.severity.upper()
    sentence = "" if finding.severity != "note" else "note"
    body = one(cells.pairs(items))
    return Card(
        wording.clean(finding.code),
        sentence,
        alert="" if finding.severity == "note" else alert,
        body=tuple(body),
        about=about,
    )


@describe.register
def card_of_error(error: LakeError, detail: int = 1) -> Card:
    """What went wrong, where, what was seen and expected, what to try; the frames that led to it are folded."""
    body: list[Body] = [] if error.sql is None else [Block(mark_span(error.sql, error.span))]
    where = ", ".join(filter(None, (error.path, error.place)))
    labels = {
        "where": where,
        "seen": error.seen,
        "looked for" if isinstance(error, NotATable) else "expected": error.expected,
        "because": _format_cause(error),
        "try": error.hint,
    }
    items = [
        (label, (cells.code if label == "where" else cells.text)(wording.clean(text, _MOST_SAID)))
        for label, text in labels.items()
        if text
    ]
    if items:
        body.append(cells.pairs(items, is_open=True))
    folds = () if error.__traceback__ is None else (_fold_frames(extract_tb(error.__traceback__)),)
    sentence = wording.clean(error.message, _MOST_SAID)
    return Card(type(error).__name__, sentence, body=tuple(body), folds=folds, role="del")


def mark_span(sql: str, span: tuple[int, int] | None) -> str:
    """The line of a condition or a query in which a part is wrong, and carets under that part.

    >>> print(mark_span("id = 1 AND nmae = 'a'", (11, 15)))
    id = 1 AND nmae = 'a'
               ^^^^
    """
    begin, end = span or (0, 0)
    first = sql.rfind("\n", 0, begin) + 1
    line = sql[first:].split("\n", 1)[0]
    begin, end = begin - first, min(end - first, len(line))
    cut = max(0, begin - _MOST_SQL // 2) if len(line) > _MOST_SQL else 0
    lead = "…" if cut else ""
    shown = wording.clean(line[cut : cut + _MOST_SQL])
    if span is None:
        return shown
    before = len(lead) + len(wording.clean(line[cut:begin]))
    marked = len(wording.clean(line[begin : min(end, cut + _MOST_SQL)]))
    return f"{lead}{shown}\n{' ' * before}{'^' * max(1, marked)}"


def _format_cause(error: LakeError) -> str:
    """Say what an error comes from, in one line; nothing where the error says that itself."""
    cause = error.__cause__
    if cause is None or isinstance(error, OSError) or not str(cause).strip():
        return ""
    first = str(cause).strip().splitlines()[0]
    if first[:60] in error.message or error.message in first:
        return ""
    return f"{type(cause).__name__}: {wording.clean(first, 200)}"


def _fold_frames(frames: Sequence[FrameSummary]) -> Fold:
    """Show the frames that led to an error: the reader's own and ours, each by file, line and function."""
    ours = str(Path(__file__).parents[2])
    own = sum(not frame.filename.startswith(ours) for frame in frames)
    lines = []
    for frame in frames:
        name = Path(frame.filename).name
        if frame.filename.startswith(ours):
            name = "lakelens" + frame.filename.removeprefix(ours).replace("\\", "/")
        lines.append(f"{name}:{frame.lineno} in {frame.name}\n    {frame.line or ''}".rstrip())
    counted = f"{wording.plural(own, 'frame')} of yours, {wording.count(len(frames) - own)} of lakelens"
    return Fold("Traceback", counted, lambda: one(Block("\n".join(map(wording.visible, lines)))), level=3)


# Cards of what a table's opening found out: the evidence for its format, where it was moved to, what was read.

_MOST = 3


def format_evidence(evidence: Evidence) -> str:
    """Say why the directory is recognised as a table, and why this version of it."""
    reasons = [*evidence.reasons, *([evidence.version_choice] if evidence.version_choice else [])]
    return "; ".join(wording.clean(reason, 300) for reason in reasons)


def list_evidence(evidence: Evidence, location: str) -> list[Body]:
    """List the files that made it certain, and what else could have been opened, by their places below the table."""

    def shorten(path: str) -> Cell:
        root = location.rstrip("/") + "/"
        whole = path if path.startswith(root) else root + path
        # what is no path is the name of a version
        return named.place("bytes", whole if "/" in path else None, path.removeprefix(root))

    items: list[tuple[str, Cell]] = [("seen", shorten(path)) for path in evidence.files[:_MOST]]
    items += [("candidate", shorten(path)) for path in evidence.candidates[:_MOST]]
    items += [("beside it", cells.text(other)) for other in evidence.others]
    bodies: list[Body] = [cells.pairs(items)] if items else []
    more = len(evidence.candidates) - _MOST
    if more > 0:
        left = f"… {wording.plural(more, 'more candidate', 'more candidates')}"
        bodies.append(cells.hint(left, "table.evidence.candidates", words=left))
    return bodies


@describe.register
def card_of_evidence(evidence: Evidence, detail: int = 1) -> Card:
    """Why a directory is recognised as a table."""
    items = [("reason", cells.text(reason)) for reason in evidence.reasons]
    if evidence.version_choice:
        items.append(("version", cells.text(evidence.version_choice)))
    items += [("seen", _name_whole(path)) for path in evidence.files]
    items += [("candidate", _name_whole(path)) for path in evidence.candidates[:50]]
    items += [("beside it", cells.text(other)) for other in evidence.others]
    bodies: tuple[Body, ...] = (cells.pairs(items),)
    if len(evidence.candidates) > 50:
        left = f"… {len(evidence.candidates) - 50:,} more candidates"
        bodies += (cells.hint(left, ".candidates", words=left),)
    sentence = f"this is a table of format {wording.clean(evidence.format)}"
    return Card("Evidence", sentence, body=bodies, about=list_sections(evidence, "evidence"))


def _name_whole(path: str) -> Cell:
    """Name a path; one below a table that is not known here leads nowhere."""
    is_whole = path.startswith("/") or "://" in path
    return named.place("bytes", path if is_whole else None, path)


def is_moved(relocation: Relocation) -> bool:
    """By what is recorded, not by what was mapped so far: a card says the same before and after more is read."""
    recorded = relocation.recorded_location
    return recorded is not None and _trim(recorded) != _trim(relocation.location)


def _trim(place: str) -> str:
    return place.removeprefix("file:").strip("/")


def format_relocation(relocation: Relocation) -> str:
    """Say where it was recorded."""
    if not is_moved(relocation):
        return "it is where it was recorded"
    return f"it was recorded at {wording.clean(relocation.recorded_location)}"


def note_elsewhere(table: Table) -> list[Body]:
    """Note which files this copy of a table lacks, so that they were looked at where they were recorded."""
    from lakelens.model.check.ledger import name_some

    elsewhere = table.relocation.elsewhere
    if not elsewhere:
        return []
    names = name_some([wording.name(path) for path, _ in elsewhere], 3)
    count = len(elsewhere)
    verb, were = ("is", "was") if count == 1 else ("are", "were")
    said = f"{wording.plural(count, 'file')} {verb} not in this copy of the table, and {were} read where recorded: {names}"
    return [Note(said, "warn")]


def note_newer(table: Table) -> list[Body]:
    """That a table has gone on since it was opened, so that files of an answer were missing."""
    found = (finding.message for finding in table.findings if finding.code == GONE_ON)
    return [Note(f"{message[:1].upper()}{message[1:]}.", "warn") for message in found]


def list_relocation(relocation: Relocation) -> list[Body]:
    """Recorded places with those they were mapped to."""
    pairs = dict.fromkeys(relocation.mapping)
    if is_moved(relocation) and not pairs:
        pairs = {(relocation.recorded_location or "", relocation.location): None}
    rows = [(cells.code(recorded), cells.code(now)) for recorded, now in pairs]
    rows += [(cells.code(recorded), Cell("not mapped", "warn")) for recorded in relocation.unmapped]
    grid = cells.grid(("recorded", "now"), rows, how="table.relocation.mapping", about=("common.evidence",))
    return [grid] if rows else []


@describe.register
def card_of_relocation(relocation: Relocation, detail: int = 1) -> Card:
    """How recorded locations were mapped."""
    sentence = "the table was moved" if is_moved(relocation) else "the table is where it was recorded"
    body = tuple(list_relocation(relocation))
    place = wording.clean(relocation.location)
    return Card("Relocation", sentence, place, body=body, about=list_sections(relocation, "evidence"))


@describe.register
def card_of_reads(reads: Reads, detail: int = 1) -> Card:
    """What was read so far; seconds are left out, so that the card is the same each time."""
    facts = (
        Fact("requests", cells.number(reads.requests)),
        Fact("waves", cells.number(reads.waves)),
        Fact("files", cells.number(reads.files)),
        Fact("bytes", cells.size(reads.bytes)),
    )
    rows = [(named.place("bytes", path, path),) for path in reads.paths]
    grid = cells.grid(("file",), rows, how=".paths", noun="file")
    fold = Fold("Files", wording.plural(len(rows), "file"), lambda: one(grid))
    sentence = "what lakelens asked the storage for so far"
    return Card("Reads", sentence, facts=facts, folds=(fold,), about=list_sections(reads, "reads"))


def fold_keys(keys: EncryptionKeys) -> Fold:
    """Fold the keys of an encrypted table, and what of it is in the clear."""
    used = [key for key in keys if key.snapshots]
    named = ", ".join(wording.clean(key.id, 60) for key in used[:3]) or "none"
    more = f" and {wording.count(len(used) - 3)} more" if len(used) > 3 else ""
    answer = f"{wording.plural(len(keys), 'key')}; manifest lists are encrypted with {named}{more}"

    def make() -> list[Body]:
        rows = [
            (
                cells.code(key.id),
                cells.optional(key.encrypted_by),
                cells.size(key.size_bytes),
                cells.number(len(key.snapshots)),
            )
            for key in keys
        ]
        names = ("key", "encrypted by", "bytes#", "snapshots#")
        clear = "In the clear: the metadata document, with schemas, properties, refs and the summaries of snapshots."
        grid = cells.grid(names, rows, how="table.encryption_keys", noun="key", about=("common.encryption",))
        return [grid, Note(clear, "mute")]

    return Fold("Encryption", answer, make)
