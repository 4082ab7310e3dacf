"""Deletes: which reach which file, which rows they delete, and the Puffin files that hold them."""
