"""The artist's mesh, embedded in the tetrahedra."""
