"""A small articulated body in dense algebra, written from the recursion alone, to which tests attach soft bodies."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from jointed import flown

from solver.coordinates.attached import Bodies
from solver.coupling.coupled_stage import CoupledStage
from solver.parts.stage import NodeStage, Stage
from solver.state import State
from solver.world.ground_friction import friction_impulses, remember

DOWN = np.array([0.0, 0.0, -9.81])


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


def ad(twist):
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = cross(twist[:3])
    out[3:, :3] = cross(twist[3:])
    return out


def Ad(E):
    """Turns a twist of the frame that E starts from into one of the frame that it leads to."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = E[:3, :3]
    out[3:, :3] = cross(E[:3, 3]) @ E[:3, :3]
    return out


def shift(p):
    E = np.eye(4)
    E[:3, 3] = p
    return E


def turned(axis, angle):
    E = np.eye(4)
    E[:3, :3] = scipy.linalg.expm(angle * cross(np.asarray(axis, float)))
    return E


@dataclass(frozen=True)
class Link:
    """A rigid body under a hinge, or a free one where `axis` is None (its rates are its own twist)."""

    parent: int
    before: np.ndarray  #: the joint's place in the parent's frame [m], or in world
    after: np.ndarray  #: the body's centre from the joint [m], as it hangs at angle 0
    axis: np.ndarray | None
    mass: float
    inertia: np.ndarray  #: principal moments [kg m²]


@dataclass(frozen=True)
class Solved:
    """The solution of A u = b of a chain with what hangs on it."""

    A: np.ndarray
    b: np.ndarray
    tree_stage = None

    @property
    def rates(self):
        return np.linalg.solve(self.A, self.b)

    def respond(self, impulses):
        return np.linalg.solve(self.A, impulses)

    def compliance(self):
        return np.linalg.inv(self.A)


class Chain:
    """Rates: one a hinge, six a free body. q: an angle a hinge, 16 entries of E a free body.

    friction: torque of every rate over that rate [N m s].
    """

    def __init__(self, links, gravity=DOWN):
        self.links, self.gravity, self.friction = links, np.asarray(gravity, float), 0.0
        self.m = sum(6 if link.axis is None else 1 for link in links)

    def start(self, angles=()):
        q, angles = [], list(angles)
        for link in self.links:
            q += shift(link.before + link.after).ravel().tolist() if link.axis is None else [angles.pop(0)]
        return State(0.0, np.array(q), np.zeros(self.m))

    def bodies(self, state):
        n = len(self.links)
        E, twists, phi, c = np.zeros((n, 4, 4)), np.zeros((n, 6, self.m)), np.zeros((n, 6)), np.zeros((n, 6))
        i = k = 0
        for b, link in enumerate(self.links):
            above = np.eye(4) if link.parent < 0 else E[link.parent]
            if link.axis is None:
                E[b] = state.q[i : i + 16].reshape(4, 4)
                S, i = np.eye(6), i + 16
            else:
                E[b] = above @ shift(link.before) @ turned(link.axis, state.q[i]) @ shift(link.after)
                S, i = np.concatenate([link.axis, np.cross(link.axis, link.after)])[:, None], i + 1
            width = S.shape[1]
            own = S @ state.u[k : k + width]
            twists[b][:, k : k + width] = S
            phi[b] = own
            if link.parent >= 0:
                X = Ad(np.linalg.inv(E[b]) @ above)
                twists[b] += X @ twists[link.parent]
                phi[b] += X @ phi[link.parent]
                c[b] = X @ c[link.parent]
            c[b] += ad(phi[b]) @ own
            k += width
        return Bodies(E, twists, phi, c, np.arange(self.m), np.eye(self.m))

    def equations(self, state, h):
        """M_r and M_r u + h f_r."""
        at = self.bodies(state)
        A, b = h * self.friction * np.eye(self.m), np.zeros(self.m)
        for link, E, J, phi, c in zip(self.links, at.E, at.twists, at.twist, at.drift):
            M = self.inertia(link)
            weight = np.concatenate([np.zeros(3), link.mass * E[:3, :3].T @ self.gravity])
            A += J.T @ M @ J
            b += J.T @ (M @ phi + h * (ad(phi).T @ M @ phi + weight - M @ c))
        return A, b

    def of_a_step(self, state, h):
        """Return the tendency of a semi-implicit step, in which bodies fly on from where they were h seconds ago."""
        at, earlier = self.bodies(state), self.earlier(state, h)
        inertia = np.array([self.inertia(link) for link in self.links])
        kept = flown(inertia, earlier.E, earlier.twist, at.E, h, self.gravity)
        return self.equations(state, h)[0], np.einsum("nab,na->b", np.array(at.twists), kept)

    def earlier(self, state, h):
        return self.bodies(self.advance(state, state.u, -h))

    @staticmethod
    def inertia(link):
        return np.diag([*link.inertia, *([link.mass] * 3)])

    def solve_at(self, at, state, stage, eliminated):
        A, b = self.of_a_step(state, stage.h)
        return Solved(A + eliminated.matrix, b + eliminated.impulse)

    def advance(self, state, u, h):
        q, i, k = state.q.copy(), 0, 0
        for link in self.links:
            if link.axis is None:
                E, twist = q[i : i + 16].reshape(4, 4), u[k : k + 6]
                step = np.zeros((4, 4))
                step[:3, :3], step[:3, 3] = cross(twist[:3]), twist[3:]
                q[i : i + 16] = (E @ scipy.linalg.expm(h * step)).ravel()
                i, k = i + 16, k + 6
            else:
                q[i] += h * u[k]
                i, k = i + 1, k + 1
        return State(state.time + h, q, u)

    def momentum(self, state):
        """Linear and angular about the origin, (6,)."""
        at, total = self.bodies(state), np.zeros(6)
        for link, E, phi in zip(self.links, at.E, at.twist):
            p = E[:3, :3] @ (link.mass * phi[3:])
            total[:3] += p
            total[3:] += E[:3, :3] @ (link.inertia * phi[:3]) + np.cross(E[:3, 3], p)
        return total

    def energy(self, state):
        at = self.bodies(state)
        return sum(0.5 * phi[:3] @ (link.inertia * phi[:3]) + 0.5 * link.mass * phi[3:] @ phi[3:]
                   - link.mass * self.gravity @ E[:3, 3] for link, E, phi in zip(self.links, at.E, at.twist))


def carried_step(world, bones, state, joints, h):
    """A semi-implicit step of soft bodies and of bones that advance on coordinates of their own."""
    earlier = bones.earlier(joints, h)
    kept = world.coordinates.attached.velocities(earlier.E, earlier.twist)
    at = bones.bodies(joints)
    state = replace(state, carrier_motion=world.coordinates.attached.carrier_motion(at))
    asked = Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=world.beta)
    together = CoupledStage(world, bones, at, world.linearise(state), NodeStage.of(asked, world.coordinates), joints,
                            replace(asked, u_hat=joints.u), kept)
    cut, rates = len(state.u), together.solve()
    found = friction_impulses(world, together, together.stage, rates[:cut], state.memory)
    if found is not None:
        together = together.under(found.impulses)
        rates = together.solve()
    u, after = rates[:cut], bones.advance(joints, rates[cut:], h)
    carrier_motion = world.coordinates.attached.carrier_motion(bones.bodies(after))
    q = together.posed.relax(state.q + h * (u + together.posed.correction(u)), u, world.evaluate,
                              carrier_motion=carrier_motion)
    return remember(State(asked.time, q, u, state.memory, carrier_motion), together.stage, found), after
