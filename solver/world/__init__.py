"""The world: bodies, forces and prescribed motion bound into one system that steps."""
