"""Bodies with viscous damping while they slide: solids with a half-life and without pins."""

from __future__ import annotations

from collections.abc import Sequence

from ..coordinates.free_nodes import FreeNodes
from ..forces.green import Green
from ..meshing.volume import tet_volumes
from ..state import Vec
from ..world.bodies import BodyInWorld
from ..world.sliding_damping import SlidingBody
from .fields import Prepared
from .material_data import MaterialData


def sliding_bodies(prepared: Sequence[Prepared], materials: Sequence[MaterialData], bodies: Sequence[BodyInWorld],
                   rest: Vec, mass: Vec, coordinates: FreeNodes) -> list[SlidingBody]:
    """Return the bodies that are damped while they slide: solids with a half-life and no prescribed node. rest, mass:
    of all nodes, (n, 3) [m] and (n,) [kg]."""
    damped = []
    for prepared_body, made, body in zip(prepared, materials, bodies):
        if not prepared_body.body.wobble_half_life or not prepared_body.kind.is_filled:
            continue
        if coordinates.is_free[body.nodes].all():
            viscous = Green(rest, made.elements, made.modulus, {"stiffness_damping": 1.0, "mass_damping": 0.0})
            volume = float(tet_volumes(rest, made.elements.tets[: len(made.modulus)]).sum())
            damped.append(SlidingBody.of_material(viscous, made.elements.tets, body.nodes, mass[body.nodes], volume,
                                                  made.modulus))
    return damped
