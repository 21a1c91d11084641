"""Traversals of a tree of bodies that eliminate Jᵀ B J + R, from the leaves to the root and back.

φ_i = X_i φ_parent + S_i u_i. Once its children are eliminated, body i stands for ½ φ_iᵀ H_i φ_i − g_iᵀ φ_i; with the
block C_i between it and its parent, what it hands on after its own rates u_i are eliminated is again of this form.
The upper right 3 x 3 block of every X is zero: angular velocity does not come from linear velocity.
"""

from __future__ import annotations

import numpy as np

from ..threads import inlined, kernel

TREE = "i4[::1], i4[::1]"


@inlined
def _couple(block, first, second, on_first, on_second):  # type: ignore[no-untyped-def]
    """A block of B and its transpose: what twists of two bodies bring about on the other one."""
    for a in range(6):
        for b in range(6):
            on_first[a] += block[a, b] * second[b]
            on_second[b] += block[a, b] * first[a]


@kernel(f"i8({TREE}, f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1])")
def eliminate(parent, dof, X, S, below, reduced, H, G, L):  # type: ignore[no-untyped-def]
    """Factor; returns the first body whose pivot is not positive, −1 where there is none.

    H: (n, 6, 6), comes as the diagonal blocks and leaves as the articulated ones. G: (m, 6), leaves as
    L⁻¹ Sᵀ (H X + C). L: (m, 6), leaves as the rows of each joint's Cholesky factor, with its diagonal inverted.
    """
    hs = np.empty((6, 6))
    w = np.empty((6, 6))
    for i in range(parent.shape[0] - 1, -1, -1):
        h, x, c, p, first = H[i], X[i], below[i], parent[i], dof[i]
        k = dof[i + 1] - first

        # the joint's own block Sᵀ H S + R, factored row by row
        for r in range(k):
            s, to = S[first + r], hs[r]
            for a in range(6):
                to[a] = (h[a, 0] * s[0] + h[a, 1] * s[1] + h[a, 2] * s[2]
                         + h[a, 3] * s[3] + h[a, 4] * s[4] + h[a, 5] * s[5])
        for r in range(k):
            row, s = L[first + r], S[first + r]
            for q in range(r + 1):
                to, other = hs[q], L[first + q]
                total = (reduced[i, r, q] + s[0] * to[0] + s[1] * to[1] + s[2] * to[2]
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
        for a in range(6):
            for b in range(3):
                total = 0.0
                for t in range(6):
                    total += h[a, t] * x[t, b]
                w[a, b] = 0.5 * total + c[a, b]
            for b in range(3, 6):
                w[a, b] = 0.5 * (h[a, 3] * x[3, b] + h[a, 4] * x[4, b] + h[a, 5] * x[5, b]) + c[a, b]

        # G = L⁻¹ Sᵀ (H X + C)
        for r in range(k):
            g, s, to, row = G[first + r], S[first + r], hs[r], L[first + r]
            for b in range(6):
                total = 0.0
                for t in range(6):
                    total += s[t] * w[t, b] + 0.5 * to[t] * x[t, b]
                g[b] = total
            for q in range(r):
                other = G[first + q]
                for b in range(6):
                    g[b] -= row[q] * other[b]
            for b in range(6):
                g[b] *= row[r]

        up = H[p]
        for a in range(6):
            for b in range(a + 1):
                total = (x[3, a] * w[3, b] + x[4, a] * w[4, b] + x[5, a] * w[5, b]
                         + x[3, b] * w[3, a] + x[4, b] * w[4, a] + x[5, b] * w[5, a])
                if a < 3:
                    total += x[0, a] * w[0, b] + x[1, a] * w[1, b] + x[2, a] * w[2, b]
                if b < 3:
                    total += x[0, b] * w[0, a] + x[1, b] * w[1, a] + x[2, b] * w[2, a]
                for r in range(k):
                    total -= G[first + r, a] * G[first + r, b]
                up[a, b] += total
                if b < a:
                    up[b, a] += total
    return -1


@kernel(f"void({TREE}, f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1])")
def substitute(parent, dof, X, S, G, L, u, g):  # type: ignore[no-untyped-def]
    """u = A⁻¹ (u + Jᵀ g), both (m, c). g: comes as wrenches on the bodies, (n, c, 6), leaves as their twists J u."""
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


@kernel(f"void({TREE}, f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], i4[:,::1], f8[:,:,::1],"
        " f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1])")
def multiply(parent, dof, X, S, diagonal, below, reduced, pairs, blocks, u, twist, wrench, y):  # type: ignore[no-untyped-def]
    """y = (Jᵀ B J + R) u, (m, c), with blocks (s, 6, 6) of B in rows of body pairs[s, 0] and columns of pairs[s, 1].

    twist, wrench: (n, c, 6), written over.
    """
    n, columns = parent.shape[0], u.shape[1]
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
