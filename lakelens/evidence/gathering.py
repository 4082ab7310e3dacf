"""Evidence of an answer: its claims, those that their places bear out, in pieces, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from lakelens.answers.question import Question, ask, find_question, load
from lakelens.errors import LakeError
from lakelens.evidence.claims import ANY, Answered, Citation, Cited, Claim, Evidence
from lakelens.evidence.reading import Rereader
from lakelens.model.facts.json_values import make_plain

#: Claims that are looked at; where there are more, that is said.
MOST_CLAIMS = 2_000


def open_reader(table: Any, *others: Any) -> Rereader:
    """Open the files of a table for citations, and those of others that it was compared with.

    Raises `LakeError` for one whose format does not say how they are read.
    """
    stores: list[Any] = [
        (other.location, getattr(other.storage, "store", None)) for other in (table, *others)
    ]
    if None in (store for _, store in stores):
        raise LakeError("the format of the table does not say how its files are read", path=table.location)
    return Rereader(stores[0][1], table.location, dict(stores[1:]))


def list_claims(table: Any, question: Question, answer: Any) -> Iterator[Claim]:
    """List what an answer claims; nothing of a question whose declaration does not say."""
    claims: Iterator[Claim] = load(question.claims)(table, answer) if question.claims else iter(())
    return claims


def gather_answer(table: Any, question: Question, answer: Any) -> Evidence:
    """Gather the evidence of an answer to a question, with up to a thousand places of each claim."""
    reader = open_reader(table, *list_others(question, answer))
    return gather(table, list_claims(table, question, answer), parts=1_000, reader=reader)


def ask_cited(table: Any, name: str, **options: Any) -> Answered:
    """Ask a question by its name and gather the evidence of its answer. Raises `LakeError`.

    >>> import lakelens as ll
    >>> ask_cited(ll.sample("iceberg"), "explain", where="id > 15").evidence.claims[0].says
    'id of the snapshot'
    """
    question, answer = find_question(name), ask(table, name, **options)
    return Answered(answer, gather_answer(table, question, answer))


def list_others(question: Question, answer: Any) -> list[Any]:
    """List the tables beside the one that was asked whose files an answer cites."""
    return [getattr(answer, name) for name in question.others]


def gather(
    table: Any,
    claims: Iterable[Claim],
    *,
    offset: int = 0,
    most: int | None = None,
    parts: int = 20,
    skip: int = 0,
    reader: Rereader | None = None,
) -> Evidence:
    """Gather the evidence of claims: from `offset` on at most `most`, each with `parts` of its places after `skip`.

    A `reader` that is asked several times keeps the files that it has opened.

    >>> import lakelens as ll
    >>> from lakelens.evidence.nouns import claim_table
    >>> table = ll.sample("iceberg")
    >>> evidence = gather(table, claim_table(table))
    >>> evidence.claims[0].says, evidence.claims[0].citations[0].path, evidence.unsaid
    ('format_version of the table', '$.format-version', 0)
    """
    reader, listed = reader or open_reader(table), list(islice(claims, MOST_CLAIMS + 1))
    is_cut = len(listed) > MOST_CLAIMS
    listed = listed[:MOST_CLAIMS]
    chosen = listed[offset:] if most is None else listed[offset : offset + most]
    cited, unsaid = [], 0
    for number, claim in enumerate(chosen, offset + 1):
        said = reader.cite(claim, parts, skip, number)
        if said is not None:
            cited.append(said)
        elif claim.value is not ANY:
            unsaid += 1
    return Evidence(cited, max(0, len(listed) - offset - len(chosen)), unsaid, is_cut)


def _keep(text: str) -> str:
    return text


def describe_evidence(evidence: Evidence, mark: Callable[[str], str] = _keep) -> dict[str, Any]:
    """Describe evidence as plain data; `mark` is done to every text that may be the table's."""
    quoted = [
        {
            "n": cited.number,
            "who": "table",
            "what": cited.says,
            **_describe_subject(cited, mark),
            "text": mark(cited.value),
            **_describe_places(cited, mark),
        }
        for cited in evidence.quoted
    ]
    claims = [
        {
            "n": cited.number,
            "says": cited.says,
            **_describe_subject(cited, mark),
            "value": make_plain(cited.value),
            **_describe_rule(cited, mark),
            **({"how": cited.how} if cited.how else {}),
            **_describe_places(cited, mark),
        }
        for cited in evidence.claims
    ]
    return {"claims": claims, "quoted": quoted, "unsaid": evidence.unsaid, "is_cut": evidence.is_cut}


def _describe_subject(cited: Cited, mark: Callable[[str], str]) -> dict[str, Any]:
    if cited.about is None:
        return {}
    return {"about": mark(cited.about) if isinstance(cited.about, str) else make_plain(cited.about)}


def _describe_rule(cited: Cited, mark: Callable[[str], str]) -> dict[str, Any]:
    """Describe what was compared with what, whose limit that is, and what is said on either side of it."""
    rule = cited.rule
    if rule is None:
        return {}

    def plain(value: Any) -> Any:
        made = make_plain(value)
        if isinstance(made, list):
            return [plain(item) for item in made]
        return mark(made) if isinstance(made, str) else made

    given = {
        "sense": rule.sense,
        "limit": plain(cited.limit),
        "of": rule.source,
        "words": mark(rule.words) if rule.words else None,
        "kept": rule.kept,
        "broken": rule.broken,
        "set_at": None if cited.set_at is None else _describe_citation(cited.set_at, mark),
    }
    described = {name: held for name, held in given.items() if held is not None}
    return {"figure": plain(cited.figure), "rule": described}


def _describe_places(cited: Cited, mark: Callable[[str], str]) -> dict[str, Any]:
    described = {"evidence": [_describe_citation(citation, mark) for citation in cited.citations]}
    return {**described, "left": cited.left} if cited.left else described


def _describe_citation(citation: Citation, mark: Callable[[str], str]) -> dict[str, Any]:
    """Describe a citation: where, and what stands there. Offsets go from the first byte to behind the last."""
    value = make_plain(citation.value)
    if citation.how == "the number of its items":
        value = len(citation.value)
    given: Mapping[str, Any] = {
        "file": mark(citation.file),
        "path": mark(citation.path)
        if citation.at or "[" in citation.path or "$" in citation.path
        else citation.path,
        "value": mark(value) if isinstance(value, str) else value,
        "means": f"{citation.value} is {citation.meaning}" if citation.names else citation.how,
        "at": list(citation.at) if citation.at else None,
        "block": list(citation.block) if citation.block else None,
        "bytes": citation.octets.hex() if len(citation.octets) <= _MOST_OCTETS else None,
        "clause": citation.clause,
    }
    return {name: held for name, held in given.items() if held not in (None, "") or name == "value"}


_MOST_OCTETS = 200
