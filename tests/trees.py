"""Random trees of rigid bodies, and their dynamics done densely."""

import numpy as np

from solver import catalogue
from solver.coordinates.joints.rotations import quaternion
from solver.coordinates.tree_build import Body, Joint, build

KINDS = tuple(catalogue.family("joint"))


def rotation(rng, scale=np.pi):
    """A random rotation, (3, 3), by at most √3 `scale`."""
    w, x, y, z = quaternion(rng.uniform(-scale, scale, (1, 3)))[0]
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def frame(rng, reach=0.7):
    """A random rigid motion, (4, 4)."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = rotation(rng), rng.uniform(-reach, reach, 3)
    return out


def random_inertia(rng):
    """Spatial inertia of a body with a full inertia tensor, (6, 6)."""
    turn = rotation(rng)
    out = np.zeros((6, 6))
    squares = rng.uniform(0.05, 0.3, 3)
    out[:3, :3] = turn @ np.diag(squares.sum() - squares) @ turn.T
    out[3:, 3:] = rng.uniform(0.5, 3.0) * np.eye(3)
    return out


def random_tree(rng, kinds, parents=None, at_centre=False):
    """A tree with a joint of each of `kinds` in this order, on random parents unless they are given (None: world).

    at_centre: the moving frames stand at their bodies' own.
    """
    bodies, joints = [], []
    for k, kind in enumerate(kinds):
        p = rng.integers(-1, k) if parents is None else parents[k]
        parent = None if p is None or p < 0 else f"b{p}"
        bodies.append(Body(f"b{k}", random_inertia(rng)))
        joints.append(Joint(f"j{k}", kind, f"b{k}", parent, frame(rng), np.eye(4) if at_centre else frame(rng)))
    return build(bodies, joints)


def random_state(rng, tree, size=0.9):
    """q, u and centres of charts that have moved."""
    centres = tree.fresh.copy().reshape(-1, 4)
    centres += rng.normal(size=centres.shape)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return rng.uniform(-size, size, tree.rates), rng.normal(size=tree.rates), centres.ravel()


def hat(twist):
    """(4, 4) of a twist [ω; ν]."""
    (a, b, c), v = twist[:3], twist[3:]
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3] = [[0, -c, b], [c, 0, -a], [-b, a, 0]], v
    return out


def vee(matrix):
    """The twist of (4, 4)."""
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0], *matrix[:3, 3]])


def ad(twist):
    """ad(φ), (6, 6)."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = hat(twist)[:3, :3]
    out[3:, :3] = hat(np.concatenate([twist[3:], twist[:3]]))[:3, :3]
    return out


def bias(tree, at, gravity=(0.0, 0.0, 0.0)):
    """Gravity and the Coriolis wrench ad(φ)ᵀ M φ of each body, (n, 6)."""
    wrench = np.array([ad(at.twist[i]).T @ tree.inertia[i] @ at.twist[i] for i in range(tree.count)])
    mass = tree.inertia[:, 3, 3]
    wrench[:, 3:] += mass[:, None] * np.einsum("nab,a->nb", at.E[:, :3, :3], np.asarray(gravity))
    return wrench.reshape(tree.count, 6)


def acceleration(tree, q, u, centres, gravity=(0.0, 0.0, 0.0), reduced=0.0, at=None):
    """u̇, densely: M_r u̇ = Jᵀ (f_m + Coriolis − M J̇u) + reduced."""
    at = tree.posture(q, u, centres, at)
    J = tree.jacobian(at)
    M = np.zeros((6 * tree.count, 6 * tree.count))
    for i in range(tree.count):
        M[6 * i:6 * i + 6, 6 * i:6 * i + 6] = tree.inertia[i]
    force = bias(tree, at, gravity).ravel() - M @ at.drift.ravel()
    return np.linalg.solve(J.T @ M @ J, J.T @ force + reduced)
