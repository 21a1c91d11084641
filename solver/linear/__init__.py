"""Solvers of sparse symmetric positive definite systems: order and analyse once, factor in place, solve often."""
