"""Paimon's index files: file indexes beside data files, and global indexes of whole tables."""
