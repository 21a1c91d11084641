"""Laws on the triangles and hinges of cloth, each one file."""
