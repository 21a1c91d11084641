"""Bounds on the motion of jointed bodies in a step, beyond which the step is refused."""

from __future__ import annotations

import numpy as np

from ..coordinates.tree import Tree
from ..errors import StepFailed
from ..nonlinear.joint_rates import FASTEST
from ..parts.joints.leapfrog import half_step_rates
from ..state import State


class JointBounds:
    """Check of states of jointed bodies, which rejects those not finite, too fast or rotated too far in a step."""

    chart_ends = 6.0  #: angle from the center of a chart of rotations at which it ends [rad]; it is singular at 2π
    largest_rotation = 0.45  #: largest rotation of a body and of its path in a semi-implicit step [rad]

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._postures = (tree.blank(), tree.blank())
        #: coordinates on charts of rotations, three each
        self._charted = np.concatenate([np.zeros(0, np.int32)] + [
            batch.entries[:, :3].ravel() for batch in tree.batches if batch.centres.shape[1]])
        self._owner = np.repeat(np.arange(tree.count), np.diff(tree.dof))  #: body of each rate, (m,)

    def check_motion(self, after: State) -> None:
        """Check the state after a step. Raises StepFailed where it is not finite, too fast or at the end of a chart."""
        # sums of squares bound every entry and take a microsecond; entries are checked only where these are too large
        rotation = after.q[self._charted]
        if after.u @ after.u < FASTEST and after.q @ after.q < np.inf and rotation @ rotation < self.chart_ends:
            return
        if not (np.isfinite(after.q).all() and np.isfinite(after.u).all()):
            bad = np.flatnonzero(~(np.isfinite(after.q) & np.isfinite(after.u)))[0]
            raise StepFailed("its motion is not a number", self.body_of(bad))
        if not len(after.u):
            return
        fastest = int(np.argmax(np.abs(after.u)))
        if abs(after.u[fastest]) > FASTEST:
            raise StepFailed(f"its joint moves at {abs(after.u[fastest]):.1g} a second", self.body_of(fastest))
        if len(self._charted):
            rotation = np.linalg.norm(after.q[self._charted].reshape(-1, 3), axis=1)
            if rotation.max() > self.chart_ends:
                raise StepFailed("it turned nearly all around in one step",
                                 self.body_of(self._charted[3 * int(np.argmax(rotation))]))

    def check_rotation(self, after: State, h: float) -> None:
        """Check the rotation in a semi-implicit step of h seconds. Raises StepFailed where a body's path turns too far.

        The work of forces in such a step is inaccurate, so that a long chain in fast motion gains energy. A wheel may
        spin at any rate, as its centre moves along a line.
        """
        u = half_step_rates(after.u, after.memory, h)
        if h * np.abs(u) @ self._tree.angular < self.largest_rotation:
            return
        end = self._tree.posture(after.q, u, after.memory, self._postures[0])
        start = self._tree.posture(after.q - h * u, u, after.memory, self._postures[1])
        straight = h * np.einsum("nab,nb->na", start.E[:, :3, :3], start.twist[:, 3:])
        deviation = np.linalg.norm(end.E[:, :3, 3] - start.E[:, :3, 3] - straight, axis=1)
        # the end of an arc of angle t deviates by t/2 of its length from the straight path
        rotated = 2.0 * deviation / np.maximum(np.linalg.norm(straight, axis=1), np.finfo(float).tiny)
        rotation = np.minimum(rotated, h * np.linalg.norm(start.twist[:, :3], axis=1))
        if len(rotation) and rotation.max() > self.largest_rotation:
            body = int(np.argmax(rotation))
            raise StepFailed(f"its path turned by {rotation[body]:.1f} radians", self._tree.bodies[body])

    def body_of(self, rate: int) -> str:
        """Return the name of the body whose joint has the rate of this index."""
        return self._tree.bodies[int(self._owner[rate])]
