"""Soft nodes attached to rigid bodies: x_a = E_b p, v_a = R_b [−[p]×, I] φ_b. [ConJac MUSCLE]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import CarrierMotion, Index, Vec


@dataclass(frozen=True)
class Bodies:
    """Poses of rigid bodies and their Jacobian of the joints' rates, at one time."""

    E: Vec  #: body to world, (n, 4, 4)
    twists: Vec  #: J, twists [ω; ν] in own frames for each rate that soft bodies are condensed to, (n, 6, c)
    twist: Vec  #: J u, (n, 6)
    drift: Vec  #: J̇ u, (n, 6)
    rates: Index  #: of the joints that move attached nodes, (r,)
    columns: Vec  #: matrix from `rates` to the rates of the columns of `twists`, (c, r)

    def carrying(self, u: Vec) -> Vec:
        """Return the rates that the columns of `twists` belong to, (c,), from all rates u (m,)."""
        out: Vec = self.columns @ u[self.rates]
        return out


class Attached:
    """Nodes attached to rigid bodies, with their positions in the bodies' frames."""

    def __init__(self, nodes: Index, bodies: Index, local_positions: Vec) -> None:
        """nodes: (a,). bodies: body of each node, (a,). local_positions: position of each node in its
        body's frame, (a, 3) [m]."""
        self.nodes, self.bodies, self.local_positions = nodes, bodies, local_positions

    @classmethod
    def none(cls) -> Attached:
        """Return an attachment of no nodes."""
        return cls(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros((0, 3)))

    @classmethod
    def at(cls, nodes: Index, bodies: Index, x: Vec, E: Vec) -> Attached:
        """Return the attachment of nodes (a,) to bodies (a,) whose poses are E (n, 4, 4) while the nodes are at x
        (a, 3) [m] in the world."""
        rotation, arm = E[bodies, :3, :3], x - E[bodies, :3, 3]
        return cls(nodes, bodies, np.einsum("aji,aj->ai", rotation, arm))

    def positions(self, E: Vec) -> Vec:
        """Return the nodes' positions in the world, (a, 3) [m], for bodies with poses E (n, 4, 4)."""
        of = E[self.bodies]
        out: Vec = np.einsum("aij,aj->ai", of[:, :3, :3], self.local_positions) + of[:, :3, 3]
        return out

    def columns(self, E: Vec, twists: Vec) -> Vec:
        """Return the nodes' velocities in the world, (a, 3, c), for bodies with poses E (n, 4, 4) and twists [ω; ν] in
        their own frames, (n, 6, c)."""
        rotation, twist = E[self.bodies, :3, :3], twists[self.bodies]
        own = _across(twist[:, :3], self.local_positions[:, :, None]) + twist[:, 3:]
        out: Vec = rotation @ own
        return out

    def velocities(self, E: Vec, twist: Vec) -> Vec:
        """Return the nodes' velocities in the world, (a, 3) [m/s], for bodies with poses E (n, 4, 4) and one twist
        each, (n, 6)."""
        return self.columns(E, twist[:, :, None])[:, :, 0]

    def carrier_motion(self, bodies: Bodies) -> CarrierMotion:
        """Return positions and velocities of the nodes as they move with the bodies."""
        return CarrierMotion(self.positions(bodies.E), self.velocities(bodies.E, bodies.twist))

    def accelerations(self, E: Vec, twist: Vec, drift: Vec) -> Vec:
        """Return J̇_a u in the world, (a, 3) [m/s²]: the nodes' accelerations while the joints' rates are constant.

        E: poses of the bodies, (n, 4, 4). twist, drift: φ and J̇u of the bodies in their own frames, (n, 6).
        """
        rotation, phi = E[self.bodies, :3, :3], twist[self.bodies]
        own = np.cross(phi[:, :3], self.local_positions) + phi[:, 3:]
        change = drift[self.bodies]
        own = np.cross(change[:, :3], self.local_positions) + change[:, 3:] + np.cross(phi[:, :3], own)
        out: Vec = np.einsum("aij,aj->ai", rotation, own)
        return out


def _across(a: Vec, b: Vec) -> Vec:
    """Return a × b of vectors along the second axis, (k, 3, …): faster than np.cross, whose checks take longer than
    this."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    return out
