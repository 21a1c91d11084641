"""Origins of positions in frames, since single precision resolves millimetres at best far from zero."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..job.folder import Job
from ..state import Vec

HALF_STEP = 2.0**-24  # of single precision, relative to a number
FINE, COARSE = 1e-5, 1e-4  #: of a body's size: largest rounding where it starts, and from which one is reported


class Origins:
    """Origins of the frames of every soft body of a job [m], and the sizes of these bodies."""

    def __init__(self, job: Job) -> None:
        self.of: dict[str, Vec] = {}  #: (3,) by the body's name; zero where single precision suffices
        self._size: dict[str, float] = {}
        for body in job.scene.bodies:
            points = np.asarray(job.array(body.surface.vertices if body.surface is not None
                                          else body.tets.nodes if body.tets is not None else ""))
            if body.surface is not None and body.surface.to_object is not None:
                matrix = job.array(body.surface.to_object)[0]
                points = points @ matrix[:3, :3].T + matrix[:3, 3]
            low, high = points.min(axis=0), points.max(axis=0)
            self._size[body.name] = size = float(np.linalg.norm(high - low))
            far = HALF_STEP * np.abs(points).max() > FINE * size
            self.of[body.name] = 0.5 * low + 0.5 * high if far else np.zeros(3)
        self._reported: set[str] = set()

    def relative(self, bodies: Iterable[tuple[str, int, int]], vertices: Vec) -> Vec:
        """Return the vertices of a frame, (V, 3) [m], each relative to its body's origin. bodies: (name, first vertex,
        number of vertices)."""
        if not any(origin.any() for origin in self.of.values()):
            return vertices
        shift = np.zeros_like(vertices)
        for name, first, count in bodies:
            shift[first:first + count] = self.of[name]
        return vertices - shift

    def imprecise(self, bodies: Iterable[tuple[str, int, int]], relative: Vec, frame: int) -> list[str]:
        """Return messages on bodies so far from their origin that frames no longer show their shape, one for each body
        in all. bodies: (name, first vertex, number of vertices). relative: vertices, (V, 3) [m], as `relative` returns
        them."""
        sentences = []
        for name, first, count in bodies:
            away = float(np.abs(relative[first:first + count]).max(initial=0.0))
            error = HALF_STEP * away / max(self._size[name], 1e-300)
            if error > COARSE and name not in self._reported:
                self._reported.add(name)
                sentences.append(f'"{name}", frame {frame}: it is {away:.3g} m from the origin of its '
                                 f"frames, so that single precision is off by {error:.1g} of its size. "
                                 "Hold it, or end the bake sooner")
        return sentences
