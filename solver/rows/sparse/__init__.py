"""Programs of rows with a sparse matrix: a primal active set method."""
