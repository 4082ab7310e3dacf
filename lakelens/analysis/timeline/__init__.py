"""How a table came to be what it is: snapshots as marks on lanes, long histories folded by the calendar."""
