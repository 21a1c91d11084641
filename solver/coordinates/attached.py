"""Soft nodes attached to rigid bodies: x_a = E_b p, v_a = R_b [−[p]×, I] φ_b. [ConJac MUSCLE]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import CarrierMotion, Index, Vec


@dataclass(frozen=True)
class Bodies:
    """Poses of rigid bodies and their Jacobian of the joints' rates, at one moment."""

    E: Vec  #: body to world, (n, 4, 4)
    twists: Vec  #: J, twists [ω; ν] in own frames for each rate that soft bodies are condensed to, (n, 6, c)
    twist: Vec  #: J u, (n, 6)
    drift: Vec  #: J̇ u, (n, 6)
    rates: Index  #: of the joints that move attached nodes, (r,)
    columns: Vec  #: the rates that the columns of `twists` belong to, from those, (c, r)

    def carrying(self, u: Vec) -> Vec:
        """Rates that the columns of `twists` belong to, (c,), of all rates u (m,)."""
        out: Vec = self.columns @ u[self.rates]
        return out


class Attached:
    """Attached nodes, their bodies and their positions on them."""

    def __init__(self, nodes: Index, bodies: Index, places: Vec) -> None:
        """nodes: (a,). bodies: of each node, (a,). places: in its frame [m], (a, 3)."""
        self.nodes, self.bodies, self.places = nodes, bodies, places

    @classmethod
    def none(cls) -> Attached:
        """Return an attachment of no nodes."""
        return cls(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros((0, 3)))

    @classmethod
    def at(cls, nodes: Index, bodies: Index, x: Vec, E: Vec) -> Attached:
        """Nodes (a,) that stand at x (a, 3) [m] in world where their bodies stand at E (n, 4, 4)."""
        turn, arm = E[bodies, :3, :3], x - E[bodies, :3, 3]
        return cls(nodes, bodies, np.einsum("aji,aj->ai", turn, arm))

    def positions(self, E: Vec) -> Vec:
        """In world, (a, 3) [m], where the bodies stand at E (n, 4, 4)."""
        of = E[self.bodies]
        out: Vec = np.einsum("aij,aj->ai", of[:, :3, :3], self.places) + of[:, :3, 3]
        return out

    def columns(self, E: Vec, twists: Vec) -> Vec:
        """Velocities in world, (a, 3, c), of twists [ω; ν] in the bodies' own frames, (n, 6, c)."""
        turn, twist = E[self.bodies, :3, :3], twists[self.bodies]
        own = _across(twist[:, :3], self.places[:, :, None]) + twist[:, 3:]
        out: Vec = turn @ own
        return out

    def velocities(self, E: Vec, twist: Vec) -> Vec:
        """Return velocities of the nodes for one twist a body, (n, 6): (a, 3) [m/s]."""
        return self.columns(E, twist[:, :, None])[:, :, 0]

    def carrier_motion(self, bodies: Bodies) -> CarrierMotion:
        """Return positions and velocities of the nodes with the bodies."""
        return CarrierMotion(self.positions(bodies.E), self.velocities(bodies.E, bodies.twist))

    def accelerations(self, E: Vec, twist: Vec, drift: Vec) -> Vec:
        """J̇_a u in world, (a, 3) [m/s²]: what accelerates them while the joints' rates stay.

        twist, drift: φ and J̇u of the bodies in their own frames, (n, 6).
        """
        turn, phi = E[self.bodies, :3, :3], twist[self.bodies]
        own = np.cross(phi[:, :3], self.places) + phi[:, 3:]
        change = drift[self.bodies]
        own = np.cross(change[:, :3], self.places) + change[:, 3:] + np.cross(phi[:, :3], own)
        out: Vec = np.einsum("aij,aj->ai", turn, own)
        return out


def _across(a: Vec, b: Vec) -> Vec:
    """a × b of vectors that stand along the second axis, (k, 3, …): as np.cross, whose asking takes longer than this.
    """
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    return out
