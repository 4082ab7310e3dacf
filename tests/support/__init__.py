"""What several tests need: engine-written tables and their answers, builders, encoders, comparisons."""

from pathlib import Path

LAKES = Path(__file__).parents[1] / "lakes"
