"""The picture of a history: where everything is placed, as shapes, as SVG, as JSON, as text."""
