"""Small scenes to begin with: Add > ConJac puts one at the 3D cursor, ready to bake. Each is a file of this folder
with a function `make(context, at)` that returns its objects, the active one last, and a line of `menus.READY`."""
