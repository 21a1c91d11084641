import bpy

settings = bpy.context.object.conjac
settings.material = 'stable_neo_hookean'
settings.youngs_modulus = 18000000.0
settings.poisson_ratio = 0.1
settings.density = 180.0
settings.wobble_half_life = 0.55
