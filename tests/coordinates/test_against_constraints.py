"""Each joint type against bodies that move by themselves and are held by constraints: a dense KKT system in world axes.

Nothing of the tree's mathematics is used: a joint is said by which directions stay at right angles and which offsets
stay zero, differentiated twice by hand.
"""

import numpy as np
import pytest
from trees import KINDS, acceleration, random_state, random_tree

X, Y, Z = np.eye(3)
POINT = [("offset", axis) for axis in (X, Y, Z)]
#: ("offset", a): the moving frame's origin does not leave the parent's frame along a;
#: ("turn", a, b): the parent's a and the moving frame's b stay at right angles
ALIGNED = [("turn", X, Y), ("turn", Y, Z), ("turn", Z, X)]
AXIS = [("turn", X, Z), ("turn", Y, Z)]
CONSTRAINED = {
    "fixed": POINT + ALIGNED,
    "revolute": POINT + AXIS,
    "prismatic": POINT[:2] + ALIGNED,
    "universal": [*POINT, ("turn", X, Y)],
    "cylindrical": POINT[:2] + AXIS,
    "planar": POINT[2:] + AXIS,
    "spherical": POINT,
    "translational": ALIGNED,
    "free": [],
    "free_planar": POINT[2:] + AXIS,
}


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


class Moving:
    """A body, or the world (i < 0), in world axes: x, R, velocity v, angular velocity w."""

    def __init__(self, at, i):
        self.i = i
        self.R, self.x = (at.E[i, :3, :3], at.E[i, :3, 3]) if i >= 0 else (np.eye(3), np.zeros(3))
        self.w, self.v = (self.R @ at.twist[i, :3], self.R @ at.twist[i, 3:]) if i >= 0 else (np.zeros(3),) * 2

    def direction(self, d):
        """Return of a direction fixed in it: value, rate, second rate without acceleration, ∂/∂(α, a)."""
        d = self.R @ d
        return d, np.cross(self.w, d), np.cross(self.w, np.cross(self.w, d)), np.hstack([-cross(d), np.zeros((3, 3))])

    def point(self, p):
        """Return value, rate and slope of a point that is fixed in it, as `direction` does."""
        arm, rate, second, slope = self.direction(p)
        return self.x + arm, self.v + rate, second, slope + np.hstack([np.zeros((3, 3)), np.eye(3)])


def product(a, b):
    """Return the product's value, rate, second rate without accelerations, slope in those of a's and of b's body."""
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2 * a[1] @ b[1] + a[0] @ b[2], b[0] @ a[3], a[0] @ b[3]


def constraints(tree, at, kinds):
    """Values, rates and second rates (without accelerations) of all constraints, and their matrix over (α, a)."""
    rows, violations = [], []
    for i, kind in enumerate(kinds):
        above, below = Moving(at, tree.parent[i]), Moving(at, i)
        start, moving = tree.in_parent[i], tree.in_child[i]
        for what, a, *b in CONSTRAINED[kind]:
            a = start[:3, :3] @ a
            row = np.zeros((tree.count, 6))
            if what == "turn":
                *value, up, down = product(above.direction(a), below.direction(moving[:3, :3] @ b[0]))
            else:
                here, there = below.point(moving[:3, 3]), above.point(start[:3, 3])
                gap = [below_point - above_point for below_point, above_point in zip(here[:3], there[:3])]
                *value, up, down = product(above.direction(a), (*gap, here[3]))
                up = up - above.direction(a)[0] @ there[3]
            row[i] += down
            if above.i >= 0:
                row[above.i] += up
            rows.append(row.ravel())
            violations.append(value)
    return np.reshape(violations, (-1, 3)), np.reshape(rows, (-1, 6 * tree.count))


@pytest.mark.parametrize("kind", KINDS)
def test_accelerations_are_those_of_constrained_bodies(kind):
    rng = np.random.default_rng(11)
    kinds = [kind, "spherical", kind, "prismatic", kind, kind]
    tree = random_tree(rng, kinds, parents=[-1, 0, 1, 0, -1, 4])
    kinds = [kinds[k] for k in tree.order]
    q, u, centres = random_state(rng, tree)
    at = tree.posture(q, u, centres)
    n, gravity = tree.count, np.array([1.0, -2.0, -9.81])

    violations, G = constraints(tree, at, kinds)
    assert len(violations) == 6 * n - tree.rates == np.linalg.matrix_rank(G)
    assert np.abs(violations[:, :2]).max() <= 1e-12, "the posture leaves the constraints"

    M, force = np.zeros((6 * n, 6 * n)), np.zeros((n, 6))
    for i in range(n):
        R, I = at.E[i, :3, :3], tree.inertia[i, :3, :3]
        M[6 * i:6 * i + 3, 6 * i:6 * i + 3] = R @ I @ R.T
        M[6 * i + 3:6 * i + 6, 6 * i + 3:6 * i + 6] = tree.inertia[i, 3:, 3:]
        omega = R @ at.twist[i, :3]
        force[i, :3], force[i, 3:] = -np.cross(omega, R @ I @ R.T @ omega), tree.inertia[i, 3, 3] * gravity
    k = len(G)
    kkt = np.block([[M, -G.T], [G, np.zeros((k, k))]])
    expected = np.linalg.solve(kkt, np.concatenate([force.ravel(), -violations[:, 2]]))[:6 * n].reshape(n, 6)

    rate = tree.spread(at, acceleration(tree, q, u, centres, gravity)) + at.drift
    ours = np.empty((n, 6))
    for i in range(n):
        R, (omega, nu) = at.E[i, :3, :3], at.twist[i].reshape(2, 3)
        ours[i, :3], ours[i, 3:] = R @ rate[i, :3], R @ (rate[i, 3:] + np.cross(omega, nu))
    assert np.abs(ours).max() > 5.0
    assert np.abs(ours - expected).max() <= 1e-10 * np.abs(expected).max()
