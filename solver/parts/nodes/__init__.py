"""Full FEM: every free node is an unknown."""
