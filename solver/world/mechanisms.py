"""Output of mechanisms: slices of joints and bodies, and the bodies' own frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..coordinates.prescribed import OverTime
from ..state import Index, Vec


@dataclass(frozen=True)
class JointInWorld:
    """A joint's slice of the world's rates."""

    name: str
    kind: str
    first: int
    count: int


@dataclass(frozen=True)
class MechanismInWorld:
    """One mechanism's slice of the world's output."""

    name: str
    bodies: Sequence[str]  #: as in the scene
    joints: Sequence[JointInWorld]
    loops: Sequence[str] = ()

    def plain(self, first: int) -> dict[str, object]:
        """Return the entry of the manifest; first: number of bodies of the mechanisms before it."""
        return {"name": self.name, "first": first, "bodies": list(self.bodies), "loops": list(self.loops),
                "joints": [{"name": one.name, "kind": one.kind, "first": one.first, "count": one.count}
                           for one in self.joints]}


@dataclass(frozen=True)
class OwnFrames:
    """Own frames of bodies, whose origins need not be centres of mass, in the order of the scene."""

    body: Index  #: in the tree, −1 for an obstacle, (b,)
    own: Vec  #: own frame in the body's, (b, 4, 4)
    obstacles: dict[int, OverTime] = field(default_factory=dict)  #: own frames in world of kinematic obstacles

    def poses(self, E: Vec, time: float) -> Vec:
        """Return own frames in world, (b, 4, 4), of bodies at E (n, 4, 4)."""
        poses: Vec = E[self.body] @ self.own if len(E) else np.tile(np.eye(4), (len(self.body), 1, 1))
        for place, motion in self.obstacles.items():
            poses[place] = motion.at(time)
        return poses
