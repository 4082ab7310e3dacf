"""Whether a table is sound: what was compared, what differs, what was not looked at.

A check never says that a table is sound without how much it compared, and what it left out.

The rule book of writers' known defects is tried too: which concern the table's writers, which show, and where.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.check.data_files import check_footers, check_rows
from lakelens.analysis.check.losses import Whole
from lakelens.analysis.check.strays import Stray, StrayFiles, Strays, compare_presence, find_strays
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.check.checking import Checking
from lakelens.model.check.defect import DefectBook, Rule, Writer, keep_evidence, read_once
from lakelens.model.check.ledger import Comparison, Comparisons, Gaps, Ledger
from lakelens.model.check.survey import Survey, choose_states
from lakelens.model.collections import Items, Tabular
from lakelens.model.facts.facts import Fact
from lakelens.model.finding import GONE_ON, Finding, Findings
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.progress import Stages

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_FILES = 20


@dataclass(frozen=True, slots=True)
class Affected:
    """A file that is missing or of another length, and the states that cannot be read in full without it."""

    file: Stray
    snapshots: tuple[int, ...]
    states: tuple[str, ...]

    def __str__(self) -> str:
        if not self.states:
            return f"{self.file.relative_path}: {self.file.reason}; no state needs it to be read"
        first, number = self.states[0], len(self.states)
        states = first if number == 1 else f"{number:,} states, {first} to {self.states[-1]}"
        return f"{self.file.relative_path}: {self.file.reason}; {states} cannot be read in full"


class FirstAid(Displayable):
    """What can still be done: `affected` files, the newest `whole` snapshot of the branch, and `calls` that read it.

    Nothing is repaired: the calls read.
    """

    def __init__(self, strays: Strays) -> None:
        self._strays = strays
        self.whole: Snapshot | None = strays.whole.snapshot
        self.affected: Items[Affected] = _list_affected(strays)
        self.sentences = tuple(_describe(strays, self.affected))
        self.calls: tuple[str, ...] = _list_calls(strays)

    @cached_property
    def lost(self) -> dict[int, int]:
        """How many files each snapshot lacks, by its id."""
        files = (*self._strays.missing, *self._strays.resized)
        return dict(sorted(Counter(number for file in files for number in file.snapshots).items()))

    def __repr__(self) -> str:
        return f"<FirstAid: {self.sentences[0].rstrip('.')}>"


def _list_affected(strays: Strays) -> Items[Affected]:
    """List the files that are missing or of another length; each is made when it is asked for."""
    missing, resized = strays.missing, strays.resized

    def make(place: int) -> Affected:
        beyond = place - len(missing)
        file = missing[place] if beyond < 0 else resized[beyond]
        return Affected(file, file.snapshots, tuple(file.referenced_by))

    return Items(range(len(missing) + len(resized)), make)


def give_first_aid(table: Table, strays: Strays | None = None) -> FirstAid:
    """Give what is lost, what is whole, and how to read that.

    Parameters
    ----------
    table
        A table of any format.
    strays
        What `find_strays` found, when that is known already.

    Examples
    --------
    >>> import lakelens as ll
    >>> give_first_aid(ll.sample("paimon"))
    <FirstAid: All 5 states are whole>
    """
    return FirstAid(find_strays(table) if strays is None else strays)


def _describe(strays: Strays, affected: Items[Affected]) -> Iterator[str]:
    whole = strays.whole
    if strays.is_listed:
        yield "Nothing refers to files here: what the directory lists is the table, and a lost file leaves no trace."
        return
    if not strays.broken:
        yield f"All {whole.total:,} states are whole."
    else:
        yield f"{whole.count:,} of {whole.total:,} states are whole."
    for one in affected[:_MOST_FILES]:
        yield f"{one}."
    if len(affected) > _MOST_FILES:
        yield f"… {len(affected) - _MOST_FILES:,} more files."
    for unread in strays.unread:
        yield f"{unread.path}: {unread.reason}."
    if strays.broken:
        yield from _describe_newest(strays)


def _describe_newest(strays: Strays) -> Iterator[str]:
    whole = strays.whole
    if whole.snapshot is not None:
        moment = f", {whole.snapshot.committed_at:%Y-%m-%d %H:%M:%S}" if whole.snapshot.committed_at else ""
        after = f"; {len(whole.after):,} newer cannot be read in full" if whole.after else ""
        yield f"The newest whole snapshot is {whole.snapshot.id}{moment}{after}."
    else:
        yield "No snapshot of the branch is whole."
    others = [
        name for name, found in whole.branches.items() if found is not None and found is not whole.snapshot
    ]
    if others:
        yield f"Whole states of other branches: {', '.join(others)}."
    if whole.tags:
        yield f"Whole tags: {', '.join(whole.tags)}."


def _list_calls(strays: Strays) -> tuple[str, ...]:
    """List how the newest whole state is read here and in Spark."""
    whole = strays.whole
    if not strays.broken or whole.snapshot is None:
        return ()
    number = whole.snapshot.id
    return (f"table.snapshot({number})", f"SELECT * FROM … VERSION AS OF {number}")


# a reader's own word for what a check says more exactly: of one path only one of them is kept
_SAME = {
    "missing": ("file-missing",),
    "manifest-length": ("file-length",),
    "file-size": ("file-length",),
    "missing-statistics": ("file-missing",),
}

# what expiry leaves of a state: files that are gone, and what cannot be read without them
_GONE = ("missing", "file-missing", "missing-statistics", "missing-snapshot", "no-files")

# what a reader says of a whole snapshot, and a rule delete by delete
_WIDER = ("dangling-deletes",)


class Check(Displayable):
    """The answer of `Table.check`.

    `findings` are what is wrong, `counted` what was compared and how often, `not_looked_at` what was left out. `defects` are
    the known defects of the table's writers that were tried, `strays` the files that are missing or that nobody refers to.
    `newer` says that the table has gone on since it was opened, where files of the opened state are gone: that is no damage,
    and the newest state was not checked.
    """

    def __init__(
        self,
        table: Table,
        survey: Survey,
        strays: Strays,
        defects: Defects,
        *,
        data: bool,
        newer: str | None = None,
    ) -> None:
        self.table = table
        self.name = table.name
        self.survey = survey
        self.strays = strays
        self.defects = defects
        self.has_rows = data
        ledger = survey.ledger
        self.counted: Comparisons = ledger.comparisons
        self.not_looked_at: Gaps = ledger.gaps
        self.newer = newer
        self.findings: Findings = _join_findings(ledger.findings, table.findings)
        if newer is not None:
            self.findings = _judge_past(self.findings, newer, table)

    def to_json(self) -> str:
        """The answer as one JSON document: the verdict, what was compared, which files are missing, every finding.

        Examples
        --------
        >>> import json
        >>> import lakelens as ll
        >>> said = json.loads(ll.sample("iceberg").check().to_json())
        >>> said["ok"], said["missing"], said["differ"]
        (True, [], 0)
        """
        said = {name: getattr(self, name) for name in ("name", "verdict", "ok", "compared", "differ")}
        lists = ("counted", "not_looked_at", "missing", "orphans", "young", "findings")
        rows = {name: getattr(self, name).to_arrow().to_pylist() for name in lists}
        return json.dumps(said | rows, default=lambda value: getattr(value, "isoformat", value.__str__)())

    @property
    def missing(self) -> StrayFiles:
        """The files that are referred to and are not there, with the snapshots that need them."""
        return self.strays.missing

    @cached_property
    def not_here(self) -> tuple[Stray, ...]:
        """Those of `missing` that are not in this copy of the table and still where they were recorded."""
        if not self.table.relocation.elsewhere:
            return ()
        return tuple(one for one in self.missing if one.original is not None)

    @property
    def orphans(self) -> StrayFiles:
        """The files that nobody refers to, but for the young. Not to be removed unless `strays.is_certain`."""
        return self.strays.orphans

    @property
    def young(self) -> StrayFiles:
        """The files that nobody refers to and that are younger than `options.orphan_age`: perhaps of a running commit."""
        return self.strays.young

    @property
    def whole(self) -> Whole:
        """Which states are whole: nothing that they need is gone, of another length or unreadable."""
        return self.strays.whole

    @cached_property
    def first_aid(self) -> FirstAid:
        """What is lost, what is whole, and the calls that read it."""
        return give_first_aid(self.table, self.strays)

    @property
    def ok(self) -> bool:
        """Whether there is no error, and the table has not lost the opened state meanwhile."""
        return self.newer is None and not any(finding.severity == "error" for finding in self.findings)

    def find_comparison(self, code: str) -> Comparison | None:
        """Find the kind of figures whose comparison gave the findings of a code; None where no figure proves them."""
        return next((line for line in self.counted if code in line.codes), None)

    @property
    def compared(self) -> int:
        """How many figures were compared."""
        return sum(one.compared for one in self.counted)

    @property
    def differ(self) -> int:
        """How many of them differ."""
        return sum(one.differ for one in self.counted)

    @property
    def has_differences(self) -> bool:
        """Whether anything differs, or cannot be read."""
        return not self.ok or bool(self.differ)

    @property
    def verdict(self) -> str:
        """ "damaged" where there is an error, "sound" where nothing is odd, else "readable, with differences".

        Where all errors are of files that lakelens does not decode, or has no key for: "not readable here". Where a writer
        has gone on since the table was opened, and what is missing may have expired: "gone on".
        """
        if not self.ok:
            codes = {finding.code for finding in self.findings if finding.severity == "error"}
            if not codes:
                return "gone on"
            return "not readable here" if codes == {"unsupported"} else "damaged"
        is_odd = self.differ or any(finding.severity == "warning" for finding in self.findings)
        return "readable, with differences" if is_odd else "sound"

    @cached_property
    def severities(self) -> Counter[str]:
        """How many findings there are of each severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def has_listing(self) -> bool:
        """Whether the one state is a listing, because the format keeps no snapshots."""
        return not self.table.traits.has_snapshots

    def shorten(self, path: str) -> str:
        """Shorten a path below the table's directory without that directory."""
        return path.removeprefix(self.table.location.rstrip("/") + "/")

    @cached_property
    def whole_place(self) -> int | None:
        """The number of the newest whole snapshot among those of the table, from 1; None where none is whole."""
        newest = self.whole.snapshot
        if newest is None:
            return None
        ids = (snapshot.id for snapshot in self.table.snapshots)
        return next((place for place, number in enumerate(ids, 1) if number == newest.id), None)

    def __repr__(self) -> str:
        words = [self.verdict]
        for severity in ("error", "warning", "note"):
            count = self.severities[severity]
            if count:
                words.append(f"{count:,} {severity}{'s' * (count != 1)}")
        if self.newer is not None:
            return f"<Check of {self.name}: {self.newer}>"
        if not self.ok and not self.has_listing:
            total = self.table.snapshot_count
            place = self.whole_place
            until = (
                "no snapshot is whole" if place is None else f"whole until snapshot {place:,} of {total:,}"
            )
            return f"<Check of {self.name}: {', '.join(words)}; {until}>"
        differ = "none differs" if not self.differ else f"{self.differ:,} differ{'s' * (self.differ == 1)}"
        words += [f"{self.compared:,} figure{'s' * (self.compared != 1)} compared", differ]
        rows = "" if self.has_rows else "; rows not looked at"
        return f"<Check of {self.name}: {', '.join(words)}{rows}>"


def check_table(table: Table, *, data: bool = False, snapshots: Any = "all") -> Check:
    """Check a table: see `Table.check`."""
    ledger = Ledger()
    survey = Survey(table, choose_states(table, snapshots), ledger)
    with Stages("comparing figures") as stages:
        survey.run(lambda: Checking.of(table).compare_figures(survey))
        stages.begin("looking for files that nobody refers to")
        strays = find_strays(table, survey=survey)
        stages.begin("comparing what is recorded with what is there")
        lost = compare_presence(survey, strays)
        check_footers(survey, lost)
        if data:
            check_rows(survey, lost)
        _note_gaps(survey, data=data)
        stages.begin("trying the rules of known defects")
        defects = try_rules(table, survey)
    for finding in defects.findings:
        ledger.findings.add(finding.severity, finding.code, finding.path, finding.message, finding.snapshots)
    for tried in defects.tried:
        if tried.error is not None:
            ledger.leave(f"known defect {tried.rule.code}", tried.error.reason)
    codes = {finding.code for finding in (*table.findings, *ledger.findings)}
    is_lacking = len(strays.missing) or strays.unread or not codes.isdisjoint(_GONE)
    newer = table.find_newer() if is_lacking else None
    return Check(table, survey, strays, defects, data=data, newer=newer)


def _note_gaps(survey: Survey, *, data: bool) -> None:
    """Keep what was not looked at: what damaged manifests hold, and the rows."""
    ledger, unread = survey.ledger, survey.count_unread()
    if survey.damaged:
        noun = "entry" if unread == 1 else "entries"
        many = f"{len(survey.damaged):,} damaged manifest{'s' * (len(survey.damaged) != 1)}"
        what = f"{unread:,} {noun} of {many}" if unread else f"what is left of {many}"
        ledger.leave(what, "they cannot be read; totals that they belong to were not compared")
    if not data:
        what = "the rows themselves (bounds, counts of nulls, keys, order)"
        ledger.leave(what, "no data file was opened but for its footer", "table.check(data=True)")


def _judge_past(found: Findings, newer: str, table: Table) -> Findings:
    """Judge the findings about a state that the table has left behind: that first, and what is missing is no error."""
    elsewhere = dict(table.relocation.elsewhere)
    judged = Findings()
    judged.add("note", GONE_ON, table.metadata_path or table.location, newer)
    for one in found:
        if one.code != GONE_ON:
            is_past = one.code in _GONE and one.path not in elsewhere
            judged.add("note" if is_past else one.severity, one.code, one.path, one.message, one.snapshots)
    return judged


def _join_findings(own: Findings, of_table: Findings) -> Findings:
    """Join what the check found, then what reading the table found, as far as the check does not say the same."""
    joined = Findings(own)
    said = {(found.code, found.path) for found in own}
    codes = {found.code for found in own}
    for found in of_table:
        others = (found.code, *_SAME.get(found.code, ()))
        is_said = any((code, found.path) in said for code in others) or found.code in codes.intersection(
            _WIDER
        )
        if not is_said:
            joined.add(found.severity, found.code, found.path, found.message, found.snapshots)
    return joined


@dataclass(frozen=True, slots=True)
class TriedRule(Named):
    """One rule, whether it concerns the table's writers, where it shows, and what kept it from looking."""

    rule: Rule
    concerns: bool
    findings: tuple[Finding, ...]
    error: LakeError | None = None

    @property
    def shows(self) -> bool:
        """Whether the defect shows anywhere, whoever the writers are."""
        return bool(self.findings)

    @property
    def here(self) -> str:
        """What is found here: the number of places, or why there are none."""
        if self.findings:
            number = len(self.findings)
            return f"{number:,} place{'' if number == 1 else 's'}"
        if self.error is not None:
            return f"not looked at: {self.error.reason}"
        return "does not show" if self.concerns else "does not apply"


class TriedRules(Items[TriedRule]):
    """The rules of a book that was tried."""

    __slots__ = ()
    facts = (
        Fact("code", "string", lambda tried: tried.rule.code),
        Fact("title", "string", lambda tried: tried.rule.title),
        Fact("writers", "string", lambda tried: tried.rule.writers),
        Fact("how it shows", "string", lambda tried: tried.rule.shows),
        Fact("thread", "string", lambda tried: tried.rule.thread),
        Fact("severity", "string", lambda tried: tried.rule.severity),
        Fact("concerns", "bool"),
        Fact("here", "string"),
    )


@dataclass(frozen=True, repr=False)
class Defects(Tabular, Displayable):
    """What `try_rules` found: the `writers` that the table names, and every rule with where it shows."""

    writers: tuple[Writer, ...]
    tried: TriedRules

    @cached_property
    def showing(self) -> tuple[TriedRule, ...]:
        """The rules whose defect shows."""
        return tuple(one for one in self.tried if one.shows)

    @cached_property
    def concerning(self) -> tuple[TriedRule, ...]:
        """The rules that concern the table's writers."""
        return tuple(one for one in self.tried if one.concerns)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every place where a known defect shows."""
        return tuple(finding for one in self.tried for finding in one.findings)

    def to_arrow(self) -> pa.Table:
        """One row for each rule."""
        return self.tried.to_arrow()

    def __len__(self) -> int:
        return len(self.tried)

    def __repr__(self) -> str:
        show = f"{len(self.showing)} show" if self.showing else "none shows in the bytes"
        return f"<Defects: {len(self.concerning)} of {len(self.tried)} known defects concern these writers; {show}>"


def try_rules(table: Table, survey: Survey | None = None) -> Defects:
    """Try every rule of the table's format on it.

    Rules look at what the bytes show; the writers that the table names only say which rules concern it. A rule that finds
    something in a table of another writer is reported all the same.

    Parameters
    ----------
    table
        A table of any format.
    survey
        What a check has read of the table already.

    Examples
    --------
    >>> import lakelens as ll
    >>> tried = try_rules(ll.sample("iceberg"))
    >>> [str(writer) for writer in tried.writers], tried.showing
    (['iceberg 1.12.0', 'spark 3.5.9', 'parquet-mr 1.17.1'], ())
    >>> [one.rule.code for one in tried.concerning][:2]
    ['file-size-too-large', 'nan-bounds']
    """
    tried = []
    with keep_evidence():
        read_once(table, "survey", lambda: survey)
        book: DefectBook = table.driver.part("defects", DefectBook())
        writers = book.list_writers(table)
        for rule in book.rules:
            findings, error = rule.try_on(table)
            concerns = not writers or rule.concerns(writers)
            tried.append(TriedRule(rule, concerns, tuple(findings), error))
    return Defects(writers, TriedRules(tried))


# First aid for a broken table: which states each lost file affects, what is still whole, and the calls that read it.
