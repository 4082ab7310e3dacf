"""A whole table as one page: its sections and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, TypeVar

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.map import is_quick
from lakelens.analysis.timeline.timeline import Timeline
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Manifest, ManifestList
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import wording
from lakelens.views.card.meanings import add_meanings, list_meanings
from lakelens.views.card.model import Card, Cell, Fold, Note, Pairs, Picture, Target
from lakelens.views.card.named import target_of_file
from lakelens.views.describe import describe

# What a page is made of: an object and, below it, what it names, each in a section of its own.
#
# Parts are read in the order of the page; what cannot be read is a part that says so where it would stand.

T = TypeVar("T")
_MOST_MANIFESTS = 6
_MOST_FILES = 5
_MOST_DELETES = 3
_MOST_OTHERS = 3  # index files, statistics files
_MOST_DRAWN = 1_000  # snapshots that are read for a picture of the history
_MOST_WALKED = 200  # snapshots whose lists and manifests are read for the storage tree

_KIB = 1024
# what a section may take; together they stay below the size of a page
SIZES = {
    "table": 42 * _KIB,
    "map": 64 * _KIB,
    "list": 16 * _KIB,
    "manifest": 22 * _KIB,
    "file": 24 * _KIB,
    "deletes": 16 * _KIB,
    "index": 16 * _KIB,
    "statistics": 16 * _KIB,
    "refs": 16 * _KIB,
    "findings": 16 * _KIB,
    "": 32 * _KIB,
}


@dataclass(frozen=True, slots=True, eq=False)
class PagePart:
    """An object that gets a section: what kind it is, by what target others name it, and the part above it.

    Instead of an object it may hold the error that stopped it, under the noun it would have had, or a sentence that says
    why it was left out, with what to type for it.
    """

    thing: Any
    kind: str = ""
    above: PagePart | None = None
    target: Target | None = None
    noun: str = ""
    left_out: tuple[str, str] | None = None
    is_deferred: bool = False  # described after all others were read: it summarises them

    @property
    def depth(self) -> int:
        """How many parts are above it."""
        return 0 if self.above is None else self.above.depth + 1


@dataclass(slots=True)
class _Found:
    """The parts of a page as they are found."""

    parts: list[PagePart] = field(default_factory=list)

    def add(self, thing: Any, kind: str = "", above: PagePart | None = None, **more: Any) -> PagePart:
        part = PagePart(thing, kind, above, **more)
        self.parts.append(part)
        return part

    def read(self, noun: str, read: Callable[[], T], above: PagePart | None = None) -> T | None:
        """Say what is read; None, with a part that says why, where it is damaged."""
        try:
            return read()
        except LakeError as error:
            self.add(error, noun=noun, above=above)
        except Exception as error:
            if display.strict_views:
                raise
            self.add(error, noun=noun, above=above)
        return None


def list_parts(thing: Any) -> Sequence[PagePart]:
    """List the parts of a page in order, the object itself first."""
    found = _Found()
    if isinstance(thing, Table):
        _add_table(found, thing)
    elif isinstance(thing, Snapshot):
        _add_snapshot(found, thing)
    elif isinstance(thing, ManifestList):
        top = found.add(thing, "list")
        _add_manifests(found, [thing], top)
    elif isinstance(thing, Manifest):
        top = found.add(thing, "manifest")
        files = found.read("Data files", lambda: [entry.file for entry in thing.entries[:_MOST_FILES]], top)
        for file in files or ():
            found.add(file, "file", top, target=target_of_file(file))
    elif isinstance(thing, FileSet):
        top = found.add(thing)
        for file in found.read("Data files", lambda: list(islice(thing, _MOST_FILES)), top) or ():
            found.add(file, "file", top, target=target_of_file(file))
    else:
        found.add(thing)
    return found.parts


def _add_table(found: _Found, table: Table) -> None:
    found.add(table, "table", is_deferred=True)
    history = found.read("Snapshots", lambda: table.outline_history(display.max_rows))
    if history is not None and history.count:
        is_drawn = history.count <= _MOST_DRAWN
        found.add(found.read("History", lambda: table.history) or history if is_drawn else history)
    current = found.read("Current snapshot", lambda: table.current)
    if is_quick(current):
        drawn = found.read("Map", table.map)
        if drawn is not None:
            found.add(drawn, "map")
    else:
        found.add(None, noun="Map", left_out=("it reads many manifests", "table.map().to_html(path)"))
    if current is not None:
        _add_snapshot(found, current)
    refs = found.read("Refs", lambda: table.refs)
    if refs is not None and len(refs) > display.max_rows:
        found.add(refs, "refs")
    found.add(table.findings, "findings", is_deferred=True)
    if history is not None and history.count > _MOST_WALKED:
        reason = f"what refers to what is found by walking {wording.plural(history.count, 'snapshot')}"
        found.add(None, noun="Storage tree", left_out=(reason, "table.tree().to_html(path)"))
    else:
        tree = found.read("Storage tree", table.tree)
        if tree is not None:
            found.add(tree)


def _add_snapshot(found: _Found, snapshot: Snapshot) -> None:
    named = None if snapshot.id is None else Target("snapshot", str(snapshot.id))
    top = found.add(snapshot, "table", target=named)
    if snapshot.id is not None:
        changes = found.read("Diff", lambda: snapshot.changes, top)
        if changes is not None:
            found.add(changes, "", top)
    lists = found.read("Manifest lists", lambda: list(snapshot.manifest_lists), top) or []
    manifests = _add_manifests(found, lists, top)
    files = found.read("Files", lambda: (snapshot.files, len(snapshot.files))[0], top)
    if files is not None:
        _add_files(found, snapshot, files, manifests, top)
    for index in islice(found.read("Index files", lambda: snapshot.index_files, top) or (), _MOST_OTHERS):
        found.add(index, "index", top, target=target_of_file(index))
    for statistics in islice(found.read("Statistics", lambda: snapshot.statistics, top) or (), _MOST_OTHERS):
        found.add(statistics, "statistics", top, target=target_of_file(statistics))


def _add_manifests(found: _Found, lists: Sequence[ManifestList], top: PagePart) -> dict[str, PagePart]:
    """Add the lists, each with its first manifests below it; the parts of the manifests by their path."""
    made: dict[str, PagePart] = {}
    for manifest_list in lists:
        above = top
        if top.thing is not manifest_list:
            named = None if manifest_list.path is None else Target("manifest_list", manifest_list.path)
            above = found.add(manifest_list, "list", top, target=named)
        manifests = found.read("Manifests", lambda one=manifest_list: one.manifests, above)  # type: ignore[misc]
        for manifest in islice(manifests or (), max(_MOST_MANIFESTS - len(made), 1)):
            target = Target("manifest", manifest.path)
            made[manifest.path] = found.add(manifest, "manifest", above, target=target)
    return made


def _add_files(
    found: _Found, snapshot: Snapshot, files: FileSet, manifests: dict[str, PagePart], top: PagePart
) -> None:
    above = found.add(files, "", top)
    chosen = list(_choose_files(files, set(manifests)))
    for file in chosen:
        found.add(file, "file", manifests.get(file.manifest or "", above), target=target_of_file(file))
    deletes = list(islice(files.choose(lambda content: content != "data", "content"), _MOST_DELETES))
    vectors = found.read("Deletion vectors", lambda: list(snapshot.deletion_vectors.values()), above) or []
    if deletes or vectors:
        live = found.read("Live rows", lambda: snapshot.count_live_rows(read=False), top)
        below = found.add(live, "deletes", top) if live is not None else top
        for delete in chain(deletes, islice(vectors, _MOST_DELETES)):
            if delete not in chosen:
                named = target_of_file(delete) if isinstance(delete, DataFile) else None
                found.add(delete, "deletes", below, target=named)


def _choose_files(files: FileSet, manifests: set[str]) -> Iterator[DataFile]:
    """One file of each manifest that has a section, then the first ones; data files before what deletes from them."""
    first: dict[str, int] = {}
    for number, (content, manifest) in enumerate(files.pick("content", "manifest")):
        if content == "data" and manifest in manifests:
            first.setdefault(manifest, number)
    by_manifest = {manifest: files[number] for manifest, number in islice(first.items(), _MOST_FILES)}
    yield from by_manifest.values()
    chosen = {file.identity for file in by_manifest.values()}
    others = (file for file in files if file.content == "data" and file.identity not in chosen)
    yield from islice(others, max(_MOST_FILES - len(by_manifest), 0))


# The view-model of a page: numbered sections whose titles are answers, with links from one to another.
#
# A link leads from what a cell names (a snapshot's id, a manifest's or a file's name) to the section of that object. Links
# hold the number of a section and nothing else; nothing of them is made from a lake's own strings.

# figures whose label stands after them, in the singular
_COUNTED = {
    "added": "added",
    "existing": "existing",
    "deleted": "deleted",
    "rows": "row",
    "entries": "entry",
    "columns": "column",
    "rows deleted": "row deleted",
}
_BEFORE = {"bucket": "bucket", "snapshot": "snapshot", "sequence": "sequence", "data file": "of"}
# folds of a table's own card that have a section of their own below it
_BELOW = ("Changes",)
_MOST_WORDS = 220
# kinds whose sentence is but a name: their answer is put together from figures
_NAMED = ("list", "manifest", "file", "index", "statistics", "deletes")


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its number, what its title says, its card, the section above it and those right below.

    `numbers` are those of the sections of the page by what they are about.
    """

    number: int
    noun: str
    answer: str
    card: Card
    most: int
    depth: int = 0
    alert: str = ""
    above: int = 0
    below: tuple[int, ...] = ()
    name: str = ""  # of the file that it is about: what distinguishes it from others of its noun
    numbers: Mapping[Target, int] = field(default_factory=dict, repr=False)

    def lead(self, target: Target) -> str:
        """The link to the section of what a cell of this one names; empty where there is none, or it is this one."""
        number = self.numbers.get(target, self.number)
        return "" if number == self.number else f"#s{number}"


def present_page(thing: Any, detail: int) -> Sequence[Section]:
    """Present the sections of a page: the object itself and, for a table, what it is made of."""

    def draw(part: Any) -> Card:
        return add_meanings(describe(part, detail), 1)  # one list of meanings stands at the end of the page

    parts = list_parts(thing)
    # what sums up the rest is described after it
    cards = {part: _describe(part, draw) for part in parts if not part.is_deferred}
    parts = [part for part in parts if part.kind != "findings" or len(part.thing)]
    cards |= {part: _describe(part, draw) for part in parts if part.is_deferred}
    _begin_with_history(parts, cards)
    if len(parts) > 1:
        last = PagePart(None, noun="Meanings")
        # every name of the page with its sentence, once
        found = {(name, meaning) for card in cards.values() for name, meaning in list_meanings(card)}
        items = tuple((name, Cell(meaning, "mute")) for name, meaning in sorted(found))
        sentence = f"{wording.plural(len(items), 'name')} of this page, each in one sentence"
        cards[last] = Card(
            "Meanings",
            sentence,
            folds=(Fold("Names", "by the alphabet", lambda: (Pairs(items, is_open=True),)),),
        )
        parts = [*parts, last]
    numbers = {part: number for number, part in enumerate(parts, 1)}
    targets = {part.target: numbers[part] for part in reversed(parts) if part.target is not None}
    return [
        Section(
            number,
            cards[part].noun,
            _format_answer(part, cards[part]),
            _leave_out_answer(part, cards[part]),
            SIZES[part.kind],
            part.depth,
            cards[part].alert,
            numbers[part.above] if part.above is not None else 0,
            tuple(numbers[other] for other in parts if other.above is part),
            wording.name(part.target.key) if part.target is not None and part.kind in _NAMED else "",
            targets,
        )
        for part, number in numbers.items()
    ]


def _begin_with_history(parts: Sequence[PagePart], cards: dict[PagePart, Card]) -> None:
    """The picture of a table's history stands on its own card, above everything that is folded."""
    drawn = next((part for part in parts if isinstance(part.thing, Timeline)), None)
    if drawn is None:
        return
    first, card = cards[parts[0]], cards[drawn]
    picture = tuple(body for body in card.body if isinstance(body, Picture))
    # the sentence below the picture goes with it; what to type for a widget is of no use on a page
    story = card.body[len(picture) : len(picture) + 1] if picture else ()
    folds = tuple(fold for fold in first.folds if fold.label not in _BELOW)
    cards[parts[0]] = replace(first, body=(*picture, *story, *first.body), folds=folds)
    cards[drawn] = replace(card, body=())


def _describe(part: PagePart, describe: Callable[[Any], Card]) -> Card:
    """Describe the card of a part; an error stands where the part would."""
    if part.left_out is not None:
        reason, typed = part.left_out
        return Card(part.noun, f"left out: {reason}", body=(Note("to see it", "mute", typed),))
    if isinstance(part.thing, LakeError):
        return Card(part.noun, f"cannot be read: {wording.clean(part.thing)}", alert="ERROR")
    if isinstance(part.thing, Exception):
        line = f"view failed: {type(part.thing).__name__}: {wording.clean(part.thing)}"
        return Card(part.noun, line, alert="ERROR")
    try:
        return describe(part.thing)
    except Exception as error:
        if display.strict_views:
            raise
        line, _, reason = wording.format_failure(part.thing, error).partition("\n")
        return Card(type(part.thing).__name__, line, alert=reason)


def _format_answer(part: PagePart, card: Card) -> str:
    """Say what the title says beside the noun: the card's sentence; figures before it where that is but a name."""
    if isinstance(part.thing, Diff):
        note = next((body.text for body in card.body if isinstance(body, Note)), "")
        return wording.clean(
            f"{note.removesuffix('.')}; {card.sentence}" if note else card.sentence, _MOST_WORDS
        )
    words = [card.sentence]
    if part.kind in _NAMED or not card.sentence:
        figures = [_format_fact(fact.label, fact.value.text) for fact in card.facts[:4]]
        words.insert(0, ", ".join(filter(None, figures)))
    if not any(words) and card.folds:
        words.append(card.folds[0].answer)
    return wording.clean(": ".join(filter(None, words)), _MOST_WORDS)


def _leave_out_answer(part: PagePart, card: Card) -> Card:
    """The card without the note that its section's title says already."""
    is_said = isinstance(part.thing, Diff) and card.body and isinstance(card.body[0], Note)
    return replace(card, body=card.body[1:]) if is_said else card


def _format_fact(label: str, value: str) -> str:
    """Format a figure in the line of a title; none for what is not there.

    >>> _format_fact("added", "2"), _format_fact("deleted", "0"), _format_fact("bucket", "3")
    ('2 added', '', 'bucket 3')
    """
    if value in ("0", "unknown", "absent"):
        return ""
    if label in _COUNTED:
        return f"{value} {_COUNTED[label] if value == '1' else label}"
    return f"{_BEFORE[label]} {value}" if label in _BEFORE else value
