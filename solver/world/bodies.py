"""Soft bodies of a world: their slices of its arrays, their output and their lumped mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..embedding.above_ground import AboveGround
from ..embedding.bind import Embedding
from ..embedding.pinned import PinnedVertices
from ..errors import Diverged, StepFailed
from ..state import Index, Vec

BLOW_UP = 1.0e3  #: ratio to its rest size at which a body or cloth has diverged


@dataclass(frozen=True)
class BodyInWorld:
    """Soft body of a world: its slice of the world's arrays, and the mapping from its nodes to its output."""

    name: str
    nodes: slice
    size: float  #: rest diagonal [m]
    embedding: Embedding | None  #: of the artist's mesh; without one the nodes are the output
    to_object: Vec | None  #: world to object space at each frame, (frames, 4, 4)
    at_pins: PinnedVertices | None = None  #: vertices that are shown exactly where they are pinned or attached
    hertz: float | None = None  #: fundamental frequency in the initial state [Hz]; None where it was not computed
    above: AboveGround | None = None  #: draws vertices on the ground that would be in it; None without a ground
    shows_stress: bool = False  #: whether stress, stretch, pressure and speed are written at each frame

    def output(self, x: Vec, frame: int) -> Vec:
        """Return the output vertices in object space, (v, 3) [m].

        x: positions of all nodes, (n, 3) [m]. frame: counted from 0 at the start frame.
        """
        points = x[self.nodes] if self.embedding is None else self.embedding.apply(x[self.nodes])
        if self.at_pins is not None:
            points = self.at_pins.apply(points, x[self.nodes], frame)
        if self.above is not None:
            points = self.above.apply(points, frame)
        if self.to_object is None:
            return points
        matrix = self.to_object[min(frame, len(self.to_object) - 1)]
        local: Vec = points @ matrix[:3, :3].T + matrix[:3, 3]
        return local

    def refuse_blow_up(self, x: Vec) -> None:
        """Raise StepFailed where the body's positions are not finite or its size exceeds `BLOW_UP` times its rest size.

        x: positions of all nodes, (n, 3) [m].
        """
        own = x[self.nodes]
        extent = float(np.abs(own - own[0]).max())
        if not np.isfinite(extent):
            raise StepFailed("a node's position is not a number", self.name)
        if extent > BLOW_UP * self.size:
            raise StepFailed(f"it grew to {extent / self.size:.0f} times its size", self.name)

    @property
    def vertices(self) -> int:
        """Return the number of vertices that the artist sees: those of the embedded mesh, or else the nodes."""
        return self.nodes.stop - self.nodes.start if self.embedding is None else len(self.embedding.tet)


def explain_divergence(bodies: Sequence[BodyInWorld], x: Vec, failure: StepFailed, frame: int) -> Diverged:
    """Return the error for the artist, with the body, the frame and a remedy.

    x: positions of all nodes, (n, 3) [m]. Where the failure names no body, the one that has grown most is named.
    """
    name = failure.object
    if name is None:
        growth = [float(np.linalg.norm(np.ptp(x[body.nodes], axis=0))) / body.size for body in bodies]
        name = bodies[int(np.argmax(growth))].name
    remedy = failure.remedy or "Lower the step or raise Young's Modulus, with Semi-Implicit Euler also Damping"
    return Diverged(f"the motion could not be solved: {failure}", f"{remedy}; earlier frames are kept", name, frame)


@dataclass(frozen=True)
class ObstacleInWorld:
    """Obstacle of a world: its name and its slice of the nodes in the world's arrays."""

    name: str
    nodes: slice


def lump_mass(nodes: Vec, tets: Index, volumes: Vec, density: Vec) -> Vec:
    """Return the lumped mass of nodes, (n,) [kg]: a quarter of each tetrahedron's mass at each of its corners.

    nodes: positions, (n, 3). tets: (e, 4). volumes: (e,) [m³]. density: (e,) [kg/m³].
    """
    quarter: Any = np.repeat(volumes * density / 4.0, 4)
    mass: Vec = np.bincount(tets.ravel(), quarter, minlength=len(nodes))  # type: ignore[assignment]
    return mass
