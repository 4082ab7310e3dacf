"""What manifest lists record of manifests, compared with the entries in them: counts of files and rows.

Follows "Manifest Lists" of the Iceberg table specification, fields 504 to 506 and 512 to 514.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lakelens.formats.iceberg.check.tallies import Tally
from lakelens.model.check.survey import Survey

_COUNTS = (("ADDED", "added"), ("EXISTING", "existing"), ("DELETED", "deleted"))


def compare_counts(survey: Survey, tallies: Sequence[Tally]) -> None:
    """Compare the counts of files and rows that lists record of each manifest. Damaged manifests are left out."""
    lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
    manifests = f"{len(survey.manifests):,} manifest{'s' * (len(survey.manifests) != 1)}"
    line = survey.ledger.line("counts of manifests", lists, manifests)
    for number, tally in enumerate(tallies):
        if number in survey.damaged:
            continue
        found = {word: tally.count(status) for status, word in _COUNTS}
        for manifest in survey.lines[number]:
            for word, amount in found.items():
                for noun, counted in (("files", amount.files), ("rows", amount.rows)):
                    name = f"{word}_{noun}_count"
                    recorded = getattr(manifest, name)
                    if recorded is not None:
                        snapshots = partial(survey.list_snapshots, (number,))
                        line.compare(
                            recorded, counted, "manifest-counts", manifest.path, name, snapshots, "error"
                        )
