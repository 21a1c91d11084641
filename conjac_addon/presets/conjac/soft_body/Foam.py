import bpy

settings = bpy.context.object.conjac
settings.material = 'stable_neo_hookean'
settings.youngs_modulus = 80000.0
settings.poisson_ratio = 0.3
settings.density = 40.0
settings.wobble_half_life = 0.28
