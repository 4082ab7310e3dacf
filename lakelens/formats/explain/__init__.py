"""What every format needs to explain its bytes: stored files, records of Avro files, the captions above them."""
