"""Contact: finders detect pairs, laws turn pairs into forces."""
