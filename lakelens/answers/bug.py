"""`lakelens bug`: what a report of a fault needs, in one zip, and nothing of the table's own names and values.

    README.md                what is in the zip, what was replaced, and what is as it was given
    versions.json            lakelens, Python, the platform, and the packages that lakelens uses
    check.json               what a check of the table finds, as counts by code: messages and paths stay behind
    call.json                a question that fails: of which kind, where in lakelens; then the same of the skeleton, in full
    skeleton/                the metadata with every name and value replaced: see `Table.skeleton`
    skeleton-check.json      a check of that, in full

What is said of the table itself are counts, kinds of errors and places in lakelens; what is said in full is of the skeleton.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import shlex
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import lakelens
from lakelens.answers.parts import describe
from lakelens.answers.question import Question, ask, find_question
from lakelens.errors import LakeError, say_value
from lakelens.model.facts.json_values import make_plain
from lakelens.model.table import Table
from lakelens.opening import open_table
from lakelens.whole import write_whole

_ROOT = Path(lakelens.__file__).parent
_DATE = (1980, 1, 1, 0, 0, 0)  # of every file in the zip: when a report was made is nobody's business
#: What is in a report, by name.
CONTENTS = {
    "versions.json": "lakelens, Python, the platform, and the packages that lakelens uses",
    "check.json": "what a check of the table finds: counts by kind, without a message or a path",
    "call.json": "the question that was asked: how it ends on the table (kind of error, place in lakelens), and on the "
    "skeleton, in full",
    "skeleton/": "the table's metadata with every name and value replaced, and no data file",
    "skeleton-check.json": "a check of the skeleton, in full; its data files are missing, as they must be",
}


def write_report(
    table: Table, target: str | os.PathLike[str], call: str = "", keep: Sequence[str] = ()
) -> dict[str, int]:
    """Write a zip to attach to a report of a fault; what is in it, with the bytes of each file, its README first.

    Parameters
    ----------
    table
        The table that shows the fault. Nothing is written into it.
    target
        The file to write; one that is there is replaced.
    call
        A question with its options as the command line has them, without the table: `explain "id > 5"`, `check --data`.
        It is asked of the table and of its skeleton, a condition translated.
    keep
        As of `Table.skeleton`: what stays as it is.

    Raises
    ------
    LakeError
        The zip cannot be written, or the call is no question.

    Examples
    --------
    >>> import lakelens as ll
    >>> files = write_report(ll.sample("iceberg"), f"{tempfile.mkdtemp()}/report.zip", 'explain "id > 15"')
    >>> list(files)[:4]
    ['README.md', 'versions.json', 'check.json', 'call.json']
    """
    place = Path(target).resolve()
    if place.is_relative_to(Path(table.location).resolve()):
        raise LakeError("the report would be in the table, into which nothing is written", path=str(place))
    packed = make_report(table, call, keep)
    write_whole(place, pack_report(packed))
    return {name: len(content) for name, content in packed.items()}


def make_report(table: Table, call: str = "", keep: Sequence[str] = ()) -> dict[str, bytes]:
    """Make the files of a report, its README first: see `write_report`."""
    asked = _read_call(call) if call else None
    files: dict[str, bytes] = {
        "versions.json": _write(_list_versions()),
        "check.json": _write(_count_check(table)),
    }
    with tempfile.TemporaryDirectory(prefix="lakelens-report-") as folder:
        left_out: list[str] = []
        skeleton: Any = None
        try:
            skeleton = table.skeleton(Path(folder, "table"), keep=keep)
        except LakeError as error:
            left_out.append(f"There is no skeleton: {type(error).__name__}.")
        if asked is not None:
            files["call.json"] = _write(_try_call(table, skeleton, *asked))
        if skeleton is not None:
            left_out += [finding.message for finding in skeleton.findings]
            root = Path(str(skeleton))
            written = (path for path in sorted(root.rglob("*")) if path.is_file())
            files |= {f"skeleton/{path.relative_to(root).as_posix()}": path.read_bytes() for path in written}
            files["skeleton-check.json"] = _write(_ask_whole(str(skeleton), find_question("check"), {}))
        readme = "\n".join((*_list_lines(table, files, left_out, keep), ""))
    return {"README.md": readme.encode(), **files}


def pack_report(files: Mapping[str, bytes]) -> bytes:
    """Pack the files of a report, in their order."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _write(held: Any) -> bytes:
    return (json.dumps(make_plain(held), indent=1) + "\n").encode()


def _list_versions() -> dict[str, Any]:
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in metadata.requires("lakelens") or ()}
    packages: dict[str, str] = {}
    for name in sorted(names):
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "lakelens": lakelens.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }


def _count_check(table: Table) -> dict[str, Any]:
    """Say what a check finds without a word of the table's own: counts, by the codes of findings."""
    facts = {
        "format": table.format,
        "format_version": table.format_version,
        "snapshots": table.snapshot_count,
    }
    try:
        check = ask(table, "check")
    except Exception as error:  # what fails is what the report is about
        return {**facts, "error": _describe_error(error)}
    codes = Counter(f"{finding.severity} {finding.code}" for finding in check.findings)
    names = ("verdict", "compared", "differ")
    return {
        **facts,
        **{name: getattr(check, name) for name in names},
        "findings": dict(sorted(codes.items())),
    }


def _describe_error(error: BaseException) -> dict[str, Any]:
    """Say of which kind an error is and where in lakelens: its message may have names and values of the table."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        f"{Path(frame.filename).relative_to(_ROOT).as_posix()}:{frame.lineno} {frame.name}"
        for frame in frames
        if Path(frame.filename).is_relative_to(_ROOT)
    ]
    return {"kind": type(error).__name__, "places": places}


def _read_call(call: str) -> tuple[Question, dict[str, Any]]:
    """Read a question with its options, as the command line has them."""
    try:
        verb, *words = shlex.split(call)
    except ValueError as error:
        raise LakeError(f"the call cannot be read: {error}", hint='explain "id > 5"') from None
    question = find_question(verb.replace("-", "_"))
    flags = {flag: option for option in question.options for flag in option.flags}
    plain = iter([option for option in question.options if not option.flags])
    options: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        option = flags.get(word) or next(plain, None)
        if option is None:
            raise LakeError(f"{question.name} does not take {word!r}")
        given: Any = True if option.kind == "flag" else next(rest, "") if option.flags else word
        if option.kind == "pairs":
            name, _, value = str(given).partition("=")
            given = {**options.get(option.name, {}), name: value}
        if option.kind == "number":
            if not str(given).isdecimal():
                raise LakeError(f"{word} takes a whole number", seen=say_value(given))
            given = int(given)
        options[option.name] = given
    return question, options


def _try_call(table: Table, skeleton: Any, question: Question, options: Mapping[str, Any]) -> dict[str, Any]:
    """Ask a question of the table, of which only the kind of error is said, and of its skeleton, of which all is."""
    answer: dict[str, Any] = {"question": question.name, "table": "answered"}
    try:
        ask(table, question.name, **options)
    except Exception as error:
        answer["table"] = _describe_error(error)
    if skeleton is None:
        return answer
    translated = dict(options)
    for option in question.options:
        if option.kind == "condition" and isinstance(options.get(option.name), str):
            try:
                translated[option.name] = skeleton.translate_predicate(options[option.name])
            except Exception as error:
                return {**answer, "skeleton": {"not asked": _describe_error(error)}}
        elif option.kind not in ("flag", "number") and option.name in options:
            return {**answer, "skeleton": {"not asked": f"{option.name} may name something of the table"}}
    whole = _ask_whole(str(skeleton), question, translated)
    return {**answer, "options": translated, "skeleton": whole}


def _ask_whole(place: str, question: Question, options: Mapping[str, Any]) -> dict[str, Any]:
    """Ask a question of a skeleton: its answer, or the error with all of its text."""
    try:
        answer = ask(open_table(place), question.name, **options)
        return {"answer": describe(answer, question.parts)}
    except Exception as error:
        return {"error": {**_describe_error(error), "message": str(error)}}


def _list_lines(
    table: Table, files: Mapping[str, bytes], left_out: Sequence[str], keep: Sequence[str]
) -> Iterator[str]:
    """List the lines of the README, which says what is in the zip before anything else in it."""
    yield f"# A report about {'an' if table.format[:1] in 'aeiou' else 'a'} {table.traits.title} table"
    yield ""
    yield "Look through it before you pass it on. What it contains:"
    yield ""
    for name, words in CONTENTS.items():
        held = [content for path, content in files.items() if path.startswith(name)]
        if held:
            many = f"{len(held):,} files, " if name[-1] == "/" else ""
            yield f"* `{name}` ({many}{sum(map(len, held)):,} bytes): {words}."
    yield ""
    yield "No data file is in it, and no name, value or path of the table: the skeleton has others in their place, and what"
    yield "is said of the table itself are counts, kinds of errors and places in lakelens. The skeleton names the temporary"
    yield "directory in which it was made."
    if keep:
        yield ""
        yield f"By choice these stay as they are: {', '.join(keep)}."
    if left_out:
        yield ""
        yield "Left out of the skeleton:"
        yield ""
        yield from (f"* {line}" for line in left_out)
