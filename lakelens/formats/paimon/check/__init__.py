"""The figures that Paimon's metadata records, compared with what they are about."""
