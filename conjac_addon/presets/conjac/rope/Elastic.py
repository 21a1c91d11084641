import bpy

settings = bpy.context.object.conjac
settings.rope = 'springy'
settings.axial_stiffness = 75.0
settings.linear_density = 0.047
settings.rope_bending_stiffness = 0.0003
settings.rope_thickness = 0.008
