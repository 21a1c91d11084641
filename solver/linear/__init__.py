"""Linear solvers of sparse symmetric positive definite systems: one ordering and analysis, factors in place, many solves.
"""
