"""Guess, then look: what a reader wrote down before looking, and questions that come again after a day, a week, a month.

`guess` is a place for one guess, and `calibration` says how often a reader was right and how sure; `review` asks questions
on ideas, which `reviewing` reads from `questions`. Both keep what a reader said in `journal`, a file of the reader's own.
"""
