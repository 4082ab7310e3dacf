"""From a view-model to HTML, to text, to a terminal, to a plot."""
