"""python -m tests.fuzz explores; python -m tests.fuzz FILE … replays cases of the corpus and shows what fails."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.fuzz.choose import list_systematic, make_random
from tests.fuzz.parent import Result, Walker, summarise
from tests.fuzz.recipes import CORPUS, MOST_BYTES, Recipe, list_corpus, list_lakes

_ROUND = 12  # cases of a table before the next one


def list_cases(seed: int) -> Iterator[Recipe]:
    """Table by table, the systematic cases that no other table of the format has had, and half as many of chance."""
    lakes = list(list_lakes())
    samples = [lake for lake in lakes if "/" not in lake]
    known: set[str] = set()
    waiting: dict[str, deque[Recipe]] = {}
    turn = 0
    while True:
        for lake in (*samples, *lakes[len(samples) + turn % 7 :: 7]):
            if lake not in waiting:
                waiting[lake] = deque(_take_new(list_systematic(lake, seed), known))
            for number in range(_ROUND):
                if number % 3 == 2 or not waiting[lake]:
                    yield make_random(lake, seed + turn * _ROUND + number)
                else:
                    yield waiting[lake].popleft()
        turn += 1


def _take_new(recipes: list[Recipe], known: set[str]) -> Iterator[Recipe]:
    for recipe in recipes:
        same = recipe.lake.replace("spark/", "").split("-")[0].split("/")[0]
        words = f"{same} {recipe.edits}"
        if words not in known:
            known.add(words)
            yield recipe


def explore(seconds: float, seed: int) -> int:
    """Walk cases until the time is over, keep one case of each new cause; 1 where there is one."""
    started, results, kept = (
        time.monotonic(),
        [],
        {Recipe.from_json(p.read_text()).cause for p in list_corpus()},
    )
    fresh: list[str] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Walker() as walker, suppress(KeyboardInterrupt):
        for recipe in list_cases(seed):
            if time.monotonic() - started > seconds:
                break
            result = walker.walk(recipe)
            results.append(Result(recipe, result.steps, result.seconds, result.failures, result.impossible))
            for failure in result.failures:
                if failure["cause"] not in kept:
                    kept.add(failure["cause"])
                    path = keep(walker, recipe, failure["step"], failure["cause"])
                    fresh.append(failure["cause"])
                    print(f"{failure['cause']}\n  {failure['step']}\n  {path}\n{failure['text']}", flush=True)
    replaced = walker.started - 1
    figures = summarise(results)
    print(
        f"seed {seed}: {figures['cases']:,} cases ({figures['impossible']:,} impossible), {figures['steps']:,} steps, "
        f"{figures['seconds']:,.0f} s of CPU, {time.monotonic() - started:,.0f} s, {figures['failed']:,} failed, "
        f"{len(figures['causes'])} causes, {len(fresh)} of them new; the process was replaced {replaced} times"
    )
    return int(bool(fresh))


def keep(walker: Walker, recipe: Recipe, step: str, cause: str) -> Path | None:
    """Write a case to the corpus: only the step that fails, where that is enough, and one edit, where that is."""
    small = recipe
    for edits in ([edit] for edit in recipe.edits if len(recipe.edits) > 1):
        if _fails(walker, alone := Recipe(recipe.lake, edits, recipe.seed, recipe.share), cause):
            small = alone
            break
    one = Recipe(small.lake, small.edits, small.seed, small.share, [step])
    if _fails(walker, one, cause):
        small = one
    small.cause = cause
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
    if len(sys.argv) > 1:
        sys.exit(replay(sys.argv[1:]))
    seed = int(os.environ.get("FUZZ_SEED") or time.time())
    sys.exit(explore(float(os.environ.get("FUZZ_SECONDS") or 600), seed))
