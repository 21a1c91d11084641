"""Conjugate gradients, preconditioned by smoothed aggregation multigrid."""
