"""Assembly of element blocks into a sparse matrix on a fixed pattern."""
