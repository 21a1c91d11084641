"""Traversals of a tree of bodies that eliminate Jᵀ B J + R, from the leaves to the root and back.

φ_i = X_i φ_parent + S_i u_i. Once its children are eliminated, body i contributes ½ φ_iᵀ H_i φ_i − g_iᵀ φ_i; with the
block C_i between body and parent, its contribution to the parent after elimination of u_i has this form again. The
upper right 3 x 3 block of every X is zero: angular velocity does not depend on linear velocity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernel_structs import struct
from ...state import Index, Vec
from ...threads import inline, kernel

TREE = "i4[::1], i4[::1]"


@inline
def _couple(block, first, second, on_first, on_second):  # type: ignore[no-untyped-def]
    """Add the products of a block of B and of its transpose with the twists of two bodies to the wrenches on both."""
    for a in range(6):
        for b in range(6):
            on_first[a] += block[a, b] * second[b]
            on_second[b] += block[a, b] * first[a]


@kernel(f"i8({TREE}, f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1])", address=False)
def eliminate(parent, dof, X, S, below, reduced, H, factor):  # type: ignore[no-untyped-def]
    """Factor Jᵀ B J + R; return the body at which a pivot is not positive, −1 where there is none.

    H: (n, 6, 6), diagonal blocks of B on entry, articulated blocks on exit. factor: on exit G = L⁻¹ Sᵀ (H X + C) and
    the rows of each joint's Cholesky factor L with inverted diagonal, (2, m, 6).
    """
    n, G, L = parent.shape[0], factor[0], factor[1]
    # rows of 36: at constant distances LLVM makes vectors of them
    blocks, couplings, maps, own = H.reshape(n, 36), below.reshape(n, 36), X.reshape(n, 36), reduced.reshape(n, 36)
    hs = np.empty((6, 6))
    w = np.empty(36)
    for i in range(n - 1, -1, -1):
        h, x, c, p, first = blocks[i], maps[i], couplings[i], parent[i], dof[i]
        k = dof[i + 1] - first

        # the joint's own block Sᵀ H S + R, factored row by row
        for r in range(k):
            s, to = S[first + r], hs[r]
            for a in range(6):
                to[a] = (h[a] * s[0] + h[6 + a] * s[1] + h[12 + a] * s[2]
                         + h[18 + a] * s[3] + h[24 + a] * s[4] + h[30 + a] * s[5])
        for r in range(k):
            row, s = L[first + r], S[first + r]
            for q in range(r + 1):
                to, other = hs[q], L[first + q]
                total = (own[i, 6 * r + q] + s[0] * to[0] + s[1] * to[1] + s[2] * to[2]
                         + s[3] * to[3] + s[4] * to[4] + s[5] * to[5])
                for t in range(q):
                    total -= row[t] * other[t]
                if q < r:
                    row[q] = total * other[q]
                elif total > 0.0:
                    row[q] = 1.0 / np.sqrt(total)
                else:
                    return i
        if p < 0:
            continue

        # w = ½ H X + C, with which what goes to the parent is Xᵀ w + wᵀ X
        for a in range(0, 36, 6):
            h0, h1, h2 = 0.5 * h[a], 0.5 * h[a + 1], 0.5 * h[a + 2]
            h3, h4, h5 = 0.5 * h[a + 3], 0.5 * h[a + 4], 0.5 * h[a + 5]
            for b in range(3):
                w[a + b] = (c[a + b] + h0 * x[b] + h1 * x[6 + b] + h2 * x[12 + b]
                            + h3 * x[18 + b] + h4 * x[24 + b] + h5 * x[30 + b])
            for b in range(3, 6):
                w[a + b] = c[a + b] + h3 * x[18 + b] + h4 * x[24 + b] + h5 * x[30 + b]

        # G = L⁻¹ Sᵀ (H X + C)
        for r in range(k):
            g, s, to, row = G[first + r], S[first + r], hs[r], L[first + r]
            for b in range(6):
                total = to[3] * x[18 + b] + to[4] * x[24 + b] + to[5] * x[30 + b]
                if b < 3:
                    total += to[0] * x[b] + to[1] * x[6 + b] + to[2] * x[12 + b]
                g[b] = (0.5 * total + s[0] * w[b] + s[1] * w[6 + b] + s[2] * w[12 + b]
                        + s[3] * w[18 + b] + s[4] * w[24 + b] + s[5] * w[30 + b])
            for q in range(r):
                other = G[first + q]
                for b in range(6):
                    g[b] -= row[q] * other[b]
            for b in range(6):
                g[b] *= row[r]

        up = blocks[p]
        for a in range(6):
            x0, x1, x2, x3, x4, x5 = x[a], x[6 + a], x[12 + a], x[18 + a], x[24 + a], x[30 + a]
            for b in range(6):
                total = x3 * w[18 + b] + x4 * w[24 + b] + x5 * w[30 + b]
                if a < 3:
                    total += x0 * w[b] + x1 * w[6 + b] + x2 * w[12 + b]
                up[6 * a + b] += total
                up[6 * b + a] += total
        for r in range(k):
            g = G[first + r]
            for a in range(6):
                for b in range(6):
                    up[6 * a + b] -= g[a] * g[b]
    return -1


@kernel(f"void({TREE}, f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1])", address=False)
def substitute(parent, dof, X, S, G, L, u, g):  # type: ignore[no-untyped-def]
    """Overwrite u, (m, c), by A⁻¹ (u + Jᵀ g). g: (n, c, 6), wrenches on the bodies on entry, their twists J u on
    exit."""
    n, columns = parent.shape[0], u.shape[1]
    for i in range(n - 1, -1, -1):
        x, p, first = X[i], parent[i], dof[i]
        k = dof[i + 1] - first
        for j in range(columns):
            load = g[i, j]
            # u = L⁻¹ (b + Sᵀ g)
            for r in range(k):
                s, row = S[first + r], L[first + r]
                total = (u[first + r, j] + s[0] * load[0] + s[1] * load[1] + s[2] * load[2]
                         + s[3] * load[3] + s[4] * load[4] + s[5] * load[5])
                for q in range(r):
                    total -= row[q] * u[first + q, j]
                u[first + r, j] = total * row[r]
            if p >= 0:
                up = g[p, j]
                for a in range(6):
                    total = x[3, a] * load[3] + x[4, a] * load[4] + x[5, a] * load[5]
                    if a < 3:
                        total += x[0, a] * load[0] + x[1, a] * load[1] + x[2, a] * load[2]
                    for r in range(k):
                        total -= G[first + r, a] * u[first + r, j]
                    up[a] += total
    # back: g holds the twists
    for i in range(n):
        x, p, first = X[i], parent[i], dof[i]
        k = dof[i + 1] - first
        for j in range(columns):
            twist = g[i, j]
            if p >= 0:
                above = g[p, j]
                for r in range(k):
                    row = G[first + r]
                    u[first + r, j] -= (row[0] * above[0] + row[1] * above[1] + row[2] * above[2]
                                        + row[3] * above[3] + row[4] * above[4] + row[5] * above[5])
                for a in range(6):
                    total = x[a, 0] * above[0] + x[a, 1] * above[1] + x[a, 2] * above[2]
                    if a >= 3:
                        total += x[a, 3] * above[3] + x[a, 4] * above[4] + x[a, 5] * above[5]
                    twist[a] = total
            else:
                for a in range(6):
                    twist[a] = 0.0
            for r in range(k - 1, -1, -1):
                total = u[first + r, j]
                for q in range(r + 1, k):
                    total -= L[first + q, r] * u[first + q, j]
                total *= L[first + r, r]
                u[first + r, j] = total
                s = S[first + r]
                for a in range(6):
                    twist[a] += s[a] * total


@struct("f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], i4[:,::1], f8[:,:,::1]")
class TreeMatrix(NamedTuple):
    """Blocks of B and R, with which the matrix of a tree's rates is Jᵀ B J + R."""

    diagonal: Vec  #: of B on bodies, (n, 6, 6)
    below: Vec  #: of B in rows of bodies and columns of their parents, (n, 6, 6)
    reduced: Vec  #: R of the joint above each body, in the upper left corner, (n, 6, 6)
    pairs: Index  #: bodies of springs between others than parent and child, (s, 2)
    blocks: Vec  #: of B in rows of the first and columns of the second of these, (s, 6, 6)


@kernel(f"void({TREE}, f8[:,:,::1], f8[:,::1], TreeMatrix, f8[:,::1], f8[:,:,:,::1], f8[:,::1])", address=False)
def multiply(parent, dof, X, S, matrix, u, scratch, y):  # type: ignore[no-untyped-def]
    """Write y = (Jᵀ B J + R) u, both (m, c). scratch: (2, n, c, 6)."""
    n, columns, twist, wrench = parent.shape[0], u.shape[1], scratch[0], scratch[1]
    diagonal, below, reduced, pairs, blocks = matrix
    for i in range(n):
        x, p = X[i], parent[i]
        for j in range(columns):
            to = twist[i, j]
            for a in range(6):
                total = 0.0
                if p >= 0:
                    for b in range(6):
                        total += x[a, b] * twist[p, j, b]
                for r in range(dof[i], dof[i + 1]):
                    total += S[r, a] * u[r, j]
                to[a] = total
    # parents stand first, so theirs are there when a child adds to them
    for i in range(n):
        p = parent[i]
        for j in range(columns):
            own = twist[i, j]
            for a in range(6):
                total = 0.0
                for b in range(6):
                    total += diagonal[i, a, b] * own[b]
                wrench[i, j, a] = total
            if p >= 0:
                _couple(below[i], own, twist[p, j], wrench[i, j], wrench[p, j])
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        for j in range(columns):
            _couple(blocks[k], twist[a, j], twist[b, j], wrench[a, j], wrench[b, j])
    for i in range(n - 1, -1, -1):
        x, p, first = X[i], parent[i], dof[i]
        k = dof[i + 1] - first
        for j in range(columns):
            load = wrench[i, j]
            for r in range(k):
                total = 0.0
                for a in range(6):
                    total += S[first + r, a] * load[a]
                for q in range(k):
                    total += reduced[i, r, q] * u[first + q, j]
                y[first + r, j] = total
            if p >= 0:
                for a in range(6):
                    for b in range(6):
                        wrench[p, j, b] += x[a, b] * load[a]
