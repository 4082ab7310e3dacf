"""Manifest lists, manifests and index manifests, and the data files their entries describe."""
