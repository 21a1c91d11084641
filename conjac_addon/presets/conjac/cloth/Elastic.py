import bpy

settings = bpy.context.object.conjac
settings.area_density = 0.25
settings.stretch_warp = 150.0
settings.stretch_weft = 150.0
settings.shear = 40.0
settings.bending_stiffness = 8e-06
settings.stretch_limit = 0.0
