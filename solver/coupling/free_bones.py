"""Conservation of the momenta of free mechanisms with attached soft bodies.

A linearised step dissipates angular momentum. An implicit stage stops at a tolerance, and combines rates of joints at
different postures, where equal rates have different momenta: a step of order p has an error of h^(p+1) in both momenta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..assembly.damping import Damped
from ..coordinates.attached import Attached
from ..coordinates.inertia import moments
from ..integrators.spin import SpinCorrection, spin, spin_correction
from ..nonlinear.limits import INSIGNIFICANT
from ..parts.joints.jointed import Jointed, SolvedTree
from ..state import Index, Mask, State, Vec
from ..world.joints_part import JointsPart
from ..world.nodes_part import NodesPart

FREE = 6  #: rates of a free joint


@dataclass(frozen=True)
class FreeTree:
    """A tree of bones with a free root, and the soft nodes that are attached to it and to nothing else."""

    bones: Index  #: bodies of the tree, its root first
    flesh: Index  #: nodes
    mass: Vec  #: masses of nodes, then of six points for each bone [kg], (p,)


@dataclass(frozen=True)
class Momenta:
    """Linear velocity and angular momentum of a free tree."""

    drift: Vec  #: velocity of the tree's centre of mass [m/s], (3,)
    spin: Vec  #: angular momentum about the centre of mass [kg m²/s], (3,)


class FreeBones:
    """Restores the momenta of free trees of bones after a step.

    A bone is represented by six points with its mass, centre and inertia, so that a free tree is a set of point masses.
    """

    def __init__(self, soft: NodesPart, jointed: JointsPart) -> None:
        """soft: soft bodies with nodes attached to the bones. jointed: the mechanisms."""
        self._soft, self._jointed, self._tree = soft, jointed.condensation, jointed.tree
        inertia = self._tree.inertia
        self._arms = _points(inertia)
        #: positions and velocities in the last evaluated state, (n, 6, 3)
        self._points = self._speeds = np.zeros_like(self._arms)
        self._posture = self._tree.blank()
        #: masses of the points, a sixth of their bone's each
        sixths = np.repeat(inertia[:, 5, 5, None] / 6.0, 6, axis=1)
        self._trees = [FreeTree(bones, flesh, np.concatenate([soft.mass[flesh], sixths[bones].ravel()]))
                       for bones, flesh in _free_trees(jointed.condensation, soft, soft.coordinates.attached)]
        self._group = np.full(len(soft.mass), -1, dtype=np.int32)  #: the number of each node's tree, (n,)
        for number, tree in enumerate(self._trees):
            self._group[tree.flesh] = number
        #: trees of one bone without flesh, whose linear momentum stages conserve as they are
        self._rigid: Mask = np.array([len(tree.bones) == 1 and not soft.mass[tree.flesh].any() for tree in self._trees],
                                     dtype=bool)
        #: trees that are not corrected in this step: with external forces, or rigid
        self._acted_on = self._rigid.copy()

    def start_step(self, is_isolated: bool) -> None:
        """Reset the record of external forces at the start of a step. is_isolated: whether no other part acts in the
        step."""
        self._acted_on[:] = self._rigid | (not is_isolated)

    def note_stage(self, states: Sequence[State], damped: Damped | None = None) -> None:
        """Record which trees have external forces, mass damping included, at the end of a solved stage. states: of the
        soft bodies and of the bones."""
        if self._acted_on.all():
            return
        soft, bones = states
        touched = np.zeros(len(self._soft.mass), dtype=bool)
        touched[self._soft.touching_others(soft, self._group)] = True
        if damped is not None:
            touched |= damped.drag > 0.0
        for number, tree in enumerate(self._trees):
            self._acted_on[number] |= touched[tree.flesh].any() or self._is_acted_on(tree, bones)

    def note_linearised_stage(self) -> None:
        """Record a stage with unknown external forces: the momenta of no tree are restored in this step."""
        self._acted_on[:] = True

    def restore_momenta(self, before: Sequence[State], after: Sequence[State], h: float) -> list[State]:
        """Return states of soft bodies and bones at the end of a step of h seconds of solved stages, with momenta
        restored. before, after: states of both at the step's start and end.

        Each free tree on which no external force but weight has acted, at the start or in any stage, gains a rigid
        velocity, so that its momenta are those at the start plus those of weight. Positions do not change: their error
        is of the integrator's order.
        """
        self.note_stage(before)
        soft, bones = after
        unloaded = [tree for tree, acted_on in zip(self._trees, self._acted_on) if not acted_on]
        if not unloaded:
            return [soft, bones]
        self._evaluate_points(before[1])
        targets = [self._momenta_after(tree, *self._points_of(tree, before[0]), h) for tree in unloaded]
        self._evaluate_points(bones)
        x, v = self._soft.nodes_at(soft)
        for tree, target in zip(unloaded, targets):
            x1, v1 = self._points_of(tree, soft)
            centre, mass = tree.mass @ x1 / tree.mass.sum(), tree.mass
            gain = target.drift - mass @ v1 / mass.sum()
            lacking = np.linalg.solve(moments(mass, x1 - centre), target.spin - spin(mass, x1, v1))
            v[tree.flesh] += gain + np.cross(lacking, x[tree.flesh] - centre)
            bones = self._with_root_velocity(bones, int(tree.bones[0]), centre, gain, lacking)
        return [replace(soft, u=v[self._soft.coordinates.free].ravel()), bones]

    def restore_spin(self, before: Sequence[State], after: Sequence[State], h: float,
                     damped: Damped | None) -> list[State]:
        """Return states of soft bodies and bones at the end of a step of h seconds, with positions and angular momentum
        restored. before, after: states of both at the step's start and end. damped: damping matrix; None for none.

        Each free tree is moved as a rigid body and gains a rigid velocity, so that its momenta are the initial ones,
        less mass damping, plus those of external forces. Trees with contacts or drives do not change.
        """
        touched = self._find_contacts(before)
        starts = [self._points_of(tree, before[0]) for tree in self._trees]
        touched |= self._find_contacts(after)
        soft, bones = after
        x, v = self._soft.coordinates.positions(soft.q, soft.time, soft.carrier_motion), self._soft.velocity(soft)
        for tree, (x0, v0) in zip(self._trees, starts):
            if touched[tree.flesh].any() or self._is_acted_on(tree, bones):
                continue
            x1, v1 = self._points_of(tree, soft)
            total = tree.mass.sum()
            remaining = 1.0 if damped is None else 1.0 / (1.0 + h * damped.drag[tree.flesh].sum() / total)
            target = self._momenta_after(tree, x0, v0, h)
            drift = remaining * target.drift
            correction = spin_correction(tree.mass, x0, x1, v1, remaining * target.spin, h)
            correction = replace(correction, shift=tree.mass @ x0 / total + h * drift - correction.centre,
                                 gain=drift - correction.drift)
            x[tree.flesh], v[tree.flesh] = (correction.rotate_points(x[tree.flesh]),
                                            correction.moving(x[tree.flesh], v[tree.flesh]))
            bones = self._with_root_motion(bones, int(tree.bones[0]), correction)
        free = self._soft.coordinates.free
        return [replace(soft, q=x[free].ravel(), u=v[free].ravel()), bones]

    def _momenta_after(self, one: FreeTree, x: Vec, v: Vec, h: float) -> Momenta:
        """Return the momenta of a tree after h seconds under the present external forces and weight, from positions [m]
        and velocities [m/s] of its points before, (p, 3)."""
        total, forces = one.mass.sum(), self._soft.external_force[one.flesh]
        moment = np.cross(x[: len(one.flesh)] - one.mass @ x / total, forces).sum(axis=0)
        return Momenta(one.mass @ v / total + h * (self._soft.gravity + forces.sum(axis=0) / total),
                       spin(one.mass, x, v) + h * moment)

    def _find_contacts(self, states: Sequence[State]) -> Mask:
        """Evaluate the points of the bones in the states of soft bodies and bones; return a mask of the nodes in
        contact, (n,)."""
        soft, bones = states
        self._evaluate_points(bones)
        touched = np.zeros(len(self._soft.mass), dtype=bool)
        touched[self._soft.touching(soft)] = True
        return touched

    def _evaluate_points(self, bones: State) -> None:
        """Evaluate positions and velocities of the bones' points in a state of the bones."""
        at = self._tree.posture(bones.q, bones.u, bones.memory, self._posture)
        rotation = at.E[:, None, :3, :3]
        own = np.cross(at.twist[:, None, :3], self._arms) + at.twist[:, None, 3:]
        self._points = (rotation @ self._arms[..., None])[..., 0] + at.E[:, None, :3, 3]
        self._speeds = (rotation @ own[..., None])[..., 0]

    def _points_of(self, one: FreeTree, soft: State) -> tuple[Vec, Vec]:
        """Return positions [m] and velocities [m/s] of a tree's points, (p, 3), in the last evaluated state of the
        bones and this state of the soft bodies."""
        x, v = self._soft.coordinates.positions(soft.q, soft.time, soft.carrier_motion), self._soft.velocity(soft)
        return (np.concatenate([x[one.flesh], self._points[one.bones].reshape(-1, 3)]),
                np.concatenate([v[one.flesh], self._speeds[one.bones].reshape(-1, 3)]))

    def _is_acted_on(self, one: FreeTree, bones: State) -> bool:
        """Whether springs join the tree's bones to another body, or constraints had a resultant on the tree in the
        stage that ended in this state of the bones."""
        joined = np.isin(np.concatenate([springs.body for springs in self._jointed.all_springs]), one.bones)
        if (joined[:, 0] != joined[:, 1]).any():
            return True
        posed: SolvedTree | None = bones.tree_stage
        if posed is None or posed.constraint_solution is None:
            return False
        efforts, first = posed.constraint_solution.efforts, int(self._tree.dof[one.bones[0]])
        impulses = posed.constraint_solution.on_bodies
        return efforts is not None and bool(efforts[first : first + FREE].any()) or (
            impulses is not None and _adds_up(posed.lin.posture.E[one.bones], impulses[one.bones]))

    def _with_root_velocity(self, bones: State, root: int, centre: Vec, gain: Vec, lacking: Vec) -> State:
        """Return the state of the bones with an additional velocity `gain` (3,) [m/s] of the tree above a root, and an
        additional angular velocity `lacking` (3,) [rad/s] about a centre (3,) [m]."""
        at = self._tree.posture(bones.q, bones.u, bones.memory, self._posture)
        first, into, origin = int(self._tree.dof[root]), at.E[root, :3, :3].T, at.E[root, :3, 3]
        change = np.concatenate([into @ lacking, into @ (gain + np.cross(lacking, origin - centre))])
        u = bones.u.copy()
        u[first : first + FREE] += np.linalg.solve(at.S[first : first + FREE].T, change)
        return replace(bones, u=u)

    def _with_root_motion(self, bones: State, root: int, correction: SpinCorrection) -> State:
        """Return the state of the bones with the tree above a root moved by a rigid turn, on a chart about its new
        orientation."""
        tree, first = self._tree, int(self._tree.dof[root])
        posture = tree.posture(bones.q, bones.u, bones.memory, self._posture)
        E, twist = posture.E[root].copy(), posture.twist[root].copy()
        moved = correction.moving(E[None, :3, 3], (E[:3, :3] @ twist[3:])[None])[0]
        angular_velocity = correction.rotation @ E[:3, :3] @ twist[:3] + correction.lacking

        origin = correction.rotate_points(tree.root_origin(bones, root)[None])[0]
        bones = tree.with_free_root(bones, root, correction.angle, origin)
        then, u = tree.posture(bones.q, bones.u, bones.memory, self._posture), bones.u.copy()
        to_root = then.E[root, :3, :3].T
        target = np.concatenate([to_root @ angular_velocity, to_root @ moved])
        u[first : first + FREE] = np.linalg.solve(then.S[first : first + FREE].T, target)
        return replace(bones, u=u)


def _points(inertia: Vec) -> Vec:
    """Return six points for each body in its frame, (n, 6, 3) [m], with a sixth of its mass each and together its
    inertia (n, 6, 6)."""
    moments = inertia[:, :3, :3]
    # Σ m x xᵀ, positive semi-definite for any solid
    second = 0.5 * np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3) - moments
    values, axes = np.linalg.eigh(second)
    far = np.sqrt(3.0 * np.maximum(values, 0.0) / inertia[:, 5, 5, None])
    arms = np.swapaxes(axes * far[:, None, :], 1, 2)
    return np.concatenate([arms, -arms], axis=1)


def _adds_up(E: Vec, impulses: Vec) -> bool:
    """Whether impulses on bodies in the bodies' frames, (b, 6), have a resultant torque or force, with bodies at E
    (b, 4, 4)."""
    rotation = E[:, :3, :3]
    torque, force = (np.einsum("bij,bj->bi", rotation, impulses[:, :3]),
                     np.einsum("bij,bj->bi", rotation, impulses[:, 3:]))
    torque += np.cross(E[:, :3, 3] - E[0, :3, 3], force)
    return any(np.abs(part.sum(axis=0)).max() > INSIGNIFICANT * np.abs(part).sum() for part in (torque, force))


def _free_trees(jointed: Jointed, soft: NodesPart, attached: Attached) -> list[tuple[Index, Index]]:
    """Return the bodies of each free tree with soft nodes, the root first, and the nodes attached to it."""
    tree = jointed.tree
    root = np.arange(tree.count)
    for i in range(tree.count):
        if tree.parent[i] >= 0:
            root[i] = root[tree.parent[i]]
    constrained = np.diff(tree.dof)[root] != FREE
    for bodies in [jointed.on_rates.bodies, *(forces.bodies for forces in jointed.joint_forces)]:
        constrained[np.isin(root, bodies)] = True

    # connected components of soft nodes, and the roots that they are attached to
    n, edges = len(soft.rest), soft.tets[:, [[0, 1], [0, 2], [0, 3]]].reshape(-1, 2)
    piece = connected_components(sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)),
                                 directed=False)[1]
    fixed = np.setdiff1d(soft.coordinates.prescribed, attached.nodes)
    on = np.unique(np.stack([piece[attached.nodes], root[attached.bodies]], axis=1), axis=0)
    for k in np.unique(on[:, 0]):
        roots = on[on[:, 0] == k, 1]
        if len(roots) > 1 or np.isin(piece[fixed], k).any():
            constrained[np.isin(root, roots)] = True
    return [(np.flatnonzero(root == first).astype(np.int32),
             np.flatnonzero(np.isin(piece, on[on[:, 1] == first, 0])).astype(np.int32))
            for first in np.unique(on[:, 1]) if not constrained[first]]
