"""Closed cloth with a pressure inside."""

from __future__ import annotations

from ..forces.stencils import StencilForce
from ..state import Index, Vec
from .fields import Prepared


def pressures(prepared: list[Prepared], first: Index, rest: Vec) -> list[StencilForce]:
    """Return the forces of pressure on these bodies. first: first node of each body, (bodies + 1,). rest: positions of
    all nodes, (n, 3) [m]."""
    pressurised = [(one.skin + first[k], one.body.cloth.pressure) for k, one in enumerate(prepared)
                   if one.body.cloth is not None and one.body.cloth.pressure]
    if not pressurised:
        return []
    from ..forces.cloth.pressure import Pressure  # its kernel is compiled where cloth has a pressure

    return [Pressure(skin, pressure, rest) for skin, pressure in pressurised]
