"""Spans: a tree over bytes in which every byte is in exactly one leaf, and the readers that build it."""
