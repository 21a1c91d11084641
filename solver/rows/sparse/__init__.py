"""Programs of rows with a sparse matrix, solved by an active set method."""
