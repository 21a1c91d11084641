"""Tetrahedral meshes from triangle surfaces, in a child process so that a crash of the mesher is harmless."""
