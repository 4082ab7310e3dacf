"""What the health of a Paimon table is measured against, and the figures that only Paimon has."""
