"""Kernels of twist of rods by reference frames, transported in parallel along the rod and in time."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

SHORT = 1.0e-12  #: [m]: a shorter link has no direction
FOLDED = 1.0e-6  #: lower bound of 1 + cos θ: links that are folded back have no parallel transport


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1])")
def transport(a, b, v, out):  # type: ignore[no-untyped-def]
    """Write v (3,), rotated by the least rotation from unit vector a to unit vector b, into out (3,)."""
    c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    x0 = a[1] * b[2] - a[2] * b[1]
    x1 = a[2] * b[0] - a[0] * b[2]
    x2 = a[0] * b[1] - a[1] * b[0]
    s = (x0 * v[0] + x1 * v[1] + x2 * v[2]) / max(1.0 + c, FOLDED)
    y0, y1, y2 = x1 * v[2] - x2 * v[1], x2 * v[0] - x0 * v[2], x0 * v[1] - x1 * v[0]
    out[0], out[1], out[2] = c * v[0] + y0 + s * x0, c * v[1] + y1 + s * x1, c * v[2] + y2 + s * x2


@kernel("void(f8[:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1])")
def link_directions(x, nodes, out, lengths):  # type: ignore[no-untyped-def]
    """Write unit directions, out (b, 2, 3), and lengths (b, 2) [m] of both links of each bend.

    x: (n, 3) [m]. nodes: (b, 3).
    """
    for s in range(nodes.shape[0]):
        for k in range(2):
            square = 0.0
            for a in range(3):
                out[s, k, a] = x[nodes[s, k + 1], a] - x[nodes[s, k], a]
                square += out[s, k, a] ** 2
            lengths[s, k] = max(np.sqrt(square), SHORT)
            for a in range(3):
                out[s, k, a] /= lengths[s, k]


@kernel("void(f8[:,:,::1], f8[:,:,::1], i4[::1], f8[::1])")
def add_twist(before, now, path, out):  # type: ignore[no-untyped-def]
    """Add the rotation of the reference frames at bends, between two sets of link directions, to twists of strands.

    before, now: link directions, (b, 2, 3) each. path: strand of each bend, (b,). out: (p,) [rad].
    """
    u, v0, v1, z, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for s in range(before.shape[0]):
        t = before[s, 0]
        least = 0
        for a in range(1, 3):
            if abs(t[a]) < abs(t[least]):
                least = a
        size = 0.0
        for a in range(3):
            u[a] = (1.0 if a == least else 0.0) - t[least] * t[a]
            size += u[a] * u[a]
        for a in range(3):
            u[a] /= np.sqrt(size)
        transport(t, now[s, 0], u, v0)
        transport(now[s, 0], now[s, 1], v0, z)
        transport(t, before[s, 1], u, w)
        transport(before[s, 1], now[s, 1], w, v1)
        n = now[s, 1]
        sine = (n[0] * (z[1] * v1[2] - z[2] * v1[1]) + n[1] * (z[2] * v1[0] - z[0] * v1[2])
                + n[2] * (z[0] * v1[1] - z[1] * v1[0]))
        out[path[s]] += np.arctan2(sine, z[0] * v1[0] + z[1] * v1[1] + z[2] * v1[2])


@kernel("void(f8[:,:,::1], f8[:,::1], f8[::1], f8[:,:,::1])")
def twist_forces(t, lengths, moment, forces):  # type: ignore[no-untyped-def]
    """Write −M ∇m on the nodes of bends, (b, 4, 3) [N].

    t, lengths: from `link_directions`. moment: M of each bend's strand, (b,) [N m].
    """
    for s in range(t.shape[0]):
        c = t[s, 0, 0] * t[s, 1, 0] + t[s, 0, 1] * t[s, 1, 1] + t[s, 0, 2] * t[s, 1, 2]
        for a in range(3):
            i, j = (a + 1) % 3, (a + 2) % 3
            kb = 2.0 * (t[s, 0, i] * t[s, 1, j] - t[s, 0, j] * t[s, 1, i]) / max(1.0 + c, FOLDED)
            first, second = 0.5 * moment[s] * kb / lengths[s, 0], 0.5 * moment[s] * kb / lengths[s, 1]
            forces[s, 0, a], forces[s, 1, a], forces[s, 2, a] = first, second - first, -second
            forces[s, 3, a] = 0.0


@kernel("void(f8[:,:,::1], f8[:,::1], f8[::1], f8[:,:,::1])")
def twist_blocks(t, lengths, moment, blocks):  # type: ignore[no-untyped-def]
    """Write the blocks of K = −M ∇²m of bends, (b, 6, 9) [N/m].

    t, lengths: from `link_directions`. moment: M of each bend's strand, (b,) [N m].
    """
    tilde, kb = np.empty(3), np.empty(3)
    for s in range(t.shape[0]):
        c = t[s, 0, 0] * t[s, 1, 0] + t[s, 0, 1] * t[s, 1, 1] + t[s, 0, 2] * t[s, 1, 2]
        chi = max(1.0 + c, FOLDED)
        for a in range(3):
            i, j = (a + 1) % 3, (a + 2) % 3
            kb[a] = 2.0 * (t[s, 0, i] * t[s, 1, j] - t[s, 0, j] * t[s, 1, i]) / chi
            tilde[a] = (t[s, 0, a] + t[s, 1, a]) / chi
        for a in range(6):
            for b in range(9):
                blocks[s, a, b] = 0.0
        l0, l1 = lengths[s, 0], lengths[s, 1]
        for a in range(3):
            for b in range(3):
                first = -(kb[a] * (t[s, 0, b] + tilde[b]) + (t[s, 0, a] + tilde[a]) * kb[b]) / (4.0 * l0 * l0)
                second = -(kb[a] * (t[s, 1, b] + tilde[b]) + (t[s, 1, a] + tilde[a]) * kb[b]) / (4.0 * l1 * l1)
                # [t₀]× has −t_k, t_j off its diagonal
                cross = 0.0
                if b == (a + 1) % 3:
                    cross = -t[s, 0, (a + 2) % 3]
                elif b == (a + 2) % 3:
                    cross = t[s, 0, (a + 1) % 3]
                # of e₀ (rows) with e₁ (columns)
                mixed = (2.0 / chi * cross - kb[a] * tilde[b]) / (2.0 * l0 * l1)
                blocks[s, 1, 3 * b + a] += moment[s] * mixed * -1.0
                # pair (1, 0): x₁ is +e₀ − e₁, x₀ is −e₀; (2, 0): x₂ is +e₁; (2, 1)
                blocks[s, 0, 3 * a + b] += moment[s] * first
                blocks[s, 0, 3 * b + a] -= moment[s] * mixed
                blocks[s, 2, 3 * b + a] -= moment[s] * mixed
                blocks[s, 2, 3 * a + b] += moment[s] * second
                blocks[s, 1, 3 * b + a] += 2.0 * moment[s] * mixed
