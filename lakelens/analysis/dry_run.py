"""What maintenance would do, before anyone runs it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lakelens.analysis.holdings import Listing, Unread, name_content
from lakelens.analysis.kept import Kept, read_kept
from lakelens.analysis.statement import is_statement, list_forms, read_statement
from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError, list_nearest, say_value
from lakelens.model.arrow import text_array
from lakelens.model.check.references import Referring
from lakelens.model.collections import Items, Tabular
from lakelens.model.driver import require_part
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import format_size
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.finding import Findings
from lakelens.model.maintenance import Fate, Group, Output, Piece, Procedure, Proposal
from lakelens.model.storage import StoredFile

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.table import Table


# Which stored files a procedure deletes: those that only lost states need, those that it names, and orphans.
#
#     lost     a file that a lost state needs, and no kept state nor document
#     named    what the format says by path
#     orphans  what nothing refers to, last written before a time
#
# Sizes are the listing's. A file that is not there is not deleted; nor is anything while a kept state is unread: what it
# needs is not known.


@dataclass(frozen=True, slots=True)
class PlannedFile(StoredFile):
    """A stored file and what happens to it: `action` is "deleted", "rewritten", "replaced" or "read", and `why`.

    A rewritten file is read and leaves the current state; a replaced one leaves it unread. Older states keep both.
    """

    action: str = field(default="deleted", kw_only=True)
    why: str = field(default="", kw_only=True)


def _plan_file(piece: Piece, location: str, action: str) -> PlannedFile:
    size = -1 if piece.size_bytes is None else piece.size_bytes
    short = piece.path.removeprefix(location.rstrip("/") + "/")
    return PlannedFile(piece.path, short, size, piece.role, action=action, why=piece.why)


class PlannedFiles(Items[PlannedFile]):
    """Files that something happens to; each is made when it is asked for."""

    __slots__ = ()
    facts = (
        Fact("action"),
        Fact("role"),
        Fact("path"),
        Fact("relative_path"),
        Fact("size_bytes", "int64"),
        Fact("why"),
    )

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them, as far as they are known."""
        return sum(max(one.size_bytes, 0) for one in self)


@dataclass(frozen=True, slots=True)
class Tally(Named):
    """Files of one role, counted."""

    role: str
    files: int
    size_bytes: int
    why: str = ""


@dataclass(frozen=True)
class Deletions:
    """The files that are deleted, those that stay, and what could not be read.

    `live` and `older` are files of the current state, and further ones that other states keep; None where nothing was looked
    up. `unread` are places with the reason why they could not be read.
    """

    files: PlannedFiles
    tallies: Sequence[Tally]
    live: Tally | None = None
    older: Tally | None = None
    young: Tally | None = None
    unread: tuple[tuple[str, str], ...] = ()
    missing: int = 0


def find_deletions(table: Table, proposal: Proposal) -> Deletions:
    """What a proposal deletes. Reads the listing where it deletes anything, and the manifests where states are lost."""
    if proposal.orphans is not None:
        return _find_orphans(table, proposal)
    listing: Listing | None = None
    found: dict[int, Piece] = {}
    missing = 0
    unread: tuple[tuple[str, str], ...] = ()
    live = older = None
    if proposal.deletes_lost and proposal.lost:
        kept = read_kept(table)
        listing = kept.listing
        found, missing, live, older = _find_lost(kept, proposal)
        unread = _list_unread(table, kept.holdings.unread.values())
        if unread:
            found = {}
    if proposal.deletes:
        listing = listing or Listing(table)
        for piece, place in _place(listing, proposal.deletes):
            if place >= 0:
                found[place] = piece
            else:
                missing += 1
    if listing is None or not found:
        return Deletions(PlannedFiles(()), (), live, older, None, unread, missing)
    named = listing.paths.take(list(found)).to_pylist()
    places = [place for _, place in sorted(zip(named, found, strict=True))]

    def make(place: int) -> PlannedFile:
        piece, path = found[place], listing.paths[place].as_py()
        size, modified = int(listing.sizes[place]), listing.modified[place]
        short = path.removeprefix(listing.root)
        return PlannedFile(path, short, size, piece.role, (), modified, why=piece.why)

    tallies = _count((found[place], int(listing.sizes[place])) for place in places)
    return Deletions(PlannedFiles(places, make), tallies, live, older, None, unread, missing)


def _find_lost(kept: Kept, proposal: Proposal) -> tuple[dict[int, Piece], int, Tally, Tally]:
    """Find the places of the files that only lost states need, and what the others keep."""
    import numpy as np

    holdings, listing = kept.holdings, kept.listing
    lost_names = {fate.keeper for fate in proposal.lost}
    lost = [number for number, keeper in enumerate(holdings.keepers) if keeper.name in lost_names]
    freed, gone = kept.find_freed(lost) & kept.is_needed, kept.count_gone(lost)
    contents = _list_contents(kept)
    found = {
        place: Piece("", name_content(contents.get(place, 0)), None, "only states that are lost need it")
        for place in np.flatnonzero(freed).tolist()
    }
    states = set(lost)
    documents = [
        Piece(path, one.reference.role, None, f"of {holdings.keepers[one.keepers[0]].name}")
        for path, one in holdings.named.items()
        if one.keepers and states.issuperset(one.keepers)
    ]
    why = "only states that are lost name it"
    manifests = [Piece(manifest.path, "manifest", None, why) for manifest in holdings.manifests]
    for piece, place in _place(listing, [*manifests, *documents]):
        if place in found:
            found[place] = piece
    gone += sum(place < 0 for _, place in _place(listing, documents))
    return found, gone, *_count_kept(kept, lost)


def _place(listing: Listing, pieces: Sequence[Piece]) -> list[tuple[Piece, int]]:
    """Pieces with their places in the listing; -1 for what is not there."""

    places = listing.find(text_array([piece.path for piece in pieces]))
    return list(zip(pieces, places.tolist(), strict=True))


def _list_contents(kept: Kept) -> Mapping[int, int]:
    """Say what each listed file holds, as a number of `name_content`: of the files that are no plain data files."""
    import numpy as np

    entries = kept.entries
    rows = np.flatnonzero((entries.contents != 0) & (entries.files < len(kept.listing)))
    return dict(zip(entries.files[rows].tolist(), entries.contents[rows].tolist(), strict=True))


def _count_kept(kept: Kept, lost: Collection[int]) -> tuple[Tally, Tally]:
    """Count the files of entries that the current state needs, and further ones that others do."""
    import numpy as np

    sizes, current = kept.listing.sizes, kept.holdings.table.current
    keepers = kept.holdings.keepers
    newest = [place for place, one in enumerate(keepers) if current is not None and one.id == current.id][:1]
    is_entry = np.zeros(len(kept.listing), bool)
    is_entry[kept.entries.files[kept.entries.files < len(kept.listing)]] = True
    is_entry &= kept.is_needed
    live = kept.find_needed(newest) & is_entry
    older = kept.find_needed(set(range(len(keepers))).difference(lost)) & is_entry & ~live
    return (
        Tally("data", int(live.sum()), int(sizes[live].sum())),
        Tally("data", int(older.sum()), int(sizes[older].sum())),
    )


def _find_orphans(table: Table, proposal: Proposal) -> Deletions:
    """Find what nothing refers to and is old enough, by the rules of `check`."""
    from lakelens.analysis.check.strays import find_strays

    rule = proposal.orphans
    assert rule is not None
    # what was written before the time is old enough, what was written at it is not
    strays = find_strays(table, now=rule.before - timedelta(microseconds=1), age=timedelta(0))
    below = None if rule.below is None else rule.below.rstrip("/") + "/"

    def choose(files: Sequence[Any]) -> Iterator[PlannedFile]:
        for file in files:
            if below is None or file.path.startswith(below):
                yield PlannedFile(
                    file.path,
                    file.relative_path,
                    file.size_bytes,
                    file.role,
                    (),
                    file.modified,
                    why=file.reason,
                )

    found, young = list(choose(strays.orphans)), list(choose(strays.young))
    tallies = _count((Piece(one.path, one.role, None, ""), one.size_bytes) for one in found)
    left = Tally("young", len(young), sum(one.size_bytes for one in young))
    unread = _list_unread(table, strays.unread)
    return Deletions(PlannedFiles(found), tallies, None, None, left, unread)


def _list_unread(table: Table, unread: Iterable[Unread]) -> tuple[tuple[str, str], ...]:
    """List what the engine could not read either: not the documents that only a catalog can choose among."""
    doubts = {path for path, _ in Referring.of(table).list_doubts()}
    return tuple((one.path, one.reason) for one in unread if one.path not in doubts)


def _count(pieces: Iterable[tuple[Piece, int]]) -> tuple[Tally, ...]:
    """Pieces by role, with their bytes."""
    counts: dict[str, list[int]] = {}
    for piece, size in pieces:
        line = counts.setdefault(piece.role, [0, 0])
        line[0] += 1
        line[1] += size
    order = sorted(counts, key=_rank_role)
    return tuple(Tally(role, counts[role][0], counts[role][1]) for role in order)


_ROLES = (
    "data",
    "position delete",
    "equality delete",
    "deletion vectors",
    "changelog data",
    "sidecar",
    "manifest",
)


def _rank_role(role: str) -> tuple[int, str]:
    return (_ROLES.index(role) if role in _ROLES else len(_ROLES), role)


def count_pieces(pieces: Iterable[Piece]) -> tuple[Tally, ...]:
    """Pieces by role, with the bytes that they say themselves."""
    return _count((piece, piece.size_bytes or 0) for piece in pieces)


# A plan of maintenance: what goes, what can never be read again, what stays and why, and the call that would do it.
#
# Nothing here writes. What the files cannot say (the catalog's name, who else uses the files) is among the assumptions.


class Fates(Items[Fate]):
    """States of a table with what becomes of them."""

    __slots__ = ()
    facts = (Fact("keeper"), Fact("id", "int64"), Fact("at", "time"), Fact("by"), Fact("why"))


class Outputs(Items[Output]):
    """Files that would be written, by role."""

    __slots__ = ()
    facts = (
        Fact("role"),
        Fact("files", "int64"),
        Fact("size_bytes", "int64"),
        Fact("is_estimated", "bool"),
        Fact("least", "int64"),
        Fact("most", "int64"),
        Fact("least_files", "int64"),
        Fact("most_files", "int64"),
        Fact("note"),
    )


class Groups(Items[Group]):
    """Files that are rewritten together."""

    __slots__ = ()
    facts = (
        Fact("name"),
        Fact("files", "int64"),
        Fact("size_bytes", "int64"),
        Fact("outputs", "int64"),
        Fact("why"),
    )


class Plan(Tabular, Displayable):
    """The answer of `Table.dry_run`: what the format proposes, and the files that this is about.

    `procedure` is what was asked for and `options` the values that count. `changes` says what readers of the table see
    afterwards, `call` is the statement to copy, `refusal` why the engine would refuse to run it (None: it would not),
    `becomes` the state that is the current one afterwards, where that changes.
    """

    def __init__(
        self, table: Table, procedure: Procedure, options: Mapping[str, Any], proposal: Proposal
    ) -> None:
        self.table = table
        self.name = table.name
        self.procedure = procedure
        self.options = dict(options)
        self.proposal = proposal
        self.changes, self.call = proposal.changes, proposal.call
        self.refusal, self.becomes = proposal.refusal, proposal.becomes
        self.assumptions = proposal.assumptions
        self.writes, self.groups = Outputs(proposal.writes), Groups(proposal.groups)
        self.snapshots_lost, self.kept = Fates(proposal.lost), Fates(proposal.kept)

    @cached_property
    def reads(self) -> FileSet | PlannedFiles:
        """What goes in: data files and delete files, or manifests."""
        if isinstance(self.proposal.reads, FileSet):
            return self.proposal.reads
        if self.proposal.reads:
            location = self.table.location
            return PlannedFiles(self.proposal.reads, lambda piece: _plan_file(piece, location, "read"))
        return FileSet(lambda: (), FileColumns)

    @cached_property
    def _deletions(self) -> Deletions:
        if self.refusal is not None:
            return Deletions(PlannedFiles(()), ())
        return find_deletions(self.table, self.proposal)

    @property
    def deletes(self) -> PlannedFiles:
        """The files that are deleted, each with its size in the listing."""
        return self._deletions.files

    @property
    def deleted(self) -> Sequence[Tally]:
        """The deleted files counted by role."""
        return self._deletions.tallies

    @cached_property
    def replaced(self) -> PlannedFiles:
        """The files that leave the current state; older states keep them, and nothing deletes them yet."""
        read = self.read_paths
        pieces = self.proposal.replaces
        location = self.table.location  # nothing that holds this plan, which may hold all files of a table

        def make(place: int) -> PlannedFile:
            return _plan_file(
                pieces[place], location, "rewritten" if pieces[place].path in read else "replaced"
            )

        return PlannedFiles(range(len(pieces)), make)

    @cached_property
    def replaced_counts(self) -> Sequence[Tally]:
        """The replaced files counted by role."""
        return count_pieces(self.proposal.replaces)

    @cached_property
    def read_paths(self) -> frozenset[str]:
        """The paths of what goes in."""
        reads = self.proposal.reads
        if isinstance(reads, FileSet):
            return frozenset(path for (path,) in reads.pick("path"))
        return frozenset(piece.path for piece in reads)

    @property
    def live(self) -> Tally | None:
        """The files of the current state, which stay; None where they were not looked up."""
        return self._deletions.live

    @property
    def older(self) -> Tally | None:
        """Further files that older states keep; None where they were not looked up."""
        return self._deletions.older

    @property
    def young(self) -> Tally | None:
        """Files that nothing refers to and that are too young to be deleted; None where they were not looked up."""
        return self._deletions.young

    @cached_property
    def notes(self) -> Sequence[str]:
        """What else a reader should know."""
        notes = list(self.proposal.notes)
        if self._deletions.missing:
            count = self._deletions.missing
            notes.append(
                f"{count:,} of the files that would be deleted {'is' if count == 1 else 'are'} not there."
            )
        return notes

    @property
    def freed_bytes(self) -> int:
        """Bytes of the files that are deleted."""
        return sum(one.size_bytes for one in self.deleted)

    @property
    def written_bytes(self) -> int:
        """Bytes that are written, as far as they can be estimated."""
        return sum(write.size_bytes or 0 for write in self.writes)

    @cached_property
    def findings(self) -> Findings:
        """What keeps the plan from coming true: a refusal, and what cannot be read."""
        found = Findings()
        if self.refusal is not None:
            found.add("warning", "engine-refuses", self.table.location, self.refusal)
        for danger in self.proposal.dangers:
            found.add("warning", "takes-what-is-needed", self.table.location, danger)
        for path, reason in self._deletions.unread:
            what = "nothing is deleted" if self.proposal.orphans is None else "the engine fails"
            message = f"it cannot be read ({reason}); what it refers to is not known: {what}"
            found.add("error", "plan-unread", path, message)
        if self.frees:
            for path, reason in Referring.of(self.table).list_doubts():
                found.add("warning", "plan-doubt", path, reason)
        return found

    @property
    def is_certain(self) -> bool:
        """Whether all was read that decides which files are deleted, and no other document may be the current one."""
        return not any(finding.code in ("plan-unread", "plan-doubt") for finding in self.findings)

    def to_arrow(self) -> pa.Table:
        """One row for each file that something happens to: `action`, `role`, `path`, `relative_path`, `size_bytes`, `why`.

        Files that would be written have no names yet: they are in `writes`.
        """
        return PlannedFiles(self._list_rows()).to_arrow()

    def _list_rows(self) -> Iterator[PlannedFile]:
        replaced = {one.path for one in self.proposal.replaces}
        if isinstance(self.reads, FileSet):
            for path, content, size in self.reads.pick("path", "content", "own_size_bytes"):
                if path not in replaced:
                    yield _plan_file(Piece(path, content, size), self.table.location, "read")
        else:
            yield from (read for read in self.reads if read.path not in replaced)
        yield from self.replaced
        yield from self.deletes

    def __repr__(self) -> str:
        return f"<Plan of {self.procedure.name} on {self.name}: {self.headline}, nothing was written>"

    @property
    def frees(self) -> bool:
        """Whether the procedure is there to delete files."""
        return self.removes_orphans or self.proposal.deletes_lost or self.proposal.frees is not None

    @property
    def removes_orphans(self) -> bool:
        """Whether the procedure is there to delete what nothing refers to."""
        return self.proposal.orphans is not None or self.proposal.frees == "orphans"

    @cached_property
    def is_exchange(self) -> bool:
        """Whether files that are there already come in for others that leave: none is written."""
        replaced = self.proposal.replaces
        return bool(self.read_paths and replaced) and self.read_paths.isdisjoint(one.path for one in replaced)

    @cached_property
    def outcome(self) -> Sequence[Output]:
        """The files that come out of a rewriting, by role: not the documents that any commit writes."""
        wanted = {count.role for count in self.replaced_counts} | {
            "data",
            "position delete",
            "deletion vectors",
        }
        found: dict[str, Output] = {}
        for output in self.writes:
            if output.role in wanted:
                before = found.get(output.role)
                found[output.role] = (
                    output if before is None else replace(before, files=before.files + output.files)
                )
        return tuple(found.values())

    @property
    def headline(self) -> str:
        """What it comes to, in a few words."""
        if self.refusal is not None:
            return "the engine refuses"
        if self.frees:
            return ", ".join(self._list_losses())
        if len(self.replaced):
            return self._describe_rewriting()
        if len(self.reads):
            count = len(self.reads)
            return f"adds {count:,} file{'s' * (count != 1)} to the current state"
        if self.becomes and len(self.writes):
            return f"snapshot {self.becomes} becomes the current one"
        return "changes metadata alone" if len(self.writes) else "changes no file"

    def _list_losses(self) -> Iterator[str]:
        yield f"frees {format_size(self.freed_bytes)}"
        if self.removes_orphans:
            count = len(self.deletes)
            yield f"{count:,} file{'s' * (count != 1)} {'goes' if count == 1 else 'go'}"
            return
        lost = len(self.snapshots_lost)
        yield f"{lost:,} of {lost + len(self.kept):,} snapshots go"

    def _describe_rewriting(self) -> str:
        count = len(self.reads) or len(self.replaced)
        if not len(self.reads):
            return f"takes {count:,} file{'s' * (count != 1)} out of the current state"
        out = sum(one.files for one in self.outcome)
        if self.is_exchange or not out:
            return f"adds {count:,} file{'s' * (count != 1)} to the current state, and takes {len(self.replaced):,} out"
        return f"rewrites {count:,} file{'s' * (count != 1)} into about {out:,}"


def plan_procedure(table: Table, procedure: str, options: Mapping[str, Any] | None = None) -> Plan:
    """Plan a procedure, or a statement that runs one: see `Table.dry_run`."""
    known = require_part(table, "maintenance")
    given: dict[str, Any] = {}
    if isinstance(procedure, str) and is_statement(procedure):
        statement = read_statement(procedure, list_forms(known))
        chosen = _find_procedure(known, statement.procedure)
        given = chosen.name_values(statement.values, statement.options)
    else:
        chosen = _find_procedure(known, procedure)
    notes = _note_other_table(table, given.pop("table", None))
    values = chosen.read_options({**given, **(options or {})})
    proposal = chosen.plan(table, values)
    return Plan(table, chosen, values, replace(proposal, notes=(*proposal.notes, *notes)))


def _note_other_table(table: Table, named: object) -> list[str]:
    """Say it where a statement names a table that is called otherwise than this one: it was opened by its place."""
    last, own, place = (
        name.replace("`", "").rstrip("/").replace("/", ".").rpartition(".")[2].lower()
        for name in (str(named or ""), table.name, table.location)
    )
    if last in ("", own, place):
        return []
    return [f"The statement is about {named}; this is the plan for {table.name}, the table that was opened."]


def _find_procedure(known: Mapping[str, Procedure], name: str) -> Procedure:
    if not isinstance(name, str):
        raise LakeError(
            f"the name of a procedure is a text, not {say_value(name)}", hint=f"one of {', '.join(known)}"
        )
    wanted = name.strip().lower().replace("-", "_").removeprefix("system.").removeprefix("sys.")
    for procedure in known.values():
        if wanted in (procedure.name, *procedure.also_called):
            return procedure
    near = list_nearest(wanted, known)
    listed = "" if near.startswith("there are") else f" There are {', '.join(known)}"
    raise LakeError(f"there is no procedure {name[:200]}", hint=near + listed)
