"""Formats: what the files of each say (wire) and what it means (table). One format never imports another."""
