"""Tests of the house itself: its rooms and its English."""
