import bpy

settings = bpy.context.object.conjac
settings.area_density = 0.47
settings.stretch_warp = 6000.0
settings.stretch_weft = 4000.0
settings.shear = 300.0
settings.bending_stiffness = 6e-05
settings.stretch_limit = 0.04
