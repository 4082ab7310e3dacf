"""A review of today: which of the packaged questions are due by what the reader's own file says, and then new ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache

from lakelens.errors import UnknownName, WrongArgument, list_nearest
from lakelens.installed import read_text
from lakelens.practice.guesses.journal import add_note, read_notes
from lakelens.practice.guesses.review import Misconception, Prompt, Review, Standing

#: The files of questions, in the order in which new ones are asked.
FILES = ("hive", "iceberg", "paimon", "changes", "delta", "crashes")


def review(notebook: str | None = None, *, most: int = 10, today: date | None = None) -> Review:
    """Questions on ideas of the course, each again after a day, a week and a month.

    A wrong answer names the misconception behind it and what is so; the question begins again with a day. First come those
    that are due, the longest first, then new ones in the order of the course.

    Parameters
    ----------
    notebook
        Only questions on what this notebook teaches, as "02-iceberg"; all of them when it is left out.
    most
        How many are asked at most.
    today
        The day; None for the one that it is.

    Returns
    -------
    Review
        A card to answer on in a notebook, `.answer("b")` elsewhere.

    Raises
    ------
    UnknownName
        There are no questions on that notebook.
    WrongArgument
        `most` is no whole number above zero.

    Examples
    --------
    >>> import lakelens as ll
    >>> ll.review("00-begin")
    Traceback (most recent call last):
    lakelens.errors.UnknownName: no questions on '00-begin'; try: ...
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise WrongArgument("no such number of questions", expected="a whole number above zero", seen=most)
    prompts = [prompt for prompt in load_prompts() if notebook in (None, prompt.notebook)]
    if not prompts:
        known = list(dict.fromkeys(prompt.notebook for prompt in load_prompts()))
        raise UnknownName(f"no questions on {notebook!r}", hint=list_nearest(str(notebook), known))
    day = date.today() if today is None else today
    standings = read_standings()
    dated = [
        (standing.due, prompt)
        for prompt in prompts
        if (standing := standings.get(prompt.id)) is not None and standing.due is not None
    ]
    due = sorted((pair for pair in dated if pair[0] <= day), key=lambda pair: pair[0])
    chosen = [prompt for _, prompt in due] + [prompt for prompt in prompts if prompt.id not in standings]
    later = min((when for when, _ in dated if when > day), default=None)
    pairs = [(prompt, standings.get(prompt.id, Standing())) for prompt in chosen[:most]]
    return Review(pairs, day, len(chosen) - len(pairs), later, _keep_answer)


def _keep_answer(identifier: str, is_right: bool, day: date) -> None:
    add_note({"kind": "review", "question": identifier, "right": is_right, "on": day.isoformat()})


def read_standings() -> dict[str, Standing]:
    """Read how far each question is that was ever answered, by its id."""
    standings: dict[str, Standing] = {}
    for note in read_notes():
        if note.get("kind") != "review" or not isinstance(note.get("right"), bool):
            continue
        try:
            day = date.fromisoformat(str(note.get("on")))
        except ValueError:
            continue
        name = str(note.get("question"))
        standings[name] = standings.get(name, Standing()).move(note["right"], day)
    return standings


@cache
def load_misconceptions() -> Mapping[str, Misconception]:
    """Load what readers get wrong, by its short name."""
    import tomllib

    listed = tomllib.loads(read_text("lakelens.practice.guesses", "questions", "misconceptions.toml"))
    return {key: Misconception(**held) for key, held in listed.items()}


@cache
def load_prompts() -> tuple[Prompt, ...]:
    """Load the questions, in the order of the course."""
    import tomllib

    known = load_misconceptions()
    prompts = []
    for name in FILES:
        listed = tomllib.loads(read_text("lakelens.practice.guesses", "questions", f"{name}.toml"))
        for key, held in listed.items():
            wrong = tuple((text, known[idea]) for idea, text in held.pop("wrong").items())
            prompts.append(Prompt(id=key, wrong=wrong, **held))
    return tuple(prompts)
