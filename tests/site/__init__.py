"""The site around the tab, as it was built: links, anchors, pictures, ways into the tab, and what a browser asks for."""
