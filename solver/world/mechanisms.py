"""Output of mechanisms: slices of joints and bodies, and own frames of the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec


@dataclass(frozen=True)
class JointInWorld:
    """Joint of a mechanism, with its slice of the world's rates."""

    name: str
    kind: str
    first: int
    count: int


@dataclass(frozen=True)
class MechanismInWorld:
    """Mechanism of a world, with the names of its bodies, joints and loops."""

    name: str
    bodies: Sequence[str]  #: as in the scene
    joints: Sequence[JointInWorld]
    loops: Sequence[str] = ()

    def plain(self, first: int) -> dict[str, object]:
        """Return the manifest's entry of the mechanism. first: number of bodies of all mechanisms before it."""
        return {"name": self.name, "first": first, "bodies": list(self.bodies), "loops": list(self.loops),
                "joints": [{"name": joint.name, "kind": joint.kind, "first": joint.first, "count": joint.count}
                           for joint in self.joints]}


@dataclass(frozen=True)
class OwnFrames:
    """Own frames of rigid bodies in the order of the scene; their origins need not be centres of mass."""

    body: Index  #: index in the tree, −1 for an obstacle, (b,)
    own: Vec  #: own frame relative to the frame in the tree, (b, 4, 4)
    obstacles: dict[int, OverTime] = field(default_factory=dict)  #: own frames in world of kinematic obstacles

    def poses(self, E: Vec, time: float) -> Vec:
        """Return the own frames of bodies in world at a time [s], (b, 4, 4). E: frames in the tree, (n, 4, 4)."""
        poses: Vec = E[self.body] @ self.own if len(E) else np.tile(np.eye(4), (len(self.body), 1, 1))
        for index, motion in self.obstacles.items():
            poses[index] = motion.at(time)
        return poses
