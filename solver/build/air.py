"""The air around cloth: a node without mass that moves with the wind, and what drags triangles along with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates.prescribed import OverTime
from ..forces.stencils import StencilForce
from ..job import schema
from ..job.folder import Job
from ..state import Index, Vec
from .fields import Prepared
from .inputs import positions_over_time


@dataclass(frozen=True)
class AirAround:
    """The air around cloth, as one node behind all others of a part; without a node where it acts on no cloth."""

    position: Vec  #: position of the node at the start, (1, 3) or (0, 3) [m]
    motions: list[OverTime]  #: position of the node, (1, 3) [m] at a time; empty without a node
    density: float  #: [kg/m³]

    def laws(self, prepared: list[Prepared], first: Index, node: int) -> list[StencilForce]:
        """Return the forces of the air on these bodies. first: first node of each body, (bodies + 1,). node: index of
        the node of the air."""
        if not len(self.position):
            return []
        from ..forces.cloth.air import Air

        in_air = [(prepared_body.skin + np.int32(start), prepared_body.kind.air_drag)
                  for prepared_body, start in zip(prepared, first) if _has_drag(prepared_body)]
        drag, friction = (np.concatenate([np.full(len(skin), coefficients[k]) for skin, coefficients in in_air])
                          for k in range(2))
        return [Air(node, np.concatenate([skin for skin, _ in in_air]), self.density, drag, friction)]


def air_of(job: Job, prepared: list[Prepared]) -> AirAround:
    """Return the scene's air around these bodies, without a node where it acts on none of them."""
    wind = job.scene.wind or schema.Wind()
    if not wind.density or not any(_has_drag(prepared_body) for prepared_body in prepared):
        return AirAround(np.zeros((0, 3)), [], 0.0)
    speed = np.tile(np.array(wind.velocity), (job.samples, 1)) if wind.motion is None else job.array(wind.motion)
    path: Vec | None = None
    if speed.any():
        # its velocity between two samples is their mean
        time, path = job.scene.time, np.zeros((job.samples, 1, 3))
        path[1:, 0] = np.cumsum(0.5 * (speed[1:] + speed[:-1]), axis=0) / (time.fps * time.samples_per_frame)
    return AirAround(np.zeros((1, 3)), [positions_over_time(job, path, np.zeros((1, 3)))], wind.density)


def _has_drag(one: Prepared) -> bool:
    """Return whether air acts on a body."""
    return max(one.kind.air_drag) > 0.0
