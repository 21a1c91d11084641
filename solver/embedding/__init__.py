"""The artist's mesh rides in the tetrahedra."""
