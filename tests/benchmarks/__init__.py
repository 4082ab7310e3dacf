"""Benchmarks: metadata grown to a chosen size, read by lakelens and by its peers, each in a process of its own.

python -m tests.benchmarks --help
"""
