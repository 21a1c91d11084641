"""Keep Spin of bones with flesh on them: what nothing outside pushes turns on as it did before a linearised step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..assembly.damping import Damped
from ..coordinates.attached import Attached
from ..coordinates.joints.rotations import product, quaternion
from ..coordinates.tree import CENTRES
from ..integrators.spin import Turn, spin, turned
from ..parts.joints.jointed import Jointed
from ..state import Index, Mask, State, Vec
from .joints import EFFORT, Joints
from .nodes import Nodes

FREE = 6  #: rates of a joint that holds nothing
INSIDE = 1.0e-9  #: of all impulses of constraints on a tree: where their sum is less they push inside it


@dataclass(frozen=True)
class FlyingBody:
    """A tree of bones whose root no joint holds, and the flesh that hangs on it and on nothing else."""

    bones: Index  #: bodies of the tree, its root first
    flesh: Index  #: nodes
    mass: Vec  #: of nodes, then of six points for each bone [kg], (p,)


class FlyingBones:
    """What semi-implicit steps take of the spin of bones with flesh on them, given back after each.

    A bone is seen as six points with its mass, centre and inertia, so that all that flies is points.
    """

    def __init__(self, soft: Nodes, jointed: Joints) -> None:
        """soft: bodies of which some nodes ride on the bones."""
        self._soft, self._jointed, self._tree = soft, jointed, jointed.tree
        inertia = self._tree.inertia
        self._arms = _points(inertia)
        self._points = self._speeds = np.zeros_like(self._arms)  #: of the state that was looked at last, (n, 6, 3)
        self._posture = self._tree.blank()
        sixths = np.repeat(inertia[:, 5, 5, None] / 6.0, 6, axis=1)  #: of the bones' masses, at their points
        self._all = [FlyingBody(bones, flesh, np.concatenate([soft.mass[flesh], sixths[bones].ravel()]))
                     for bones, flesh in _flying(jointed.condensation, soft, soft.coordinates.attached)]

    def keep(self, before: Sequence[State], after: Sequence[State], h: float, damped: Damped | None) -> list[State]:
        """States of flesh and bones at the end of a step of h seconds, from those at its start and those it found.

        What flies is turned as a whole and its velocities gain a rigid rotation, so that it has the angular momentum
        about its centre that it had before, less what mass damping takes, and with what acts on it from outside. What
        touched something or was driven in the step stays as it is.
        """
        borne = self._soft.borne
        touched = self._look(before)
        starts = [self._seen(one, before[0]) for one in self._all]
        touched |= self._look(after)
        soft, bones = after
        x, v = self._soft.coordinates.place(soft.q, soft.time, soft.led), self._soft.velocity(soft)
        for one, (x0, v0) in zip(self._all, starts):
            if touched[one.flesh].any() or self._is_pushed(one):
                continue
            x1, v1 = self._seen(one, soft)
            total = one.mass.sum()
            kept = 1.0 if damped is None else 1.0 / (1.0 + h * damped.drag[one.flesh].sum() / total)
            pushes = borne[one.flesh]
            moment = np.cross(x0[: len(one.flesh)] - one.mass @ x0 / total, pushes).sum(axis=0)
            turn = turned(one.mass, x0, x1, v1, kept * (spin(one.mass, x0, v0) + h * moment), h)
            drift = kept * (one.mass @ v0 / total + h * (self._soft.gravity + pushes.sum(axis=0) / total))
            turn = replace(turn, shift=one.mass @ x0 / total + h * drift - turn.centre, gain=drift - turn.drift)
            x[one.flesh], v[one.flesh] = turn.placed(x[one.flesh]), turn.moving(x[one.flesh], v[one.flesh])
            bones = self._with_root(bones, int(one.bones[0]), turn)
        free = self._soft.coordinates.free
        return [replace(soft, q=x[free].ravel(), u=v[free].ravel()), bones]

    def _look(self, states: Sequence[State]) -> Mask:
        """Where points of bones are in these states of flesh and bones. Which nodes touch something then, (n,)."""
        soft, bones = states
        at = self._tree.posture(bones.q, bones.u, bones.memory, self._posture)
        turn = at.E[:, None, :3, :3]
        own = np.cross(at.twist[:, None, :3], self._arms) + at.twist[:, None, 3:]
        self._points = (turn @ self._arms[..., None])[..., 0] + at.E[:, None, :3, 3]
        self._speeds = (turn @ own[..., None])[..., 0]
        touched = np.zeros(len(self._soft.mass), dtype=bool)
        touched[self._soft.touching(soft)] = True
        return touched

    def _seen(self, one: FlyingBody, soft: State) -> tuple[Vec, Vec]:
        """Positions and velocities of its points with the state of the flesh that was looked at last, (p, 3)."""
        x, v = self._soft.coordinates.place(soft.q, soft.time, soft.led), self._soft.velocity(soft)
        return (np.concatenate([x[one.flesh], self._points[one.bones].reshape(-1, 3)]),
                np.concatenate([v[one.flesh], self._speeds[one.bones].reshape(-1, 3)]))

    def _is_pushed(self, one: FlyingBody) -> bool:
        """Whether constraints pushed its bones from outside in the step that was posed last."""
        posed = self._jointed.condensation.last
        if posed is None or posed.held is None:
            return False
        effort = posed.held.memory.get(EFFORT, np.zeros(self._tree.rates))
        first = int(self._tree.dof[one.bones[0]])
        impulses = posed.held.on_bodies
        return bool(effort[first : first + FREE].any()) or (
            impulses is not None and _adds_up(posed.lin.posture.E[one.bones], impulses[one.bones]))

    def _with_root(self, bones: State, root: int, turn: Turn) -> State:
        """The state of the bones with the whole tree above a root turned, on a chart about where it stands then."""
        tree, first = self._tree, int(self._tree.dof[root])
        kept = tree.posture(bones.q, bones.u, bones.memory, self._posture)
        E, twist = kept.E[root].copy(), kept.twist[root].copy()
        moved = turn.moving(E[None, :3, 3], (E[:3, :3] @ twist[3:])[None])[0]
        spun = turn.rotation @ E[:3, :3] @ twist[:3] + turn.lacking

        q, u, centres = bones.q.copy(), bones.u.copy(), bones.memory.get(CENTRES, tree.fresh).copy()
        frame, centre = tree.in_parent[root], slice(tree.start[root], tree.start[root] + 4)
        angle = frame[:3, :3].T @ turn.angle
        at = product(centres[None, centre], quaternion(q[None, first : first + 3]))
        centres[centre] = product(quaternion(angle[None]), at)[0]
        centres[centre] /= np.linalg.norm(centres[centre])
        place = frame[:3, :3] @ q[first + 3 : first + FREE] + frame[:3, 3]
        q[first : first + 3] = 0.0
        q[first + 3 : first + FREE] = frame[:3, :3].T @ (turn.placed(place[None])[0] - frame[:3, 3])

        memory = {**bones.memory, CENTRES: centres}
        then = tree.posture(q, u, memory, self._posture)
        turned_to = then.E[root, :3, :3].T
        wanted = np.concatenate([turned_to @ spun, turned_to @ moved])
        u[first : first + FREE] = np.linalg.solve(then.S[first : first + FREE].T, wanted)
        return replace(bones, q=q, u=u, memory=memory)


def _points(inertia: Vec) -> Vec:
    """Six points of each body in its frame, (n, 6, 3) [m], that have its inertia (n, 6, 6) with a sixth of its mass."""
    moments = inertia[:, :3, :3]
    # Σ m x xᵀ, which no solid has below zero
    second = 0.5 * np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3) - moments
    values, axes = np.linalg.eigh(second)
    far = np.sqrt(3.0 * np.maximum(values, 0.0) / inertia[:, 5, 5, None])
    arms = np.swapaxes(axes * far[:, None, :], 1, 2)
    return np.concatenate([arms, -arms], axis=1)


def _adds_up(E: Vec, impulses: Vec) -> bool:
    """Whether impulses on bodies in their frames, (b, 6), are more than what bodies at E (b, 4, 4) do to each other."""
    turn = E[:, :3, :3]
    torque, force = np.einsum("bij,bj->bi", turn, impulses[:, :3]), np.einsum("bij,bj->bi", turn, impulses[:, 3:])
    torque += np.cross(E[:, :3, 3] - E[0, :3, 3], force)
    return any(np.abs(part.sum(axis=0)).max() > INSIDE * np.abs(part).sum() for part in (torque, force))


def _flying(jointed: Jointed, soft: Nodes, attached: Attached) -> list[tuple[Index, Index]]:
    """Bodies of each tree that flies with flesh on it, its root first, and the nodes of that flesh."""
    tree = jointed.tree
    root = np.arange(tree.count)
    for i in range(tree.count):
        if tree.parent[i] >= 0:
            root[i] = root[tree.parent[i]]
    held = np.diff(tree.dof)[root] != FREE
    for bodies in [jointed.on_rates.bodies, *(one.bodies for one in jointed.joint_forces)]:
        held[np.isin(root, bodies)] = True
    for a, b in np.concatenate([one.body for one in jointed.all_springs]):
        if a < 0 or b < 0 or root[a] != root[b]:
            held[np.isin(root, root[[body for body in (a, b) if body >= 0]])] = True

    # flesh that hangs together, and which roots it hangs on
    n, edges = len(soft.rest), soft.tets[:, [[0, 1], [0, 2], [0, 3]]].reshape(-1, 2)
    piece = connected_components(sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)),
                                 directed=False)[1]
    fixed = np.setdiff1d(soft.coordinates.prescribed, attached.nodes)
    on = np.unique(np.stack([piece[attached.nodes], root[attached.bodies]], axis=1), axis=0)
    for k in np.unique(on[:, 0]):
        roots = on[on[:, 0] == k, 1]
        if len(roots) > 1 or np.isin(piece[fixed], k).any():
            held[np.isin(root, roots)] = True
    return [(np.flatnonzero(root == first).astype(np.int32),
             np.flatnonzero(np.isin(piece, on[on[:, 1] == first, 0])).astype(np.int32))
            for first in np.unique(on[:, 1]) if not held[first]]
