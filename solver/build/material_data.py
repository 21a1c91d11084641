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
    modulus: Vec  #: of the first elements, as damping laws take it [Pa], (e,)
    mass: Vec  #: of the nodes [kg], (k,)
    parts: list[Index]  #: nodes of each connected part
    stiffness: float  #: a typical entry of K where the body is stiffest [N/m]
    links: tuple[WithMultipliers, ...] = ()  #: laws among the elements that have multipliers
