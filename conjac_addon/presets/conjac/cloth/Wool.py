import bpy

settings = bpy.context.object.conjac
settings.area_density = 0.28
settings.stretch_warp = 1000.0
settings.stretch_weft = 800.0
settings.shear = 60.0
settings.bending_stiffness = 1.5e-05
settings.stretch_limit = 0.1
