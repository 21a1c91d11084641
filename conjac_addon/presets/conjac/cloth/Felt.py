import bpy

settings = bpy.context.object.conjac
settings.area_density = 0.4
settings.stretch_warp = 1500.0
settings.stretch_weft = 1500.0
settings.shear = 600.0
settings.bending_stiffness = 0.0003
settings.stretch_limit = 0.1
