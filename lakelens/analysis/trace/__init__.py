"""What a statement did to storage, object by object, each with its reason."""
