"""Blocks of elements into a sparse matrix on a fixed pattern."""
