"""Sparse Cholesky factors, direct."""
