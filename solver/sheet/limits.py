"""Bounds on lengths and angles of a mesh that conforms to features: of section 2.6.1, or ours where it has none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sheet_mesh import SheetMesh

SHORTEST = 0.01  #: of the cloth's length [Thesis 2.6.1]


@dataclass(frozen=True)
class RemeshLimits:
    """Bounds on distances, lengths and angles for remeshing."""

    thickness: float  #: distance at which cloth touches a feature [m]
    shortest: float  #: length in material space below which edges at features are collapsed [m]
    depth: float  #: cloth that is deeper inside has not entered over the feature [m]
    ill: float = float(np.deg2rad(8.0))  #: angle in material space below which triangles at features are improved
    border: float = float(np.deg2rad(20.0))  #: least angle in material space of a feature that passes over the border
    #: relative to the thickness and the displacement in a step: a point of an edge farther from a feature is not moved
    #: onto it, as stretched cloth would gain speed
    leap: float = np.inf
    rounds: int = 12  #: rounds of insertion, and of improvement of triangles
    #: whether only one layer of the cloth may be on an edge, and others lie on that layer
    one_layer: bool = False

    @classmethod
    def of(cls, mesh: SheetMesh, thickness: float) -> RemeshLimits:
        """Return the limits for the size and the mean face of a cloth. thickness: distance at which it touches [m]."""
        length = float(np.ptp(mesh.material, axis=0).max())
        edge = float(np.sqrt(mesh.areas.mean()))
        return cls(thickness, SHORTEST * length, max(2.0 * thickness, edge))
