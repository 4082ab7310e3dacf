"""What only Paimon writes: types, BinaryRows one at a time and by column, blob files; `index` has its index files."""
