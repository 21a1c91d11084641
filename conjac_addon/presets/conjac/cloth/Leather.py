import bpy

settings = bpy.context.object.conjac
settings.area_density = 1.0
settings.stretch_warp = 12000.0
settings.stretch_weft = 12000.0
settings.shear = 4000.0
settings.bending_stiffness = 0.001
settings.stretch_limit = 0.1
