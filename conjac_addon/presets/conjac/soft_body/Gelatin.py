import bpy

settings = bpy.context.object.conjac
settings.material = 'stable_neo_hookean'
settings.youngs_modulus = 8000.0
settings.poisson_ratio = 0.47
settings.density = 1010.0
settings.wobble_half_life = 1.1
