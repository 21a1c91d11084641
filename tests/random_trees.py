"""Random trees of joints with springs, as arrays, and the same system written out densely."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class RandomTree:
    """A tree's arrays as a posture has them, and B and R that springs would fill."""

    parent: np.ndarray
    dof: np.ndarray
    X: np.ndarray
    S: np.ndarray
    diagonal: np.ndarray
    below: np.ndarray
    reduced: np.ndarray
    pairs: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))
    far: np.ndarray = field(default_factory=lambda: np.zeros((0, 6, 6)))

    @property
    def blocks(self):
        return self.X, self.S, self.diagonal, self.below, self.reduced, self.pairs, self.far

    def tie(self, count: int, rng: np.random.Generator, stiffness: float, directions: int = 1) -> None:
        """Springs between bodies that are not parent and child."""
        n = len(self.parent)
        free = [(a, b) for a in range(n) for b in range(a) if self.parent[a] != b]
        chosen = rng.choice(len(free), size=count, replace=count > len(free))
        self.pairs = np.array([free[k] for k in chosen], dtype=np.int32).reshape(-1, 2)
        pulls = rng.normal(size=(count, directions, 12))
        blocks = stiffness * np.swapaxes(pulls, 1, 2) @ pulls
        self.far = blocks[:, :6, 6:].copy()
        np.add.at(self.diagonal, self.pairs[:, 0], blocks[:, :6, :6])
        np.add.at(self.diagonal, self.pairs[:, 1], blocks[:, 6:, 6:])

    def jacobian(self) -> np.ndarray:
        """(6n, m)."""
        n = len(self.parent)
        J = np.zeros((n, 6, self.dof[-1]))
        for i, p in enumerate(self.parent):
            if p >= 0:
                J[i] = self.X[i] @ J[p]
            own = slice(self.dof[i], self.dof[i + 1])
            J[i, :, own] += self.S[own].T
        return J.reshape(6 * n, -1)

    def maximal(self) -> np.ndarray:
        """B, (6n, 6n)."""
        n = len(self.parent)
        B = np.zeros((n, 6, n, 6))
        for i, p in enumerate(self.parent):
            B[i, :, i] += self.diagonal[i]
            if p >= 0:
                B[i, :, p] += self.below[i]
                B[p, :, i] += self.below[i].T
        for (a, b), block in zip(self.pairs, self.far):
            B[a, :, b] += block
            B[b, :, a] += block.T
        return B.reshape(6 * n, 6 * n)

    def joints(self) -> np.ndarray:
        """R, (m, m)."""
        R = np.zeros((self.dof[-1], self.dof[-1]))
        for i in range(len(self.parent)):
            own, k = slice(self.dof[i], self.dof[i + 1]), self.dof[i + 1] - self.dof[i]
            R[own, own] = self.reduced[i, :k, :k]
        return R

    def dense(self) -> np.ndarray:
        """Jᵀ B J + R, (m, m)."""
        J = self.jacobian()
        return J.T @ self.maximal() @ J + self.joints()


def turned(rng: np.random.Generator) -> np.ndarray:
    """A rotation, (3, 3)."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


def crossed(p: np.ndarray) -> np.ndarray:
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def random_tree(n: int, rng: np.random.Generator, rates=(0, 1, 1, 2, 3, 6), roots: float = 0.1,
                springs: float = 30.0, joint_springs: float = 5.0) -> RandomTree:
    """Parents, joint types, motion subspaces, inertias and springs at random; the matrix is positive definite."""
    parent = np.array([-1 if i == 0 or rng.random() < roots else rng.integers(max(0, i - 3), i) for i in range(n)])
    dof = np.concatenate([[0], np.cumsum(rng.choice(rates, size=n))])
    X = np.zeros((n, 6, 6))
    diagonal, below, reduced = np.zeros((n, 6, 6)), np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
    for i, p in enumerate(parent):
        R, arm = turned(rng), rng.normal(size=3)
        X[i, :3, :3] = X[i, 3:, 3:] = R
        X[i, 3:, :3] = R @ crossed(arm)
        moments = turned(rng)
        diagonal[i, :3, :3] += moments @ np.diag(rng.uniform(0.2, 1.0, 3)) @ moments.T
        diagonal[i, 3:, 3:] += rng.uniform(0.5, 2.0) * np.eye(3)
        # a damped spring in three directions between the body and its parent
        pull = rng.normal(size=(3, 12))
        block = springs * pull.T @ pull
        diagonal[i] += block[:6, :6]
        if p >= 0:
            diagonal[p] += block[6:, 6:]
            below[i] = block[:6, 6:]
        k = dof[i + 1] - dof[i]
        own = rng.normal(size=(k, k))
        reduced[i, :k, :k] = joint_springs * own @ own.T
    return RandomTree(parent.astype(np.int32), dof.astype(np.int32), X, rng.normal(size=(dof[-1], 6)), diagonal, below,
                      reduced)
