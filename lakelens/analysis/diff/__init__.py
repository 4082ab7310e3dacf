"""What changed between two snapshots: files, schemas, partitionings, documents, and the sentence that says it."""
