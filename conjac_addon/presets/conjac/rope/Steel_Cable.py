import bpy

settings = bpy.context.object.conjac
settings.rope = 'inextensible'
settings.linear_density = 0.125
settings.rope_bending_stiffness = 0.023
settings.rope_thickness = 0.006
