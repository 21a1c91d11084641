"""Embedding of the artist's mesh in the tetrahedra."""
