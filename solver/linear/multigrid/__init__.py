"""Conjugate gradients with smoothed aggregation."""
