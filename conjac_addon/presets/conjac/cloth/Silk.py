import bpy

settings = bpy.context.object.conjac
settings.area_density = 0.08
settings.stretch_warp = 1000.0
settings.stretch_weft = 800.0
settings.shear = 20.0
settings.bending_stiffness = 3e-06
settings.stretch_limit = 0.06
