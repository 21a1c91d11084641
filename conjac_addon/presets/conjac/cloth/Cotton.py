import bpy

settings = bpy.context.object.conjac
settings.area_density = 0.13
settings.stretch_warp = 1500.0
settings.stretch_weft = 1000.0
settings.shear = 60.0
settings.bending_stiffness = 8e-06
settings.stretch_limit = 0.06
