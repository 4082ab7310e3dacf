"""Cards of what a table's opening found out: the evidence for its format, where it was moved to, what was read."""

from __future__ import annotations

from lakelens.model.check.ledger import name_some
from lakelens.model.finding import GONE_ON
from lakelens.model.storage import EncryptionKeys, Evidence, Reads, Relocation
from lakelens.model.table import Table
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fact, Fold, Note
from lakelens.views.describe import describe, one

_MOST = 3


def format_evidence(evidence: Evidence) -> str:
    """Why the directory is recognised as a table, and why this version of it."""
    reasons = [*evidence.reasons, *([evidence.version_choice] if evidence.version_choice else [])]
    return "; ".join(wording.clean(reason, 300) for reason in reasons)


def list_evidence(evidence: Evidence, location: str) -> list[Body]:
    """The files that made it certain, and what else could have been opened, by their places below the table."""

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
    """A path; one below a table that is not known here leads nowhere."""
    is_whole = path.startswith("/") or "://" in path
    return named.place("bytes", path if is_whole else None, path)


def is_moved(relocation: Relocation) -> bool:
    """By what is recorded, not by what was mapped so far: a card says the same before and after more is read."""
    recorded = relocation.recorded_location
    return recorded is not None and _trim(recorded) != _trim(relocation.location)


def _trim(place: str) -> str:
    return place.removeprefix("file:").strip("/")


def format_relocation(relocation: Relocation) -> str:
    """Where it was recorded."""
    if not is_moved(relocation):
        return "it is where it was recorded"
    return f"it was recorded at {wording.clean(relocation.recorded_location)}"


def note_elsewhere(table: Table) -> list[Body]:
    """Which files this copy of a table lacks, so that they were looked at where they were recorded."""
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
    found = (one.message for one in table.findings if one.code == GONE_ON)
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
    """The keys of an encrypted table, and what of it is in the clear."""
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
