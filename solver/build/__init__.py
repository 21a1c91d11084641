"""A job becomes a world."""
