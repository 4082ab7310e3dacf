"""Roaring bitmaps and the deletion vectors of Iceberg and Paimon that are made of them."""
