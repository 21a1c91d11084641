"""Cloth whose vertices slide through its material where it lies on something sharp: Eulerian on Lagrangian."""
