"""A bare stepper for rigid bodies with everything that holds them from outside, as the mechanism's world uses it."""

import numpy as np

from solver.contact.find.bodies import Colliders
from solver.contact.find.convex import Convex, Shapes
from solver.contact.find.half_space import HalfSpace
from solver.contact.laws.external import External, Held, Pushed, Rubbed
from solver.contact.laws.projection import closed
from solver.coordinates import inertia
from solver.coordinates.tree import CENTRES
from solver.coordinates.tree_build import Body, Joint, build
from solver.linear.tree import TreeFactor
from solver.state import State

G = np.array([0.0, 0.0, -9.81])


def frame(position=(0, 0, 0), rotation=None):
    E = np.eye(4)
    E[:3, :3] = np.eye(3) if rotation is None else rotation
    E[:3, 3] = position
    return E


def about(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def box(*size):
    return inertia.box(*size, density=1000.0), Convex.box(np.array(size))


def sphere(radius):
    return inertia.sphere(radius, density=1000.0), Convex.sphere(radius)


def capsule(radius, length):
    return inertia.capsule(radius, length, density=1000.0), Convex.capsule(radius, length)


class Falling:
    """Bodies {name: ((Solid, Convex), world frame at the start)} with joints, obstacles and a ground."""

    def __init__(self, bodies, joints=(), obstacles=(), ground=None, mu=0.5, gravity=G, itself=True, loops=None):
        self.tree = build([Body(name, solid.spatial()) for name, ((solid, _), _) in bodies.items()],
                          [Joint(j.name, j.kind, j.child, j.parent,
                                 np.linalg.inv(bodies[j.parent][1]) @ j.in_parent if j.parent else j.in_parent,
                                 np.linalg.inv(bodies[j.child][1]) @ j.in_parent) for j in joints])
        names = list(self.tree.bodies)
        shapes = [bodies[name][0][1] for name in names] + [shape for shape, _ in obstacles]
        offset = [np.eye(4)] * len(names) + [pose for _, pose in obstacles]
        count = len(names)
        self.colliders = Colliders(
            Shapes.of(shapes), np.array([*range(count), *[-1] * len(obstacles)], np.int32), np.array(offset),
            np.full(len(shapes), mu), self.tree.parent, np.zeros(count, np.int32), np.array([itself]),
            np.zeros((0, 2), np.int32), None if ground is None else HalfSpace(*ground), mu)
        self.loops, self.gravity = loops, np.asarray(gravity)
        self.factor = TreeFactor(self.tree.parent, self.tree.dof)
        self.reduced = np.zeros((count, 6, 6))
        q = np.zeros(self.tree.rates)
        # free bodies start where they are said to
        self.state = State(0.0, q, np.zeros(self.tree.rates), {CENTRES: self.tree.fresh.copy()})
        at = self.tree.posture(q, q, self.state.memory)
        for i, name in enumerate(names):
            if self.tree.parent[i] < 0 and self.tree.dof[i + 1] - self.tree.dof[i] == 6:
                self.tree.in_parent[i] = bodies[name][1]
        at = self.tree.posture(q, q, self.state.memory)
        for i, name in enumerate(names):
            assert np.abs(at.E[i] - bodies[name][1]).max() < 1e-12, name
        self.passes = 0

    def at(self, q=None):
        state = self.state
        return self.tree.posture(state.q if q is None else q, state.u, state.memory)

    def free(self, at, h):
        tree = self.tree
        self.factor.factor(at.X, at.S, tree.inertia, np.zeros_like(tree.inertia), self.reduced)
        wrench = -np.einsum("nab,nb->na", tree.inertia, at.drift)
        momentum = np.einsum("nab,nb->na", tree.inertia, at.twist)
        w, v, k, p = at.twist[:, :3], at.twist[:, 3:], momentum[:, :3], momentum[:, 3:]
        wrench[:, :3] -= np.cross(w, k) + np.cross(v, p)
        wrench[:, 3:] -= np.cross(w, p)
        wrench[:, 3:] += tree.inertia[:, 3:4, 3] * np.einsum("nba,b->na", at.E[:, :3, :3], self.gravity)
        return self.state.u + h * self.factor.solve(tree.gather(at, wrench))

    def step(self, h, extra=None):
        tree, state = self.tree, self.state
        at = self.at()
        u = self.free(at, h)
        R = [tree.parent, tree.dof, at.X, at.S]
        m = tree.rates
        held = Held(np.zeros((0, m)), np.zeros(0), np.zeros(0))
        if self.loops is not None:
            G = self.loops.rows(at.E)[0].jacobian(*R)
            held = Held(G, np.zeros(len(G)), np.zeros(len(G)))
        self.touching = touching = self.colliders.find(at.E, at.twist, state.time, h)
        normal, along = touching.rows(at.E)
        target = normal.target + np.minimum(-touching.gap / h, 1.0)
        pushed = Pushed(normal.jacobian(*R), target, np.zeros(len(normal)), np.full(len(normal), np.inf))
        rubbed = Rubbed(along.jacobian(*R), along.target, touching.friction)
        answer = External(self.factor.solve, held, pushed, rubbed).solve(u)
        self.answer = answer
        self.passes = max(self.passes, answer.passes)
        q, u = state.q + h * answer.u, answer.u
        if self.loops is not None:
            def place(q):
                there = tree.posture(q, u, state.memory)
                rows, off = self.loops.rows(there.E)
                return off, rows.jacobian(tree.parent, tree.dof, there.X, there.S), rows.target
            # the kept factor belongs to the old posture, which is near
            q, u = closed(q, u, place, self.factor.solve)
        self.state = tree.recentre(State(state.time + h, q, u, state.memory))

    def run(self, seconds, h):
        for _ in range(round(seconds / h)):
            self.step(h)
        return self.at()
