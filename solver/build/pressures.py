"""Closed cloth with a pressure inside."""

from __future__ import annotations

from ..forces.stencils import StencilForce
from ..state import Index, Vec
from .fields import Prepared


def pressures(prepared: list[Prepared], first: Index, rest: Vec) -> list[StencilForce]:
    """Return the forces of pressure on these bodies. first: first node of each body, (bodies + 1,). rest: positions of
    all nodes, (n, 3) [m]."""
    pressurised = [(prepared_body.skin + first[k], prepared_body.body.cloth.pressure)
                   for k, prepared_body in enumerate(prepared)
                   if prepared_body.body.cloth is not None and prepared_body.body.cloth.pressure]
    if not pressurised:
        return []
    from ..forces.cloth.pressure import Pressure  # its kernel is compiled where cloth has a pressure

    return [Pressure(skin, pressure, rest) for skin, pressure in pressurised]
