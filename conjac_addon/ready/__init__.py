"""Small ready scenes: Add > ConJac places one at the 3D cursor, ready to bake. Each is a file of this folder with a
function `make(context, at)` that returns its objects, the active one last, and an entry in `menus.READY`.
"""
