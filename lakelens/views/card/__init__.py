"""The view-model of a card: cells, rows and folds as plain data, how values are formatted, what every label means."""
