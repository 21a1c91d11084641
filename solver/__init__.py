"""Everything that computes. Never imports bpy; relative imports only, so it runs as `solver`, as
`bl_ext.<repo>.conjac.solver` inside Blender and as `python -m solver` in a worker."""
