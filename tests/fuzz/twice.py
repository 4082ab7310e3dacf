"""A course: the same table asked in another order, and by a copy that was pickled, says the same."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

from lakelens.errors import LakeError
from tests.fuzz.courses import Course, Settings
from tests.fuzz.walk import Failure, Walk

#: Questions without the clock in their answers. Findings and the card of a snapshot say what is known so far.
QUESTIONS = ("files", "partitions", "schema", "snapshots", "refs", "history", "space")


def run(walk: Walk, root: Path, settings: Settings) -> None:
    """Ask two tables of one directory, the second one in the order of the settings."""
    import lakelens as ll

    first = walk.step("first", lambda: ll.open(root))
    second = walk.step("second", lambda: pickle.loads(pickle.dumps(ll.open(root))))
    if first is None or second is None:
        return
    answers = {name: walk.step(f"first.{name}", lambda name=name: _ask(first, name)) for name in QUESTIONS}
    for name in settings["order"]:
        answer = walk.step(f"second.{name}", lambda name=name: _ask(second, name))
        if answer != answers[name]:
            text = f"{ascii(answers[name])[:600]}\n{ascii(answer)[:600]}"
            walk.failures.append(Failure(f"second.{name}", f"asked twice, {name} differs", text))


def _ask(table: Any, name: str) -> str | None:
    try:
        answer = getattr(table, name, None)
        answer = answer() if callable(answer) else answer
        return answer.to_text(2) if hasattr(answer, "to_text") else repr(answer)
    except LakeError as error:
        return str(error)


def choose(rng: random.Random) -> Settings:
    """An order of the questions."""
    return {"order": rng.sample(QUESTIONS, len(QUESTIONS))}


COURSE = Course("twice", run, choose)
