"""A step of a tree of joints posed densely, as friction laws see it, and bearings for its joints."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from scipy.optimize import root

from solver.bearings.bearings import Bearing, Bearings
from solver.bearings.shapes import JOINTS
from solver.coordinates.tree_build import Body, Joint, build


def flown(inertia, start, twist, end, h, gravity):
    """Momentum of bodies, (n, 6), in their frames at `end`, after they flew freely from `start` with these twists."""
    out = np.empty((len(twist), 6))
    for i, (I, (E0, E1)) in enumerate(zip(inertia, zip(start, end))):
        omega = twist[i, :3]
        middle = root(lambda w, I=I[:3, :3], omega=omega: 2 * I @ (w - omega) + h * np.cross(w, I @ w), omega,
                      tol=1e-14).x
        out[i, :3] = I[:3, :3] @ (2 * middle - omega)
        out[i, 3:] = I[3, 3] * E1[:3, :3].T @ (E0[:3, :3] @ twist[i, 3:] + h * np.asarray(gravity))
    return out


class Dense:
    """(Jᵀ M J + S_u) u = Jᵀ (M V̂ + h f) + b_u, all dense; V̂ as `flown` says, f: gravity."""

    def __init__(self, tree, q, u, h, gravity=(0.0, 0.0, -9.81), centres=None, stiff=None, push=None):
        """stiff: S_u beside the bodies' own, (m, m). push: b_u, (m,) [N m s, N s]."""
        self.tree, self.h, m = tree, h, tree.rates
        self.at = at = tree.posture(q, u, tree.fresh if centres is None else centres)
        self.parent, self.dof, self.E, self.X, self.S = tree.parent, tree.dof, at.E, at.X, at.S
        self.stiff = np.zeros((m, m)) if stiff is None else stiff
        self.push = np.zeros(m) if push is None else push
        self.J = tree.jacobian(at)
        earlier = tree.posture(q - h * u, u, tree.fresh if centres is None else centres)
        self.momentum = flown(tree.inertia, earlier.E, earlier.twist, at.E, h, gravity)
        self.M = np.zeros((6 * tree.count, 6 * tree.count))
        for i in range(tree.count):
            self.M[6 * i:6 * i + 6, 6 * i:6 * i + 6] = tree.inertia[i]
        self.A = self.J.T @ self.M @ self.J + self.stiff
        self.inverse = np.linalg.inv(self.A)
        self.b = self.J.T @ self.momentum.ravel() + self.push

    def respond(self, impulses):
        return self.inverse @ impulses

    def solve(self, impulses):
        return self.at_rates(self.inverse @ (self.b + impulses))

    def at_rates(self, u):
        twist = (self.J @ u).reshape(-1, 6)
        reaction = np.einsum("nab,nb->na", self.tree.inertia, twist) - self.momentum
        return SimpleNamespace(rates=u, reaction=reaction, effort=self.push - self.stiff @ u, in_loops=None)

    other_rows = None

    def free_response(self, wrench):
        """Joint springs are not in it: for trees without them."""
        return np.linalg.solve(self.tree.inertia, wrench)


def bearings(tree, kinds, mu, radius=0.05, length=0.2, points=12, only=None):
    """A bearing for every joint that has a shape of one; kinds: of the joints, in the tree's order."""
    made = []
    for i, kind in enumerate(kinds):
        if only is not None and i not in only:
            continue
        for seat in JOINTS.get(kind, ()):
            frame = tree.in_parent[i] if seat.on_parent else tree.in_child[i]
            made.append(Bearing(seat, mu, radius, length, points, i, i, int(tree.parent[i]), frame))
    return Bearings(made, tree.inertia, tree.in_child)


def chain(n, length=1.0, width=0.1, density=1000.0, turn=None, kind="revolute"):
    """n boxes along x, hinged at their ends about z; turn: of the first joint's frame, (3, 3)."""
    mass = density * length * width**2
    inertia = np.zeros((6, 6))
    inertia[0, 0] = mass / 6.0 * width**2
    inertia[1, 1] = inertia[2, 2] = mass / 12.0 * (width**2 + length**2)
    inertia[3:, 3:] = mass * np.eye(3)
    end, start, first = np.eye(4), np.eye(4), np.eye(4)
    end[0, 3], start[0, 3] = 0.5 * length, -0.5 * length
    first[:3, :3] = np.eye(3) if turn is None else turn
    bodies = [Body(f"b{i}", inertia) for i in range(n)]
    joints = [Joint(f"j{i}", kind, f"b{i}", f"b{i - 1}" if i else None, end if i else first, start)
              for i in range(n)]
    return build(bodies, joints)


def again(tree, state, u, h):
    """State after a step that ends with rates u."""
    return tree.recentre(replace(state, q=state.q + h * u, u=u, time=state.time + h))


def solved_stages(part):
    """Return a list to which the stages of a part's joints are appended as they are solved from now on."""
    solved, pose = [], part.condensation.pose

    def pose_recorded(*arguments, **named):
        posed = pose(*arguments, **named)
        solve = posed.solve

        def record():
            solved.append(solve())
            return solved[-1]

        posed.solve = record
        return posed

    part.condensation.pose = pose_recorded
    return solved
