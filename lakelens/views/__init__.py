"""Views: from an object to a view-model (plain data), and from there to text or HTML. A view never reads a file itself."""
