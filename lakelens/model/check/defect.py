"""Known defects of writers: what a rule says, whom it concerns, and where it shows.

A rule is one module of a format's room `defects`, with a module-level `RULE`. It looks at what the bytes show; the
writer and its version only say whether the rule concerns the table at all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.installed import read_text
from lakelens.model.driver import load_named
from lakelens.model.finding import Finding, Severity

if TYPE_CHECKING:
    from lakelens.model.table import Table

#: One rule gives no more places.
MOST_FINDINGS = 1_000
_NUMBER = re.compile(r"\d+")
_EVIDENCE: ContextVar[dict[Any, Any] | None] = ContextVar("evidence", default=None)


@contextmanager
def keep_evidence() -> Iterator[None]:
    """Rules that are tried inside share what they read (`read_once`), and nothing is kept afterwards."""
    token = _EVIDENCE.set({})
    try:
        yield
    finally:
        _EVIDENCE.reset(token)


def read_once(table: Table, name: str, read: Callable[[], Any]) -> Any:
    """Say what some rules look at, read by the first of them.

    >>> with keep_evidence():
    ...     [read_once(None, "sizes", lambda: number) for number in (1, 2)]
    [1, 1]
    """
    kept = _EVIDENCE.get()
    if kept is None:
        return read()
    key = id(table), name
    if key not in kept:
        kept[key] = read()
    return kept[key]


@dataclass(frozen=True, slots=True)
class Writer(Named):
    """Who wrote something, as the bytes say it: `product` in lower case ("parquet-mr"), `version`, and the place."""

    product: str
    version: str = ""
    source: str = field(default="", compare=False)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, to compare; empty where it says none.

        >>> Writer("iceberg", "1.4.0").numbers < Writer("iceberg", "1.10.1").numbers
        True
        """
        return parse_version(self.version)

    def __str__(self) -> str:
        return f"{self.product} {self.version}".strip()


def parse_version(text: str) -> tuple[int, ...]:
    """Parse the numbers of a version, up to the first that is none.

    >>> parse_version("1.4.0"), parse_version("0.9-SNAPSHOT"), parse_version("unknown")
    ((1, 4, 0), (0, 9), ())
    """
    matched = re.match(r"\D{0,2}(\d+(?:\.\d+)*)", text)
    return tuple(map(int, _NUMBER.findall(matched[1]))) if matched else ()


@dataclass(frozen=True, slots=True)
class Product:
    """A product and the versions of it that a defect is in: from `since` up to but without `before`; "" is no limit.

    >>> Product("iceberg", "1.4.0", "1.4.1").matches(Writer("iceberg", "1.4.0"))
    True
    >>> Product("iceberg", before="1.4").matches(Writer("iceberg", "1.4.1")), str(Product("paimon"))
    (False, 'paimon')
    """

    name: str
    since: str = ""
    before: str = ""

    def matches(self, writer: Writer) -> bool:
        """Check whether a writer is this product in one of these versions; one that says no version may be."""
        if writer.product != self.name:
            return False
        version = writer.numbers
        if not version:
            return True
        since, before = parse_version(self.since), parse_version(self.before)
        return version >= since and (not before or version < before)

    def __str__(self) -> str:
        if self.since and self.before:
            return f"{self.name} from {self.since}, before {self.before}"
        if self.before:
            return f"{self.name} before {self.before}"
        return f"{self.name} from {self.since}" if self.since else self.name


@dataclass(frozen=True, slots=True)
class Rule:
    """One known defect: `code` and `title`, the `products` that have it, the public `threads` about it, how it shows.

    `find` gives a finding for each place where it shows. It reads what the table's metadata says; rules with
    `reads_files` look into data files too. A rule without products concerns every writer.
    """

    code: str
    title: str
    products: tuple[Product, ...]
    threads: tuple[str, ...]
    shows: str
    severity: Severity
    find: Callable[[Any], Iterable[Finding]] = field(compare=False, repr=False)
    reads_files: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        # the name of the function is the rule's, where `rule` made it
        return load_named, (f"{self.find.__module__}:{self.find.__qualname__}",)

    @property
    def thread(self) -> str:
        """The first of the threads ("apache/iceberg#8860")."""
        return self.threads[0]

    @property
    def writers(self) -> str:
        """The products and their versions in words."""
        return ", ".join(map(str, self.products)) or "any"

    def concerns(self, writers: Iterable[Writer]) -> bool:
        """Check whether one of some writers may have the defect."""
        return not self.products or any(
            product.matches(writer) for writer in writers for product in self.products
        )

    def report(self, path: str, message: str, snapshots: Iterable[int] = ()) -> Finding:
        """Report a finding of this rule."""
        return Finding(self.severity, self.code, path, message, tuple(dict.fromkeys(snapshots)))

    def try_on(self, table: Table) -> tuple[list[Finding], LakeError | None]:
        """Where the defect shows in a table, at most 1,000 places, and what kept the rule from looking at all of it."""
        found: list[Finding] = []
        try:
            for one in self.find(table):
                found.append(one)
                if len(found) == MOST_FINDINGS:
                    break
        except LakeError as error:
            return found, error.without_frames()
        return found, None


def rule(
    code: str,
    title: str,
    *,
    writers: tuple[Product, ...] = (),
    threads: tuple[str, ...] = (),
    shows: str,
    severity: Severity,
    reads_files: bool = False,
) -> Callable[[Callable[[Any], Iterable[Finding]]], Rule]:
    """Make a rule of the function that finds where a defect shows, which calls itself to report: see `Rule`.

    >>> @rule("odd-name", "names are odd", shows="an odd name", severity="note")
    ... def find_odd_names(table):
    ...     yield find_odd_names.report(table.location, "the name is odd")
    >>> find_odd_names.code, find_odd_names.writers
    ('odd-name', 'any')
    """

    def make(find: Callable[[Any], Iterable[Finding]]) -> Rule:
        return Rule(code, title, writers, threads, shows, severity, find, reads_files)

    return make


class RuleTexts:
    """What a format's document says of its rules, each under its code; called with a code it makes one as `rule` does.

    `made` are the rules, in the order in which they were made.
    """

    def __init__(self, package: str, name: str) -> None:
        self._said = tomllib.loads(read_text(package, name))
        self.made: list[Rule] = []

    def __call__(self, code: str) -> Callable[[Callable[[Any], Iterable[Finding]]], Rule]:
        said = self._said[code]
        named = said.get("writers", ())
        writers = tuple(Product(name) if isinstance(name, str) else Product(**name) for name in named)
        make_rule = rule(code, **{**said, "writers": writers, "threads": tuple(said["threads"])})

        def make(find: Callable[[Any], Iterable[Finding]]) -> Rule:
            self.made.append(make_rule(find))
            return self.made[-1]

        return make


@dataclass(frozen=True, slots=True)
class DefectBook:
    """What a format says of the defects of those who write its tables: the rules, and who wrote a table.

    `list_writers` says it as summaries and footers do; at most 200 footers are read.
    """

    rules: tuple[Rule, ...] = ()
    list_writers: Callable[[Any], tuple[Writer, ...]] = lambda table: ()
