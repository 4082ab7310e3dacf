"""Manifest lists, manifests, and the data files their entries describe."""
