"""Rigid bodies that fall on the ground, on obstacles and on each other, written as a job and stepped by its world."""

from dataclasses import replace

import numpy as np
from mechanisms import mechanism_world

G = (0.0, 0.0, -9.81)


def frame(position=(0, 0, 0), rotation=None):
    E = np.eye(4)
    E[:3, :3] = np.eye(3) if rotation is None else rotation
    E[:3, 3] = position
    return E


def about(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def quaternion(R):
    """(w, x, y, z) of a rotation: the eigenvector of the largest eigenvalue of Bar-Itzhack's matrix."""
    off = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K = np.empty((4, 4))
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    K[0, 0], K[0, 1:], K[1:, 0] = np.trace(R), off, off
    return np.linalg.eigh(K)[1][:, -1]


def box(*size):
    return {"kind": "box", "params": dict(zip(("size_x", "size_y", "size_z"), size))}


def sphere(radius):
    return {"kind": "sphere", "params": {"radius": radius}}


def capsule(radius, length):
    return {"kind": "capsule", "params": {"radius": radius, "length": length}}


class Falling:
    """Bodies {name: (shape, world frame at the start)} with joints, obstacles (shape, frame or frames) and a ground.

    mu: of the ground, and of bodies and obstacles too, unless `friction` {name: μ} has one of their own; obstacles are
    named o0, o1, …. One with frames (T, 4, 4), 1/48 s apart, moves as told. fast: {body: rates of its free flight}.
    """

    def __init__(self, folder, bodies, joints=(), obstacles=(), ground=None, mu=0.5, friction=None, gravity=G,
                 itself=True, fast=None, **options):
        rough, arrays, described, joints = friction or {}, {}, [], list(joints)
        for name, (shape, E) in [*bodies.items(), *((f"o{k}", placed) for k, placed in enumerate(obstacles))]:
            body = {"name": name, "shape": shape, "friction": rough.get(name, mu), "density": 1000.0}
            if np.ndim(E) == 2:
                stands = {"position": E[:3, 3].tolist(), "rotation": quaternion(E[:3, :3]).tolist()}
                body |= stands
                if name not in bodies:
                    joints.append({"name": name, "kind": "fixed", "child": name, **stands})
                elif name in (fast or {}):
                    joints.append({"name": name, "kind": "free", "child": name, "rate": list(fast[name]), **stands})
            else:
                arrays[name] = E
                body["motion"] = f"arrays/{name}.npy"
            described.append(body)
        plane = None if ground is None else {
            "point": list(ground[0]), "normal": list(ground[1]),
            "friction": {"kind": "coulomb", "params": {"friction_coefficient": rough.get("ground", mu)}}}
        mechanism = {"name": "Robot", "bodies": described, "joints": joints, "self_collisions": itself}
        self.world = mechanism_world(folder, [], [], mechanisms=[mechanism], ground=plane, gravity=list(gravity),
                                     arrays=arrays, samples=2, **options)
        self.tree = self.world.tree
        self.place = {name.removeprefix("Robot/"): i for i, name in enumerate(self.tree.bodies)}
        self.movers = [self.place[name] for name in bodies]
        self.state = self.world.initial_state()

    def at(self):
        """Frames E (n, 4, 4) and twists (n, 6), in their frames, of the bodies, without obstacles."""
        state = self.state
        there = self.tree.posture(state.q, state.u, state.memory)
        return replace(there, E=there.E[self.movers], twist=there.twist[self.movers])

    def touching(self, h):
        """Return the pairs that touch, or may within h seconds."""
        at = self.tree.posture(self.state.q, self.state.u, self.state.memory)
        return self.world.constraints.colliders.find(at.E, at.twist, self.state.time + h, h)

    def step(self, h):
        self.state = self.world.step(self.state, h)

    def run(self, seconds, h):
        for _ in range(round(seconds / h)):
            self.step(h)
        return self.at()
