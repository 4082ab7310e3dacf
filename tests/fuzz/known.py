"""What fails and is being worked on: each with its reason, to be taken out when it is done. Empty is what it shall be."""

from __future__ import annotations

import re

#: A cause of a failure, or a step of a poisoned table, that matches one of these is no surprise.
KNOWN: list[re.Pattern[str]] = []
