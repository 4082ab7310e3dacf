"""A process that asks questions of one table after the other, for a survey of many.

It takes pickled pairs of a found table and names of questions from its standard input, and gives a pickled answer for each
on its standard output. It is started and fed by `lakelens.answers.survey` alone.
"""

from __future__ import annotations

import os
import pickle
import sys

from lakelens.answers.survey import ask_table
from lakelens.options import display


def main() -> None:
    """Answer until there is nothing more to ask."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    display.progress = False
    while True:
        try:
            found, names = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(ask_table(found, names), answers)
        answers.flush()
