"""A triangle surface becomes a volume of tetrahedra, in a child process that may crash without harm."""
