"""Sizing of a cloth: the target lengths of its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..state import Vec


@dataclass(frozen=True)
class Sizing:
    """Bounds from which the longest admissible edges follow, by bending, motion and compression of the cloth.

    An edge is admissible if its length in the metric of `sizing_kernels` is at most 1, and is collapsed where all new
    edges are then shorter than 1 − `hysteresis`. [Narain 2012, changed: the mean of faces' curvature is squared, not
    the mean of squares, so that splitting a bend does not ask for more; compression by how far a length buckles]
    """

    smallest: float  #: no edge need be shorter [m]
    largest: float  #: no edge may be longer [m]
    angle: float = 0.3  #: by which the cloth's normal may turn along an edge, at most [rad]
    speed: float = 0.5  #: by which the velocity may differ along an edge, at most [m/s]
    sag: float = 0.005  #: height by which a compressed edge would buckle, at most [m]
    narrowest: float = 0.3  #: least ratio of the shortest over the longest edge at one vertex
    hysteresis: float = 0.2
    most_faces: int = 20_000  #: number of faces that splits do not exceed
    #: sheets after the first one: where each begins along u, and its smallest and largest [m]
    other_sheets: Sequence[tuple[float, float, float]] = ()

    def coarser(self, times: float) -> Sizing:
        """Return a sizing with `times` longer edges, for previews."""
        other_sheets = [(begins, smallest * times, largest * times) for begins, smallest, largest in self.other_sheets]
        return replace(self, smallest=self.smallest * times, largest=self.largest * times, angle=self.angle * times,
                       speed=self.speed * times, sag=self.sag * times, other_sheets=other_sheets)

    @property
    def limits(self) -> Vec:
        """Return the limits for `measure_sizing`, one row for each sheet, (s, 7)."""
        sheets = [(-np.inf, self.smallest, self.largest), *self.other_sheets]
        return np.array([[self.angle, self.speed, self.sag, smallest, largest, self.narrowest, begins]
                         for begins, smallest, largest in sheets])
