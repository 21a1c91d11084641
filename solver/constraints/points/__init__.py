"""Constraints between points of bodies: kinds of displacement functions, and the force that enforces them in a bake."""
