"""The solver. It never imports bpy and uses relative imports only, so that it runs as `solver`, as
`bl_ext.<repo>.conjac.solver` inside Blender and as `python -m solver` in a worker.
"""
