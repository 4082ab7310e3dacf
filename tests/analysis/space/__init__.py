"""Tests of `table.space()`."""
