"""Paimon's JSON documents: snapshots and schemas, types, and partitions."""
