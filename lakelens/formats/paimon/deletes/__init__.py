"""Deletion vectors: which reach which file, which rows they delete, how many rows are left."""
