"""Stores behind a network, through fsspec: requests, failures, and the options that users have."""
