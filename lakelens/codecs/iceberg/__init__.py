"""What only Iceberg writes: types, single values, partition transforms, Puffin files and the sketches in them."""
