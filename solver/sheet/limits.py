"""Bounds on lengths and angles of a mesh that conforms to features: those of section 2.6.1, and ours where it has
none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sheet_mesh import SheetMesh

SHORTEST = 0.01  # of the cloth's length [Thesis 2.6.1]


@dataclass(frozen=True)
class RemeshLimits:
    """Bounds on distances, lengths and angles for remeshing."""

    thickness: float  #: how near cloth is to touch a feature [m]
    shortest: float  #: edges at features that are shorter in material space are collapsed [m]
    depth: float  #: cloth that is further through a feature has not come in over it [m]
    ill: float = float(np.deg2rad(8.0))  #: triangles at features with a smaller angle in material space are mended
    border: float = float(np.deg2rad(20.0))  #: features go over the border at no smaller angle in material space
    #: of the thickness and a step's move: a place of an edge that is further from a feature is not put onto it, as
    #: stretched cloth would be thrown about
    leap: float = np.inf
    rounds: int = 12  #: of inserting, and of mending
    #: where one layer of the cloth folds over an edge, others that come over it lie on that layer
    one_layer: bool = False

    @classmethod
    def of(cls, mesh: SheetMesh, thickness: float) -> RemeshLimits:
        """Return the limits for the size and the mean face of a cloth. thickness: distance at which it touches [m]."""
        length = float(np.ptp(mesh.material, axis=0).max())
        edge = float(np.sqrt(mesh.areas.mean()))
        return cls(thickness, SHORTEST * length, max(2.0 * thickness, edge))
