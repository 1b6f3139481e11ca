"""Each module here is a tool of text-plugins."""
