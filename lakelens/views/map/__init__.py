"""The drawing of a map: where each box is, as SVG that any page may hold."""
