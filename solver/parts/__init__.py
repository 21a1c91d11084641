"""Parts: sets of unknowns that are solved with one factor."""
