"""Practice with a check: exercises and quizzes on real bytes, and how numbers are encoded, each with a picture.

`lakelens.practice.course` finds an exercise; what an exercise is, and what a check answers, is plain data in `exercise`.
The right answers are decoded from the bytes when they are asked for: none is written down. `Worksheet` checks the exercises
of a notebook, by answers that the notebook works out.
"""

from lakelens.practice.worksheet import AnyOf, Worksheet

__all__ = ["AnyOf", "Worksheet"]
