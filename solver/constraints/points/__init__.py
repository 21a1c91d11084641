"""Constraints between points of bodies: displacement functions, and the force that enforces them in a bake."""
