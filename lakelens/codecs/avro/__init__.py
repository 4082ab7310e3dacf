"""Avro: containers, schemas and records; in bulk to Arrow; and every byte explained."""
