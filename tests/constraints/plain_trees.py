"""Small trees of hinges and sliders in plain numpy, written apart from solver.coordinates: what rows are tested on."""

from dataclasses import dataclass

import numpy as np


def skew(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]], dtype=float)


def turn(axis, angle):
    """Rodrigues."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def pose(rotation=None, position=(0, 0, 0)):
    E = np.eye(4)
    E[:3, :3] = np.eye(3) if rotation is None else rotation
    E[:3, 3] = position
    return E


def adjoint(E):
    """Twist in the frame of E to twist in E's target frame, angular first."""
    R, p = E[:3, :3], E[:3, 3]
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = R
    out[3:, :3] = skew(p) @ R
    return out


def ad(twist):
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = skew(twist[:3])
    out[3:, :3] = skew(twist[3:])
    return out


@dataclass
class PlainTree:
    """One rate a body: its joint is a screw S (6,) in the body frame, its pose in the parent at q = 0 is `at`."""

    parent: np.ndarray
    at: list
    screw: np.ndarray
    inertia: np.ndarray  # (n, 6, 6)
    gravity: tuple = (0.0, 0.0, -9.81)

    def __post_init__(self):
        self.parent = np.asarray(self.parent, dtype=np.int32)
        self.n = len(self.parent)
        self.dof = np.arange(self.n + 1, dtype=np.int32)
        self.S = np.ascontiguousarray(self.screw, dtype=float)

    def posture(self, q):
        """E (n,4,4), X (n,6,6)."""
        E, X = np.empty((self.n, 4, 4)), np.empty((self.n, 6, 6))
        for i in range(self.n):
            w, v = self.S[i, :3], self.S[i, 3:]
            if np.linalg.norm(w) > 0:  # a hinge: v = −w × c, turns about c
                c = np.cross(w, v)
                R = turn(w, q[i])
                moved = pose(R, c - R @ c)
            else:
                moved = pose(None, v * q[i])
            relative = self.at[i] @ moved
            X[i] = adjoint(np.linalg.inv(relative))
            E[i] = relative if self.parent[i] < 0 else E[self.parent[i]] @ relative
        return E, X

    def jacobian(self, X):
        """J (6n, n)."""
        J = np.zeros((self.n, 6, self.n))
        for i in range(self.n):
            if self.parent[i] >= 0:
                J[i] = X[i] @ J[self.parent[i]]
            J[i, :, i] += self.S[i]
        return J.reshape(6 * self.n, self.n)

    def mass(self, X):
        J = self.jacobian(X)
        M = np.zeros((6 * self.n, 6 * self.n))
        for i in range(self.n):
            M[6 * i:6 * i + 6, 6 * i:6 * i + 6] = self.inertia[i]
        return J.T @ M @ J

    def force(self, q, u):
        """f_r (n,) with gravity, Coriolis and J̇ u."""
        E, X = self.posture(q)
        twist, drift, wrench = np.zeros((self.n, 6)), np.zeros((self.n, 6)), np.zeros((self.n, 6))
        for i in range(self.n):
            if self.parent[i] >= 0:
                twist[i], drift[i] = X[i] @ twist[self.parent[i]], X[i] @ drift[self.parent[i]]
            twist[i] += self.S[i] * u[i]
            drift[i] += ad(twist[i]) @ self.S[i] * u[i]
            weight = np.zeros(6)
            weight[3:] = self.inertia[i, 3, 3] * E[i, :3, :3].T @ np.asarray(self.gravity)
            wrench[i] = weight + ad(twist[i]).T @ self.inertia[i] @ twist[i] - self.inertia[i] @ drift[i]
        return self.jacobian(X).T @ wrench.ravel()

    def energy(self, q, u):
        E, X = self.posture(q)
        height = sum(self.inertia[i, 3, 3] * E[i, :3, 3] @ np.asarray(self.gravity) for i in range(self.n))
        return 0.5 * u @ self.mass(X) @ u - height


def rod(length, mass=1.0, axis=(0, 1, 0)):
    """A rod along x with its centre at the origin: inertia, its hinge about `axis` at the near end as a screw."""
    inner = mass * length**2 / 12.0
    M = np.diag([1.0e-3 * mass, inner, inner, mass, mass, mass])
    w = np.asarray(axis, dtype=float)
    c = np.array([-0.5 * length, 0, 0])
    return M, np.concatenate([w, -np.cross(w, c)])


def chain(lengths, angles, parent=None, axis=(0, 1, 0)):
    """Rods one after the other from the origin; `angles` are where each stands against the last at q = 0."""
    parent = np.arange(-1, len(lengths) - 1) if parent is None else np.asarray(parent)
    parts = [rod(length, axis=axis) for length in lengths]
    at = []
    for i, angle in enumerate(angles):
        hinge = pose(turn(np.asarray(axis, float), angle),
                     (0 if parent[i] < 0 else 0.5 * lengths[parent[i]], 0, 0))
        at.append(hinge @ pose(None, (0.5 * lengths[i], 0, 0)))
    return PlainTree(parent, at, np.array([S for _, S in parts]), np.array([M for M, _ in parts]))


def random_tree(rng, n):
    parent = np.array([-1] + [int(rng.integers(-1, i)) for i in range(1, n)])
    at, screws, inertia = [], [], []
    for _ in range(n):
        axis = rng.normal(size=3)
        at.append(pose(turn(axis / np.linalg.norm(axis), rng.uniform(0, 3)), rng.normal(size=3)))
        w = rng.normal(size=3)
        w /= np.linalg.norm(w)
        screws.append(np.concatenate([np.zeros(3), w]) if rng.random() < 0.3
                      else np.concatenate([w, -np.cross(w, rng.normal(size=3))]))
        m = rng.uniform(0.5, 2.0)
        inertia.append(np.diag([*rng.uniform(0.3, 0.5, 3), m, m, m]))
    return PlainTree(parent, at, np.array(screws), np.array(inertia))
