"""The rule book of writers' known defects, tried on a table: which concern its writers, which show, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.display import Displayable, Named
from lakelens.errors import LakeError
from lakelens.model.check.defect import DefectBook, Rule, Writer, keep_evidence
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.finding import Finding
from lakelens.model.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


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
class Defects(Displayable):
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


def try_rules(table: Table) -> Defects:
    """Try every rule of the table's format on it.

    Rules look at what the bytes show; the writers that the table names only say which rules concern it. A rule that finds
    something in a table of another writer is reported all the same.

    Parameters
    ----------
    table
        A table of any format.

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
        book: DefectBook = table.driver.part("defects", DefectBook())
        writers = book.list_writers(table)
        for rule in book.rules:
            findings, error = rule.try_on(table)
            concerns = not writers or rule.concerns(writers)
            tried.append(TriedRule(rule, concerns, tuple(findings), error))
    return Defects(writers, TriedRules(tried))
