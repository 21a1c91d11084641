"""Constraints between points of bodies: their displacement functions, and the force that enforces them in a bake."""
