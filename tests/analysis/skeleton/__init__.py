"""Skeletons: what is left of a table when its names and values are gone."""
