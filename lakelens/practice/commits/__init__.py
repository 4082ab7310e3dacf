"""The crash lab: an INSERT stepped change by change, two interleaved, one killed anywhere, and what a SELECT then sees.

The files are real: those that Spark wrote of three INSERTs (`lakes.zip`), and lists and documents made again where another
commit came first. A state is read by lakelens as any other table is; no answer is written down.
"""

from lakelens.practice.commits.lab import CrashLab
from lakelens.practice.commits.orders import list_anomalies, list_kills

__all__ = ["CrashLab", "list_anomalies", "list_kills"]
