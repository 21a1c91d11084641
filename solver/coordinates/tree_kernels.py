"""Recursions along a tree of bodies, O(n) each, over arrays that do not depend on the types of the joints.

Parents precede children, parent −1 is the world. Twists and wrenches are [angular; linear] in the body's frame.
"""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from ..threads import inline, kernel
from .tree_structs import BodyMotion, JointMotion, TreeFrames


@inline
def load(T, i):  # type: ignore[no-untyped-def]
    """Return the upper three rows of T[i], (4, 4), as 12 numbers."""
    return (T[i, 0, 0], T[i, 0, 1], T[i, 0, 2], T[i, 0, 3],
            T[i, 1, 0], T[i, 1, 1], T[i, 1, 2], T[i, 1, 3],
            T[i, 2, 0], T[i, 2, 1], T[i, 2, 2], T[i, 2, 3])


@inline
def compose(a, b):  # type: ignore[no-untyped-def]
    """Return the product a b of two rigid motions, as 12 numbers."""
    return (
        a[0] * b[0] + a[1] * b[4] + a[2] * b[8], a[0] * b[1] + a[1] * b[5] + a[2] * b[9],
        a[0] * b[2] + a[1] * b[6] + a[2] * b[10], a[0] * b[3] + a[1] * b[7] + a[2] * b[11] + a[3],
        a[4] * b[0] + a[5] * b[4] + a[6] * b[8], a[4] * b[1] + a[5] * b[5] + a[6] * b[9],
        a[4] * b[2] + a[5] * b[6] + a[6] * b[10], a[4] * b[3] + a[5] * b[7] + a[6] * b[11] + a[7],
        a[8] * b[0] + a[9] * b[4] + a[10] * b[8], a[8] * b[1] + a[9] * b[5] + a[10] * b[9],
        a[8] * b[2] + a[9] * b[6] + a[10] * b[10], a[8] * b[3] + a[9] * b[7] + a[10] * b[11] + a[11],
    )


@inline
def cross(a, b):  # type: ignore[no-untyped-def]
    """Return a × b of two vectors, as three numbers."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inline
def along(a, v):  # type: ignore[no-untyped-def]
    """Return R v of a rigid motion with rotation R."""
    return (a[0] * v[0] + a[1] * v[1] + a[2] * v[2], a[4] * v[0] + a[5] * v[1] + a[6] * v[2],
            a[8] * v[0] + a[9] * v[1] + a[10] * v[2])


@inline
def back(a, v):  # type: ignore[no-untyped-def]
    """Return Rᵀ v of a rigid motion with rotation R."""
    return (a[0] * v[0] + a[4] * v[1] + a[8] * v[2], a[1] * v[0] + a[5] * v[1] + a[9] * v[2],
            a[2] * v[0] + a[6] * v[1] + a[10] * v[2])


@inline
def add(a, b):  # type: ignore[no-untyped-def]
    """Return a + b of two vectors, as three numbers."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inline
def scale_vector(s, a):  # type: ignore[no-untyped-def]
    """Return s a of a number and a vector, as three numbers."""
    return (s * a[0], s * a[1], s * a[2])


@kernel("void(TreeFrames, JointMotion, f8[::1], BodyMotion)", from_python=False)
def pose(tree, joints, u, at):  # type: ignore[no-untyped-def]
    """Write poses and motion of every body, `at`, from those of its joint and rates u (m,).

    φ = X φ_p + S u and J̇u = X (J̇u)_p + Ṡ u + ad(φ) S u.
    """
    parent, dof, subspace, bend = tree.parent, tree.dof, joints.subspace, joints.bend
    E, X, S, twist, drift = at.E, at.X, at.S, at.twist, at.drift
    for i in range(parent.shape[0]):
        p = parent[i]
        T = compose(load(tree.in_parent, i), compose(load(joints.moving_frame, i), load(tree.from_child, i)))
        c = load(tree.in_child, i)
        origin = (T[3], T[7], T[11])
        arm = (c[3], c[7], c[11])
        # X = Ad(T⁻¹) = [Rᵀ 0; −Rᵀ[p] Rᵀ]
        for a in range(3):
            column = (T[a], T[4 + a], T[8 + a])
            lever = cross(origin, column)
            for b in range(3):
                X[i, a, b] = column[b]
                X[i, 3 + a, b] = lever[b]
                X[i, a, 3 + b] = 0.0
                X[i, 3 + a, 3 + b] = column[b]
        # motion of the joint, in the body's frame
        angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(dof[i], dof[i + 1]):
            w = along(c, (subspace[k, 0], subspace[k, 1], subspace[k, 2]))
            v = add(along(c, (subspace[k, 3], subspace[k, 4], subspace[k, 5])), cross(arm, w))
            for a in range(3):
                S[k, a] = w[a]
                S[k, 3 + a] = v[a]
            angular, linear = add(angular, scale_vector(u[k], w)), add(linear, scale_vector(u[k], v))
        bent = along(c, (bend[i, 0], bend[i, 1], bend[i, 2]))
        slid = add(along(c, (bend[i, 3], bend[i, 4], bend[i, 5])), cross(arm, bent))
        # motion of the parent
        whole, w, v = T, angular, linear
        if p >= 0:
            whole = compose(load(E, p), T)
            above = (twist[p, 0], twist[p, 1], twist[p, 2])
            w = add(angular, back(T, above))
            v = add(linear, back(T, add((twist[p, 3], twist[p, 4], twist[p, 5]), cross(above, origin))))
            above = (drift[p, 0], drift[p, 1], drift[p, 2])
            bent = add(bent, back(T, above))
            slid = add(slid, back(T, add((drift[p, 3], drift[p, 4], drift[p, 5]), cross(above, origin))))
        bent = add(bent, cross(w, angular))
        slid = add(slid, add(cross(v, angular), cross(w, linear)))
        for a in range(3):
            for b in range(4):
                E[i, a, b] = whole[4 * a + b]
            twist[i, a] = w[a]
            twist[i, 3 + a] = v[a]
            drift[i, a] = bent[a]
            drift[i, 3 + a] = slid[a]


@kernel("void(i4[::1], i4[::1], f8[:,:,:,::1], f8[:,:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[::1])",
        address=False)
def pose_stacks(parent, dof, fixed, frames, X, rows, motions, u):  # type: ignore[no-untyped-def]
    """Write poses and motion of every body by `pose`, with arrays of one shape stacked, as each argument of a call from
    Python costs as much as a joint.

    fixed: in_parent, in_child and from_child, (3, n, 4, 4). frames: E and moving_frame, (2, n, 4, 4). rows: S and
    subspace, (2, m, 6). motions: twist, drift and bend, (3, n, 6). The other arrays are those of TreeFrames and
    BodyMotion.
    """
    pose(TreeFrames(parent, dof, fixed[0], fixed[1], fixed[2]), JointMotion(frames[1], rows[1], motions[2]), u,
         BodyMotion(frames[0], X, rows[0], motions[0], motions[1]))


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], f8[:,::1], f8[::1], f8[:,::1])", address=False)
def spread_one(parent, dof, X, S, u, out):  # type: ignore[no-untyped-def]
    """Write twists φ_i = X_i φ_parent + S_i u_i to out, (n, 6)."""
    for i in range(parent.shape[0]):
        p = parent[i]
        for a in range(6):
            total = 0.0
            if p >= 0:
                for b in range(6):
                    total += X[i, a, b] * out[p, b]
            for k in range(dof[i], dof[i + 1]):
                total += S[k, a] * u[k]
            out[i, a] = total


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1])", address=False)
def spread_columns(parent, dof, X, S, u, out):  # type: ignore[no-untyped-def]
    """Write twists to out, (n, 6, c), by `spread_one` for each column of u, (m, c)."""
    columns = u.shape[1]
    for i in range(parent.shape[0]):
        p = parent[i]
        for a in range(6):
            for c in range(columns):
                out[i, a, c] = 0.0
            if p >= 0:
                for b in range(6):
                    for c in range(columns):
                        out[i, a, c] += X[i, a, b] * out[p, b, c]
            for k in range(dof[i], dof[i + 1]):
                for c in range(columns):
                    out[i, a, c] += S[k, a] * u[k, c]


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[::1])", address=False)
def gather_one(parent, dof, X, S, wrench, out):  # type: ignore[no-untyped-def]
    """Write generalised forces S_iᵀ w_i to out, (m,), from leaf to root, and add X_iᵀ w_i of each body to its parent;
    wrench (n, 6) is overwritten."""
    for i in range(parent.shape[0] - 1, -1, -1):
        p = parent[i]
        for k in range(dof[i], dof[i + 1]):
            total = 0.0
            for a in range(6):
                total += S[k, a] * wrench[i, a]
            out[k] = total
        if p >= 0:
            for a in range(6):
                for b in range(6):
                    wrench[p, b] += X[i, a, b] * wrench[i, a]


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1])", address=False)
def gather_columns(parent, dof, X, S, wrench, out):  # type: ignore[no-untyped-def]
    """Write generalised forces to out, (m, c), by `gather_one` for each column of wrench, (n, 6, c)."""
    columns = out.shape[1]
    for i in range(parent.shape[0] - 1, -1, -1):
        p = parent[i]
        for k in range(dof[i], dof[i + 1]):
            for c in range(columns):
                out[k, c] = 0.0
            for a in range(6):
                for c in range(columns):
                    out[k, c] += S[k, a] * wrench[i, a, c]
        if p >= 0:
            for a in range(6):
                for b in range(6):
                    for c in range(columns):
                        wrench[p, b, c] += X[i, a, b] * wrench[i, a, c]


def spread(parent: Index, dof: Index, X: Vec, S: Vec, u: Vec, out: Vec | None = None) -> Vec:
    """Return the bodies' twists J u, (n, 6) or (n, 6, c) [rad/s, m/s].

    parent: (n,). dof: (n + 1,). X: (n, 6, 6). S: (m, 6). u: (m,) or (m, c). out: written to where it is given.
    """
    if out is None:
        out = np.empty((len(parent), 6, *u.shape[1:]))
    (spread_one if u.ndim == 1 else spread_columns)(parent, dof, X, S, np.ascontiguousarray(u), out)
    return out


def gather(parent: Index, dof: Index, X: Vec, S: Vec, wrench: Vec, out: Vec | None = None,
           scratch: Vec | None = None) -> Vec:
    """Return the generalised forces Jᵀ w of wrenches on bodies, (m,) or (m, c) [N m, N].

    parent: (n,). dof: (n + 1,). X: (n, 6, 6). S: (m, 6). wrench: (n, 6) or (n, 6, c), not changed. out, scratch: of the
    result's and the wrench's shape, written to where they are given; afterwards `scratch` has each body's wrench with
    those below it.
    """
    if out is None:
        out = np.empty((len(S), *wrench.shape[2:]))
    if scratch is None:
        scratch = np.array(wrench, dtype=float, order="C")
    else:
        scratch[:] = wrench
    (gather_one if wrench.ndim == 2 else gather_columns)(parent, dof, X, S, scratch, out)
    return out


def jacobian(parent: Index, dof: Index, X: Vec, S: Vec) -> Vec:
    """Return the bodies' Jacobian J of the rates as a dense matrix, (6 n, m), for small trees and for tests."""
    return spread(parent, dof, X, S, np.eye(len(S))).reshape(6 * len(parent), len(S))
