"""The oddities of a listing that matter to a reader of the table: each becomes a finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lakelens.formats.hive.names import DEFAULT_PARTITION, parse_partition_value
from lakelens.formats.hive.read import DATA, EMPTY, NESTED, UNFINISHED, Found, Pairs
from lakelens.model.finding import Findings


def observe_listing(found: Sequence[Found], findings: Findings, root: str) -> None:
    """Add the findings of the whole listing."""
    data = [one for one in found if one.is_data]
    _observe_partitions(data, findings, root)
    _observe_formats(data, findings, root)
    _observe_acid(found, findings, root)
    for one in found:
        if one.role == EMPTY:
            message = "a file of no bytes: readers skip it, or fail on it"
            findings.add("note", "empty-file", one.path, message)
        if not is_unicode(one.path):
            message = (
                "the name is not UTF-8: engines may not find it, and tables of files spell its bytes out"
            )
            findings.add("note", "name-not-utf8", one.path, message)
    for role, severity, code, words in (
        (UNFINISHED, "warning", "unfinished-write", "left behind by a write that did not end"),
        (NESTED, "note", "nested-files", "in plain subdirectories, where readers do not look by default"),
        ("unfinished copy", "warning", "unfinished-copy", "of a copy that did not end"),
        (
            "Hudi timeline",
            "warning",
            "hudi",
            "of a Hudi timeline: it says which files are live, this listing does not",
        ),
        (
            "Delta log",
            "warning",
            "delta-lake",
            "of a Delta log: it says which files are live, this listing does not",
        ),
    ):
        affected = [one for one in found if one.role == role]
        if affected:
            count = f"{len(affected)} file{'s' * (len(affected) != 1)} "
            findings.add(severity, code, affected[0].path, count + words)  # type: ignore[arg-type]


def list_columns(found: Iterable[Found]) -> list[str]:
    """List the partition columns in the order that most files' directories have, spelled as most of them spell them."""
    orders: Counter[tuple[str, ...]] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for one in found:
        if not one.pairs:
            continue
        orders[tuple(key.casefold() for key, _ in one.pairs)] += 1
        for key, _ in one.pairs:
            spellings.setdefault(key.casefold(), Counter())[key] += 1
    names: dict[str, None] = {}
    for order, _ in sorted(orders.items(), key=lambda pair: (-pair[1], pair[0])):
        for name in order:
            names.setdefault(name)
    return [spellings[name].most_common(1)[0][0] for name in names]


def is_unicode(name: str) -> bool:
    r"""Check whether the bytes of a name are UTF-8; those that are not, Python keeps as surrogates.

    >>> is_unicode("é"), is_unicode("part-\udcff")
    (True, False)
    """
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def _observe_partitions(data: Sequence[Found], findings: Findings, root: str) -> None:
    paths: dict[Pairs, Found] = {}
    for one in data:
        paths.setdefault(one.pairs, one)
    orders = {tuple(key.casefold() for key, _ in pairs): one for pairs, one in paths.items() if pairs}
    if len(orders) > 1:
        words = " and ".join(sorted("/".join(order) for order in orders))
        same = len({frozenset(order) for order in orders}) == 1
        code = "partition-key-order" if same else "partition-keys-differ"
        said = "nests the same keys in different orders" if same else "does not have the same keys everywhere"
        findings.add("warning", code, root, f"the directory {said}: {words}; values are taken by name")
    spelled = {key for pairs in paths for key, _ in pairs}
    folded = Counter(key.casefold() for key in spelled)
    for name, count in folded.items():
        if count > 1:
            words = ", ".join(sorted(key for key in spelled if key.casefold() == name))
            findings.add("warning", "partition-case", root, f"one partition column is spelled {words}")
    if orders and () in paths:
        message = "a data file beside the partition directories: readers of the partitions do not see it"
        findings.add("warning", "file-outside-partitions", paths[()].path, message)
    _observe_values(paths, findings)


def _observe_values(paths: dict[Pairs, Found], findings: Findings) -> None:
    """Observe two directories that stand for one partition; the default partition; the same key twice."""
    meaning: dict[frozenset[tuple[str, str | None]], Pairs] = {}
    for pairs, one in paths.items():
        keys = [key.casefold() for key, _ in pairs]
        if len(set(keys)) < len(keys):
            message = "the same key twice in one path; the last one counts"
            findings.add("warning", "partition-key-twice", one.path, message)
        defaults = [key for key, text in pairs if text == DEFAULT_PARTITION]
        if defaults:
            message = (
                f"{', '.join(defaults)} is {DEFAULT_PARTITION}: null and the empty string both read as null"
            )
            findings.add("note", "default-partition", one.path, message)
        values = {(key.casefold(), parse_partition_value(text)) for key, text in pairs}
        known = meaning.setdefault(frozenset(values), pairs)
        if known != pairs and [k.casefold() for k, _ in known] == keys:
            message = f"means the same partition as {'/'.join('='.join(pair) for pair in known)}"
            findings.add("warning", "partition-twice", one.path, message)


def _observe_formats(data: Sequence[Found], findings: Findings, root: str) -> None:
    kinds = Counter(one.name.format for one in data if one.role == DATA and one.name.format)
    if len(kinds) > 1:
        words = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        findings.add("warning", "mixed-formats", root, f"files of several formats: {words}")
    if not kinds:
        return
    for one in data:
        name = one.info.name
        if one.role == DATA and one.name.format is None and one.name.writer is None and "." in name:
            message = "its name fits no data format, but readers take every visible file for data"
            findings.add("note", "foreign-file", one.path, message)


def _observe_acid(found: Sequence[Found], findings: Findings, root: str) -> None:
    kinds = Counter(one.acid.kind for one in found if one.acid is not None)
    if not kinds:
        return
    places = ", ".join(
        f"{count} in {kind.replace('_', ' ')} directories" for kind, count in sorted(kinds.items())
    )
    message = (
        f"a transactional (ACID) Hive table: files are {places}. Which writes count is in the metastore; superseded "
        "directories are left out, deleted rows are not subtracted"
    )
    findings.add("warning", "hive-acid", root, message)
    superseded = sum("superseded" in one.role for one in found)
    if superseded:
        findings.add("note", "acid-superseded", root, f"{superseded} files are superseded by a compaction")
