"""Force laws on the triangles and hinges of cloth, one file each."""
