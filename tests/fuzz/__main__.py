"""python -m tests.fuzz explores, --course NAME one course alone, --subject NAME one subject, --lakes TEXT the tables whose
names have it; FILE … replays cases."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, zip_longest
from pathlib import Path

from tests.fuzz import beside
from tests.fuzz.choose import list_systematic, make_random
from tests.fuzz.courses import list_courses
from tests.fuzz.parent import Result, Walker, summarise
from tests.fuzz.recipes import CORPUS, MOST_BYTES, Recipe, list_corpus, list_lakes
from tests.fuzz.structure import list_structural

_ROUND = 6  # cases of a table before the next one
_COMMITS = 40  # of a writer beside a reader
_COURSE_EVERY = 4  # cases, of which one takes another course than the walk of all verbs
_RARE_EVERY = 6  # cases, of which one does the steps that a walk does seldom
#: In which turn the subjects come. Many of anything take long.
_SUBJECTS = ("pair", "column", "row", "name", "pair", "column", "row", "pair", "name", "many")


def list_cases(seed: int, alone: str = "", named: str = "") -> Iterator[Recipe]:
    """Table by table, in turn: the systematic cases that no other table of the format has had, those of structure, chance.

    With the name of a subject of structure those alone, as far as there are any; of the tables that are `named` so.
    """
    known_lakes = [lake for lake in list_lakes() if named in lake]
    # a short exploration comes to some of the tables only: to others with another seed
    lakes = random.Random(seed).sample(known_lakes, len(known_lakes))
    samples = [lake for lake in lakes if "/" not in lake]
    others = [lake for lake in lakes if "/" in lake]
    known: set[str] = set()
    waiting: dict[tuple[str, str], deque[Recipe]] = {}
    subjects = cycle(random.Random(seed).sample(_SUBJECTS, len(_SUBJECTS)))

    def take(lake: str, subject: str = "") -> Iterator[Recipe]:
        if (lake, subject) not in waiting:
            every = list_structural(lake, subject, seed) if subject else list_systematic(lake, seed)
            waiting[lake, subject] = deque(_take_new(every, known))
        if waiting[lake, subject]:
            yield waiting[lake, subject].popleft()

    turn = 0
    while True:
        for lake in _mix(samples, others[turn % 7 :: 7]):
            for number in range(_ROUND):
                chance = make_random(lake, seed + turn * _ROUND + number)
                if alone:
                    yield from take(lake, alone)
                elif number % 3 == 1:
                    yield next(take(lake, next(subjects)), chance)
                else:
                    yield next(take(lake), chance) if number % 3 == 0 else chance
        turn += 1


def _mix(first: list[str], second: list[str]) -> Iterator[str]:
    """Names of both in turn, as long as there are any."""
    return (name for pair in zip_longest(first, second) for name in pair if name is not None)


def send_on_courses(cases: Iterable[Recipe], alone: str = "") -> Iterator[Recipe]:
    """The same cases, every fourth on one of the other courses in turn, every sixth on the rare steps; or all on one."""
    rare = list_courses()["rare"]
    courses = [course for course in list_courses().values() if course is not rare]
    for number, recipe in enumerate(cases):
        if alone:
            wanted = [list_courses()[alone]]
        elif recipe.kind == "many":
            wanted = []  # a walk of it is long enough
        elif (
            number % _RARE_EVERY == number // _RARE_EVERY % _RARE_EVERY
        ):  # so that it falls on every kind of cases
            wanted = [rare]
        else:
            wanted = courses if number % _COURSE_EVERY == _COURSE_EVERY - 1 else []
        fitting = [course for course in wanted if course.takes(recipe.lake)]
        if fitting:
            course = fitting[number // _COURSE_EVERY % len(fitting)]
            chance = random.Random(f"{recipe.seed} {recipe.lake} {course.name}")
            settings = course.choose(chance)
            edits = [] if course.wants_sound and chance.random() < 0.5 else recipe.edits
            yield replace(recipe, edits=edits, course=course.name, settings=settings)
        elif not alone:
            yield recipe


def _take_new(recipes: list[Recipe], known: set[str]) -> Iterator[Recipe]:
    for recipe in recipes:
        same = recipe.lake.replace("spark/", "").split("-")[0].split("/")[0]
        words = f"{same} {recipe.edits}"
        if words not in known:
            known.add(words)
            yield recipe


def explore(seconds: float, seed: int, course: str = "", subject: str = "", lakes: str = "") -> int:
    """Walk cases until the time is over, keep one case of each cause; 1 where there is one.

    A cause that the corpus has was mended: met again, it is another way there, and kept too. With the name of a course all
    cases take it.
    """
    started, results = time.monotonic(), []
    mended = {Recipe.from_json(path.read_text()).cause for path in list_corpus()}
    met: set[str] = set()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Walker() as walker, suppress(KeyboardInterrupt):
        for recipe in _list_wanted(seed, course, subject, lakes):
            if time.monotonic() - started > seconds:
                break
            result = walker.walk(recipe)
            results.append(Result(recipe, result.steps, result.seconds, result.failures, result.impossible))
            for failure in result.failures:
                if failure["cause"] not in met:
                    met.add(failure["cause"])
                    path = keep(walker, recipe, failure["step"], failure["cause"])
                    print(f"{failure['cause']}\n  {failure['step']}\n  {path}\n{failure['text']}", flush=True)
    replaced = walker.started - 1
    figures = summarise(results)
    print(
        f"seed {seed}: {figures['cases']:,} cases ({figures['impossible']:,} impossible), {figures['steps']:,} steps, "
        f"{figures['seconds']:,.0f} s of CPU, {time.monotonic() - started:,.0f} s, {figures['failed']:,} failed, "
        f"{len(figures['causes'])} causes, {len(met - mended)} of them new; the process was replaced {replaced} times"
    )
    for name, kind in sorted(figures["kinds"].items(), key=lambda item: -item[1].seconds):
        share = kind.seconds / (figures["seconds"] or 1)
        print(
            f"  {name}: {kind.cases:,} cases, {kind.steps:,} steps, {kind.seconds:,.0f} s of CPU, {share:.0%} of it"
        )
    return int(bool(met)) or (0 if course or subject or lakes else _write_beside())


def _list_wanted(seed: int, course: str, subject: str, lakes: str) -> Iterator[Recipe]:
    cases = list_cases(seed, subject, lakes)
    return cases if subject and not course else send_on_courses(cases, course)


def _write_beside() -> int:
    """A short run of a writer beside a reader, where pyiceberg is installed; 1 where the reader saw what is not."""
    if beside.find_python() is None:
        print("no writer beside a reader: pyiceberg is not installed")
        return 0
    return beside.main(_COMMITS, readers=1)


def keep(walker: Walker, recipe: Recipe, step: str, cause: str) -> Path | None:
    """Write a case to the corpus: only the step that fails, where that is enough, and one edit, where that is."""
    small = recipe
    for edits in ([edit] for edit in recipe.edits if len(recipe.edits) > 1):
        if _fails(walker, alone := replace(recipe, edits=edits), cause):
            small = alone
            break
    one = replace(small, steps=[step])
    if _fails(walker, one, cause):
        small = one
    small = replace(small, cause=cause)
    text = small.to_json() + "\n"
    if len(text) > MOST_BYTES:
        print(f"too large to be kept: {text}")
        return None
    path = CORPUS / f"{small.name}.json"
    path.write_text(text)
    return path


def _fails(walker: Walker, recipe: Recipe, cause: str) -> bool:
    return any(failure["cause"] == cause for failure in walker.walk(recipe).failures)


def replay(paths: list[str]) -> int:
    """Walk cases of the corpus again and say what fails."""
    failed = 0
    with Walker() as walker:
        for path in paths:
            result = walker.walk(Recipe.from_json(Path(path).read_text()))
            print(f"{path}: {result.impossible or f'{result.steps} steps, {len(result.failures)} failures'}")
            for failure in result.failures:
                failed = 1
                print(f"  {failure['cause']}\n  {failure['step']}\n{failure['text']}")
    return failed


if __name__ == "__main__":
    given = sys.argv[1:]
    wanted = dict(zip(given[::2], given[1::2], strict=False)) if given[:1] and given[0][:2] == "--" else {}
    if given and not wanted:
        sys.exit(replay(given))
    seed, seconds = (
        int(os.environ.get("FUZZ_SEED") or time.time()),
        float(os.environ.get("FUZZ_SECONDS") or 600),
    )
    chosen = (wanted.get(name, "") for name in ("--course", "--subject", "--lakes"))
    sys.exit(explore(seconds, seed, *chosen))
