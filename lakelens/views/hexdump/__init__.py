"""The annotated hex dump: which lines it has, and how they look as HTML, as text, in a terminal, as JSON."""
