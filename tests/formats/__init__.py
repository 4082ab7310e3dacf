"""Tests of the formats, mostly against tables that real engines wrote."""
