"""Force laws on the triangles and hinges of cloth, one module each."""
