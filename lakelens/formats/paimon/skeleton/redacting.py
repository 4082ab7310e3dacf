"""The table's side of a skeleton; everything else is loaded when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.model.skeleton.bones import Redactable

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.skeleton.bones import PaimonBones
    from lakelens.model.skeleton.redaction import Redaction


class PaimonRedactable(Redactable):
    """A Paimon table of which a skeleton can be made."""

    context: TableContext

    def redact(self, redaction: Redaction) -> PaimonBones:
        """See `Redactable.redact`."""
        from lakelens.formats.paimon.skeleton.redact import redact_table

        return redact_table(self.context, redaction)
