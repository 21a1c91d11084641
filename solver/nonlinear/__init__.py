"""Roots of nonlinear systems."""
