"""Contact finders: positions to a table of pairs."""
