"""Analyses of a table of any format, made from the model alone."""
