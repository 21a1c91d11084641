"""Bodies on a subspace of skinning eigenmodes, by mixed finite elements at cubature points.

To step a body without a world, as a live player or a draft does:

    substance = Substance.of(material, density, youngs_modulus=..., poisson_ratio=...)
    body = ReducedBody.build(tets, nodes, substance, pins, m, points)
    state = body.rest()
    grab = body.grab(vertex, target, body.firm_grab())
    state = body.step(state, h, [grab.to(mouse)], body.pins.lead([positions of a group of pins]))
    # or, on a graphics card: rest_surface + surface_functions @ y + surface_prescribed @ carrier_motion
    x = body.surface(state)

`body.stepping` has integrator, gravity, damping, the floor (`body.floor`) and the settings of stages.
"""
