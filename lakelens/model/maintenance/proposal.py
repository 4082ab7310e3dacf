"""What a procedure would do to a table, as its format works it out: the material of a `Plan`.

    reads       files that go in, and are read
    replaces    files that leave the current state; older states keep them, so that they are not deleted yet
    writes      lines of what is written: a role, a number of files, bytes, and whether that is an estimate
    lost        states that can no longer be read, each with why
    kept        states that stay, each with why and with what keeps it
    deletes     files that are deleted, by name; with `deletes_lost` those too that a lost state needs, and no kept one nor
                document; with `orphans` those that nothing refers to

A format fills in what its procedure does and leaves out the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from lakelens.display import Named

if TYPE_CHECKING:
    from lakelens.model.fileset import FileSet


@dataclass(frozen=True, slots=True)
class Fate(Named):
    """What becomes of one state of the table, and why.

    `keeper` is the name of the state among `Referring.list_keepers` ("snapshot 5", "tag v1"). `by` is what keeps it ("branch
    main"), as rows of a table are grouped; `id` and `at` are the snapshot's id and time of commit.
    """

    keeper: str
    why: str
    by: str = ""
    id: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Output(Named):
    """Files of one role that would be written: how many, of how many bytes together (None: not known), and why.

    An estimate says how wrong it may be: the true bytes are at least `least` and at most `most` (None: no limit is known).
    The same holds for the number of files, with `least_files` and `most_files`. `note` says what it is an estimate of.
    """

    role: str
    files: int
    size_bytes: int | None
    is_estimated: bool = True
    least: int | None = None
    most: int | None = None
    least_files: int | None = None
    most_files: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stored file that a procedure reads, replaces or deletes: where it is, its role as `StoredFile` has it, and why.

    `size_bytes` may be left out of what is deleted: the listing has it. Of a part of a file (a deletion vector) it is the
    part's.
    """

    path: str
    role: str
    size_bytes: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class OrphanRule:
    """Which files that nothing refers to are deleted: those last written before a time, below a directory (None: all)."""

    before: datetime
    below: str | None = None


@dataclass(frozen=True, slots=True)
class Group(Named):
    """Files that are rewritten together: what of (a partition, a bucket), how many, their bytes, why, and into how many."""

    name: str
    files: int
    size_bytes: int
    why: str = ""
    outputs: int | None = None


@dataclass(frozen=True, slots=True)
class Assumption(Named):
    """Something that must hold for the plan to come true; `is_known` is false of what the files cannot say."""

    text: str
    is_known: bool = True


@dataclass(frozen=True)
class Proposal:
    """What a procedure would do: see the module. Nothing in it was done.

    `changes` is one sentence about what the table's readers see ("The current data does not change."). `call` is the
    engine's statement, `dialect` what it is written in. `refusal` says why the engine would refuse to run it: then nothing
    is written, and the rest is empty. `becomes` is the state that is the current one afterwards (an id, or words) where that
    changes. `frees` says what a procedure is there to take away, where `deletes` names the files by itself.
    `dangers` are sentences about what the engine would take from states that stay.
    """

    changes: str
    call: str
    dialect: str = "Spark SQL"
    reads: FileSet | Sequence[Piece] = ()
    replaces: Sequence[Piece] = ()
    writes: Sequence[Output] = ()
    lost: Sequence[Fate] = ()
    kept: Sequence[Fate] = ()
    deletes: Sequence[Piece] = ()
    deletes_lost: bool = False
    orphans: OrphanRule | None = None
    groups: Sequence[Group] = ()
    assumptions: Sequence[Assumption] = ()
    notes: Sequence[str] = ()
    refusal: str | None = None
    becomes: str | None = None
    frees: Literal["states", "orphans"] | None = None
    dangers: Sequence[str] = ()
