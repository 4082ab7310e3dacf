"""The cards of a check: the verdict, how much was compared, what was found and not looked at; first aid; known defects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from lakelens.analysis.check.check import Check, Defects, FirstAid
from lakelens.analysis.check.strays import Stray
from lakelens.model.check.ledger import Comparison, Gap
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fold, Grid, Note, Target
from lakelens.views.cards.finding import format_alert, name_place
from lakelens.views.cards.tree import format_referrers, format_role, link_referrers
from lakelens.views.describe import describe, one

_SEVERITIES = ("error", "warning", "note")

_ABOUT = ("common.check",)


@describe.register
def card_of_check(check: Check, detail: int = 1) -> Card:
    """Say whether the table is sound, on what grounds, and what nobody has looked at."""
    notes = check.severities["note"]
    counted = wording.plural(notes, "note") if notes else ""
    sentence = "; ".join(filter(None, (format_counts(check), counted)))
    body: list[Body] = []
    if check.newer is not None:
        newer = f"{check.newer[:1].upper()}{wording.clean(check.newer[1:], 400)}"
        body.append(Note(f"{newer}, and check the newest state.", "warn"))
    is_judged = check.ok or check.verdict == "gone on"
    body.append(Note(_format_scope(check) if is_judged else _format_losses(check)))
    body += _list_unlooked(check)
    if len(check.findings):
        body.append(_grid_findings(check))
    folds = [] if len(check.findings) else [Fold("Findings", "none")]
    return Card(
        wording.clean(check.verdict).capitalize(),
        sentence,
        alert=format_alert(check.findings),
        body=tuple(body),
        folds=(
            *folds,
            _fold_compared(check),
            *_list_strays(check),
            _fold_defects(check.defects),
            *_fold_gaps(check.not_looked_at),
        ),
        about=list_sections(check, "check"),
    )


def format_counts(check: Check) -> str:
    """Say how many figures were compared and how many differ.

    >>> import lakelens as ll
    >>> format_counts(ll.sample("hive").check())[-12:]
    'none differs'
    """
    many = wording.plural(check.compared, "figure")
    differ = "none differs" if not check.differ else f"{wording.count(check.differ)} differ"
    return f"{many} compared, {differ}{'s' if check.differ == 1 else ''}"


def _format_scope(check: Check) -> str:
    """Say what the check looked at."""
    survey = check.survey
    words = [wording.plural(len(survey.states), "state" if check.has_listing else "snapshot")]
    if survey.manifests:
        words.append(wording.plural(len(survey.manifests), "manifest"))
        words.append(wording.plural(survey.entries.num_rows, "entry", "entries"))
    return f"{', '.join(words)}."


def _format_losses(check: Check) -> str:
    """Say what cannot be read, and until when all can."""
    strays = check.strays
    broken = {
        finding.path
        for finding in check.findings
        if finding.severity == "error" and finding.code == "corrupt"
    }
    roles = {stray.path: stray.role for stray in strays.resized}
    missing, _ = strays.needed
    damaged = Counter(roles.get(path, "file") for path in {*roles, *broken})
    unread = {
        finding.path
        for finding in check.findings
        if finding.severity == "error" and finding.code == "unsupported"
    }
    foreign = Counter({"file": len(unread)} if unread else {})
    words = [
        f"{format_role(role, count)} {'is' if count == 1 else 'are'} {what}"
        for counts, what in ((missing, "missing"), (damaged, "damaged"), (foreign, "not readable here"))
        for role, count in counts.items()
    ]
    if not words or check.whole.is_current:
        lost = f": {', '.join(words)}" if words else ""
        return f"The current snapshot can be read in full; figures or older states are wrong{lost}."
    return f"The current snapshot cannot be read in full: {', '.join(words)}. {_format_whole(check)}"


def _format_whole(check: Check) -> str:
    snapshot, place = check.whole.snapshot, check.whole_place
    if snapshot is None or place is None:
        return "No snapshot is whole."
    number = f"number {wording.count(place)} of {wording.count(check.table.snapshot_count)}"
    return f"Whole until {number}, {wording.moment(snapshot.committed_at)}."


def _list_unlooked(check: Check) -> list[Body]:
    """List what nobody has looked at, with what to type for it."""
    gaps = check.not_looked_at
    if not len(gaps):
        return [Note("Everything was looked at.", "mute")]
    words = "; ".join(wording.clean(gap.what, 160) for gap in gaps)
    calls = [gap.call for gap in gaps if gap.call]
    said = f"Not looked at: {words}"
    if not calls:
        return [Note(said, "mute")]
    whole = None if check.has_rows else named.page("check", run="yes", data="yes")
    return [Note(f"{said}. For these", "mute", calls[0], whole, said)]


def _grid_findings(check: Check) -> Grid:
    ordered = sorted(check.findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    rows = [
        (
            Cell("note", "mute") if finding.severity == "note" else Cell(finding.severity.upper(), "warn"),
            named.lead(cells.code(finding.code), target_figures(check, finding.code)),
            name_place(finding, check.shorten(finding.path)),
            cells.text(finding.message),
            cells.number(len(finding.snapshots)) if finding.snapshots else Cell(""),
        )
        for finding in islice(ordered, display.max_rows)
    ]
    names = ("severity!", "code", "place", "what was recorded, what is there", "snapshots#")
    more = _lead_to(check, "findings")
    return cells.grid(names, rows, how="check.findings", noun="finding", total=len(ordered), target=more)


def _lead_to(check: Check, part: str, words: str | None = None) -> Target:
    """A part of the check in full, or what of it has some words."""
    return named.page("check", run="yes", data="yes" if check.has_rows else None, part=part, q=words)


def target_figures(check: Check, code: str) -> Target | None:
    """Say what leads to the figures whose comparison proves the findings of a code, where any does."""
    line = check.find_comparison(code)
    return None if line is None else _lead_to(check, "compared", line.recorded)


def _fold_compared(check: Check) -> Fold:
    kinds = wording.plural(len(check.counted), "kind")
    answer = f"{wording.plural(check.compared, 'figure')} of {kinds}, {format_counts(check).split(', ')[1]}"
    if check.differ:
        parts = [f"{wording.count(line.differ)} of {line.recorded}" for line in check.counted if line.differ]
        answer = f"{wording.plural(check.compared, 'figure')} of {kinds}: {', '.join(parts)} differ"
    is_open = not len(check.findings)
    return Fold("Compared", answer, lambda: one(_grid_compared(check.counted)), opened=is_open)


def _grid_compared(lines: Sequence[Comparison]) -> Grid:
    rows = [
        (
            cells.text(line.recorded),
            cells.text(line.recorded_in, "mute"),
            cells.text(line.compared_with, "mute"),
            cells.number(line.compared),
            _count_differ(line.differ),
        )
        for line in lines
    ]
    compared, differ = sum(line.compared for line in lines), sum(line.differ for line in lines)
    total = (Cell("all"), Cell(""), Cell(""), cells.number(compared), _count_differ(differ))
    names = ("recorded", "in", "compared with", "compared#", "differ#")
    return cells.grid(names, rows, how="check.counted", noun="kind", totals=(total,))


def _count_differ(count: int) -> Cell:
    return Cell(wording.count(count), "warn" if count else "mute")


def _list_strays(check: Check) -> list[Fold]:
    """List what is missing, what nobody refers to, and what is whole."""
    strays = check.strays
    if strays.is_listed:
        return []
    referred = wording.plural(strays.referenced, "file")
    missing = f"none of {referred} that are referred to"
    if len(strays.missing):
        _, users = strays.needed
        missing = f"{wording.count(len(strays.missing))} of {referred} that are referred to"
        verb, them = ("needs" if len(users) == 1 else "need"), ("it" if len(strays.missing) == 1 else "them")
        missing += f"; {wording.plural(len(users), 'snapshot')} {verb} {them}" if users else ""
        missing += _format_originals(check)
    return [
        Fold("Missing", missing, lambda: one(_grid_strays(strays.missing, check, "missing"))),
        _fold_orphans(check),
        _fold_whole(check),
    ]


def _format_originals(check: Check) -> str:
    """Say what of the missing files another place still has, of a table that was copied."""
    count = len(check.not_here)
    if not count:
        return ""
    homes = check.table.relocation.homes
    where = (
        f"the original at {wording.clean(homes[0], 300)}"
        if len(homes) == 1
        else "the place where they were recorded"
    )
    verb, them = ("is", "it") if count == 1 else ("are", "them")
    return f"; {wording.count(count)} {verb} not in this copy, and {where} still has {them}"


def _fold_orphans(check: Check) -> Fold:
    strays = check.strays
    orphans, young = strays.orphans, strays.young
    answer = "none"
    if len(orphans):
        many = wording.plural(len(orphans), "file")
        answer = f"{many}, {wording.size(orphans.size_bytes)}, referred to by nobody"
    if len(young):
        days = strays.age.days
        answer += f"; {wording.plural(len(young), 'more file' if len(orphans) else 'file')} "
        answer += f"{'is' if len(young) == 1 else 'are'} younger than {wording.plural(days, 'day')}"
        answer += " and may belong to a running commit"
    alert = "" if strays.is_certain or not (len(orphans) or len(young)) else "Do not remove them"
    if alert:
        what = wording.plural(len(strays.unread), "object")
        answer = f"{what} cannot be read, and some of these may be theirs; {answer.removeprefix('none; ')}"
    parts = [
        _grid_strays(files, check, part)
        for files, part in ((orphans, "orphans"), (young, "young"))
        if len(files)
    ]
    return Fold("Orphans", answer, lambda: parts, alert=alert) if parts else Fold("Orphans", answer)


def _grid_strays(files: Sequence[Stray], check: Check, part: str) -> Grid:
    rows = [
        (
            named.stored(stray, cells.code(stray.relative_path)),
            cells.text(stray.role),
            cells.size(stray.size_bytes if stray.size_bytes >= 0 else None),
            cells.moment(stray.modified),
            cells.text(stray.reason),
            named.linked(
                cells.text(format_referrers(stray.referenced_by) or None),
                *link_referrers(stray.referenced_by),
            ),
        )
        for stray in islice(files, display.max_rows)
    ]
    names = ("file", "role", "bytes#", "written, UTC!", "why", "who refers to it")
    how, more = f"check.{part}", _lead_to(check, part)
    return cells.prune(cells.grid(names, rows, how=how, noun="file", total=len(files), target=more))


def _fold_whole(check: Check) -> Fold:
    whole, snapshot = check.whole, check.whole.snapshot
    if snapshot is None:
        many = wording.plural(whole.total, "state")
        return Fold("Whole", f"none of {many}" if whole.total else "there is no snapshot")
    newest = f"{snapshot.id}, {wording.moment(snapshot.committed_at)}"
    if whole.is_current and whole.count == whole.total:
        many = f"all {wording.count(whole.total)} states" if whole.total > 1 else "the one state"
        answer = f"{many}; the newest is {newest}"
        return Fold("Whole", answer, linked=named.mention(answer, snapshot.id))
    newer = wording.plural(len(whole.after), "state")
    answer = f"{newest}, is the newest that is whole; {newer} after it {'is' if len(whole.after) == 1 else 'are'} not"
    if whole.is_current:
        answer = f"{newest}, the newest, is whole; {wording.count(whole.count)} of {wording.count(whole.total)} are"
    target, title = None, ""
    if snapshot.id is not None:
        target, title = Target("snapshot", str(snapshot.id)), f"Snapshot {snapshot.id}, which is whole"
    calls = [cells.hint("", call, target, title) for call in check.first_aid.calls[:1]]
    calls += [cells.hint("", call) for call in check.first_aid.calls[1:]]
    return Fold("Whole", answer, lambda: calls, opened=True)


def _fold_defects(defects: Defects) -> Fold:
    """Fold which known defects of writers were tried, and which of them show."""
    tried, showing = len(defects.tried), defects.showing
    if not tried:
        return Fold("Writers", "no rule about writers of this format is known")
    shows = [tried for tried in showing if tried.rule.severity != "note"]
    notes = len(showing) - len(shows)
    answer = f"{wording.count(len(defects.concerning))} of {wording.plural(tried, 'known defect')} concern these writers"
    alert = ""
    if shows:
        alert = f"{wording.count(len(shows))} {'shows' if len(shows) == 1 else 'show'}"
    answer += f"; {wording.plural(notes, 'shows as a note', 'show as notes')}" if notes else ""
    answer += "; none shows in the bytes" if not showing else ""
    return Fold("Writers", answer, lambda: list_defects(defects), opened=bool(shows), alert=alert)


def list_defects(defects: Defects) -> list[Body]:
    """List the rules that concern the writers or show, and who wrote the table."""
    ordered = sorted(defects.tried, key=lambda one: (not one.shows, not one.concerns))
    chosen = [tried for tried in ordered if tried.shows or tried.concerns]
    rows = [
        (
            cells.code(tried.rule.code),
            cells.text(tried.rule.writers),
            cells.text(tried.rule.shows),
            cells.text(tried.here, "warn" if tried.shows and tried.rule.severity != "note" else "mute"),
            cells.text(tried.rule.thread, "mute"),
        )
        for tried in chosen
    ]
    names = ("rule", "writers it concerns", "how it shows", "here", "thread")
    grid = cells.grid(names, rows, how="check.defects.tried", noun="rule")
    others = len(defects.tried) - len(chosen)
    writers = ", ".join(wording.clean(str(writer), 60) for writer in defects.writers[:8])
    said = f"written by {writers}" if writers else "nothing says who wrote it"
    more = f"; {wording.plural(others, 'more rule concerns', 'more rules concern')} others" if others else ""
    return [grid, Note(f"{said}{more}", "mute")]


def _fold_gaps(gaps: Sequence[Gap]) -> list[Fold]:
    """Say why something was not looked at, where that is more than the rows that nobody asked for."""
    if len([gap for gap in gaps if not gap.call]) == 0:
        return []
    answer = "; ".join(wording.clean(gap.what, 80) for gap in gaps)
    rows = [(cells.text(gap.what), cells.text(gap.why), cells.code(gap.call or None)) for gap in gaps]
    make = lambda: one(  # noqa: E731 - made when the fold is opened
        cells.prune(cells.grid(("what", "why", "call"), rows, how="check.not_looked_at", noun="part"))
    )
    return [Fold("Not looked at", answer, make)]


@describe.register
def card_of_first_aid(aid: FirstAid, detail: int = 1) -> Card:
    """Show which files are lost, which states need them, and the calls that read what is whole."""
    head, *sentences = aid.sentences
    own = {f"{affected}." for affected in aid.affected[: len(sentences)]}
    body: list[Body] = []
    if aid.affected:
        rows = [
            (
                named.stored(affected.file, cells.code(affected.file.relative_path)),
                cells.text(affected.file.role),
                cells.text(affected.file.reason),
                named.linked(
                    cells.text(format_referrers(affected.states) or "no state"),
                    *link_referrers(affected.states),
                ),
            )
            for affected in islice(aid.affected, display.max_rows)
        ]
        names = ("file", "role", "why", "who refers to it")
        total = len(aid.affected)
        body.append(cells.grid(names, rows, how=".affected", noun="file", total=total, about=_ABOUT))
    body += [Note(wording.clean(sentence, 400)) for sentence in sentences if sentence not in own]
    body += [cells.hint("", call) for call in aid.calls]
    return Card("First aid", wording.clean(head, 400), body=tuple(body))


@describe.register
def card_of_defects(defects: Defects, detail: int = 1) -> Card:
    """Show which known defects concern the writers of a table, and where one shows."""
    showing = [tried.rule.code for tried in defects.showing]
    noun = f"{wording.count(len(showing))} shown" if showing else "None shows"
    many = wording.plural(len(defects.tried), "known defect")
    sentence = f"{wording.count(len(defects.concerning))} of {many} concern the writers of this table"
    return Card(noun, sentence, body=tuple(list_defects(defects)), about=_ABOUT)
