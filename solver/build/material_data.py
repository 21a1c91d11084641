"""Elements of a body of any material."""

from __future__ import annotations

from dataclasses import dataclass

from ..forces.multipliers import WithMultipliers
from ..forces.stencils import BodyElements
from ..state import Index, Vec


@dataclass(frozen=True)
class MaterialData:
    """Elements, masses and stiffness of one body, with the node numbers of its part."""

    elements: BodyElements
    modulus: Vec  #: of its first elements, as damping laws ask for it [Pa], (e,)
    mass: Vec  #: of its nodes [kg], (k,)
    parts: list[Index]  #: nodes of each part that hangs together
    stiffness: float  #: a typical entry of K, of the stiffest place [N/m]
    links: tuple[WithMultipliers, ...] = ()  #: of ropes, among the elements: they remember what they pulled with
