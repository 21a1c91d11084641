"""Contact: finders make tables of pairs, laws turn them into forces."""
