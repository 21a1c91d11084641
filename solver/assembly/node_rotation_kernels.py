"""Kernels of the rotations of nodes."""

from __future__ import annotations

import math

from ..threads import kernel

ROUNDS = 6  #: of the search for a frame, from the last one on
ENOUGH = 1.0e-3  #: angle by which a round may still turn it [rad]
THIN = 1.0e-9  #: of what the frame's axes have in common with the surroundings


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1], f8[:,:,::1])")
def spread_frames(x, pairs, along, spread):  # type: ignore[no-untyped-def]
    """Write A = Σ d Dᵀ / |D|² over the edges of each node to `spread`, (n, 3, 3), d edges at positions x (n, 3) and D
    at rest.

    pairs: nodes of edges, (k, 2). along: D / |D|², (k, 3).
    """
    spread[:] = 0.0
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        for r in range(3):
            d = x[i, r] - x[j, r]
            for c in range(3):
                entry = d * along[k, c]
                spread[i, r, c] += entry
                spread[j, r, c] += entry


@kernel("void(i8, i8, f8[:,:,::1], f8[:,:,::1])")
def follow_frames(start, stop, spread, frames):  # type: ignore[no-untyped-def]
    """Turn frames R of nodes start to stop to where tr(Rᵀ A) is largest: by ω = Σ r × a / |Σ r · a|, axes r of R and a
    of A, until ω is small. spread: A of each node, (n, 3, 3). [Müller 2016]"""
    for n in range(start, stop):
        a, f = spread[n], frames[n]
        for _ in range(ROUNDS):
            x, y, z, common = 0.0, 0.0, 0.0, 0.0
            for c in range(3):
                x += f[1, c] * a[2, c] - f[2, c] * a[1, c]
                y += f[2, c] * a[0, c] - f[0, c] * a[2, c]
                z += f[0, c] * a[1, c] - f[1, c] * a[0, c]
                common += f[0, c] * a[0, c] + f[1, c] * a[1, c] + f[2, c] * a[2, c]
            scale = 1.0 / (abs(common) + THIN)
            x, y, z = scale * x, scale * y, scale * z
            angle = math.sqrt(x * x + y * y + z * z)
            if angle < ENOUGH:
                break
            sine, rest = math.sin(angle) / angle, (1.0 - math.cos(angle)) / (angle * angle)
            for c in range(3):
                p, q, r = f[0, c], f[1, c], f[2, c]
                along = rest * (x * p + y * q + z * r)
                cosine = math.cos(angle)
                f[0, c] = cosine * p + sine * (y * r - z * q) + along * x
                f[1, c] = cosine * q + sine * (z * p - x * r) + along * y
                f[2, c] = cosine * r + sine * (x * q - y * p) + along * z


@kernel("void(f8[:,:,::1], i4[::1], f8[::1], b1, f8[::1])")
def rotate(frames, order, vectors, is_back, out):  # type: ignore[no-untyped-def]
    """Write each node's vector rotated by its frame, or by the inverse if `is_back`. vectors, out: (3 p,), of nodes
    `order`, (p,)."""
    for k in range(order.shape[0]):
        f = frames[order[k]]
        a, b, c = vectors[3 * k], vectors[3 * k + 1], vectors[3 * k + 2]
        for r in range(3):
            if is_back:
                out[3 * k + r] = f[0, r] * a + f[1, r] * b + f[2, r] * c
            else:
                out[3 * k + r] = f[r, 0] * a + f[r, 1] * b + f[r, 2] * c
