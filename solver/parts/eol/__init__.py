"""Eulerian-on-Lagrangian cloth: vertices at sharp edges and corners slide through the material."""
