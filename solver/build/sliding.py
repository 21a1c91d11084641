"""Bodies with viscous damping while they slide: solids with a half-life and without pins."""

from __future__ import annotations

from ..forces.green import Green
from ..meshing.volume import tet_volumes
from ..state import Mask, Vec
from ..world.bodies import BodyInWorld
from ..world.sliding_damping import SlidingBody
from .fields import Prepared
from .material_data import MaterialData


def make_sliding_damping(one: Prepared, material: MaterialData, body: BodyInWorld, rest: Vec, mass: Vec,
                         is_free: Mask) -> list[SlidingBody]:
    """Return the damping of a body while it slides; none unless it is a solid with a half-life and without prescribed
    nodes. rest, mass, is_free: of all nodes, (n, 3) [m], (n,) [kg] and (n,)."""
    if not one.body.wobble_half_life or not one.kind.is_filled or not is_free[body.nodes].all():
        return []
    viscous = Green(rest, material.elements, material.modulus, {"stiffness_damping": 1.0, "mass_damping": 0.0})
    volume = float(tet_volumes(rest, material.elements.tets[: len(material.modulus)]).sum())
    return [SlidingBody.of_material(viscous, material.elements.tets, body.nodes, mass[body.nodes], volume,
                                    material.modulus)]
