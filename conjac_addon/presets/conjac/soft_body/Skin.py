import bpy

settings = bpy.context.object.conjac
settings.material = 'stable_neo_hookean'
settings.youngs_modulus = 420000.0
settings.poisson_ratio = 0.48
settings.density = 1100.0
settings.wobble_half_life = 0.18
