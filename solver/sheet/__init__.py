"""Cloth whose triangles change while it moves: its mesh, what splits and joins triangles, and what size they want."""
