"""ORC: the facts of a file's tail, and every byte explained with the names of `orc_proto.proto`."""
