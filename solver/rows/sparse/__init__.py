"""Programs of rows whose matrix is sparse: an active set by the primal."""
