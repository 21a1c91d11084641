"""Which shapes are near each other or the ground, and the rows of their contacts."""

from __future__ import annotations

import numpy as np

from ...threads import kernel
from .convex_kernels import PLACED
from .pair_kernels import MANY, keep_few, polyhedra, thin


@kernel("void(i4[::1], f8[:,::1], f8[::1], f8[::1], f8[:,::1])")
def boxes_around(point_start, x, radius, slack, out):  # type: ignore[no-untyped-def]
    """out (s, 6): lower and upper corner of each shape, grown by its slack."""
    for s in range(out.shape[0]):
        grown = radius[s] + slack[s]
        for a in range(3):
            low, high = np.inf, -np.inf
            for p in range(point_start[s], point_start[s + 1]):
                low, high = min(low, x[p, a]), max(high, x[p, a])
            out[s, a], out[s, 3 + a] = low - grown, high + grown


@kernel("i8(f8[:,::1], i8[::1], i4[::1], i4[::1], i4[::1], b1[::1], i4[::1], i4[:,::1], i4[:,::1])")
def near_pairs(box, order, body, link, mechanism, touches_itself, parent, excluded, out):  # type: ignore[no-untyped-def]
    """Pairs whose boxes overlap and that may touch, as far as out (k, 2) has room; returns how many there are.

    order: shapes by their boxes' lower x. body −1: an obstacle. link: number in the tree, also of an obstacle that is a
    body welded to the world, −1 of others. Neighbours in the tree and the pairs of `excluded` (p, 2) never touch, nor
    do moving bodies of one mechanism without self-contact.
    """
    count = 0
    for i in range(order.shape[0]):
        s = order[i]
        for j in range(i + 1, order.shape[0]):
            t = order[j]
            if box[t, 0] > box[s, 3]:
                break
            if box[t, 1] > box[s, 4] or box[s, 1] > box[t, 4] or box[t, 2] > box[s, 5] or box[s, 2] > box[t, 5]:
                continue
            a, b = body[s], body[t]
            if a == b:
                continue
            if a >= 0 and b >= 0 and mechanism[a] == mechanism[b] and not touches_itself[mechanism[a]]:
                continue
            one, other = link[s], link[t]
            if one >= 0 and other >= 0:
                if parent[one] == other or parent[other] == one:
                    continue
                is_excluded = False
                for k in range(excluded.shape[0]):
                    a, b = excluded[k, 0], excluded[k, 1]
                    if (a == one and b == other) or (a == other and b == one):
                        is_excluded = True
                        break
                if is_excluded:
                    continue
            if count < out.shape[0]:
                # the mover first; of two, the one that stands first
                out[count, 0], out[count, 1] = (s, t) if b < 0 or (a >= 0 and s < t) else (t, s)
            count += 1
    return count


@kernel(f"i8(i4[:,::1], f8[::1], f8[::1], {PLACED}, f8[:,::1], i4[:,::1], f8[:,::1])")
def pair_contacts(pairs, radius, slack, placed, box, shape, out):  # type: ignore[no-untyped-def]
    """Contacts of all pairs, as far as shape (k, 2) and out (k, 7) have room; returns how many.

    out: point, normal that points to the pair's first, gap.
    """
    point_start, face_start = placed[0], placed[1]
    found = np.empty((MANY, 7))
    count = 0
    for k in range(pairs.shape[0]):
        s, t = pairs[k, 0], pairs[k, 1]
        margin = slack[s] + slack[t]
        solid_s, solid_t = face_start[s + 1] > face_start[s], face_start[t + 1] > face_start[t]
        flipped = 1.0
        if solid_s and solid_t:
            reach = 0.0
            for a in range(3):
                reach = max(reach, min(box[s, 3 + a] - box[s, a], box[t, 3 + a] - box[t, a]))
            few = polyhedra(s, t, margin, reach, placed, found)
        elif solid_s or (not solid_t and point_start[t + 1] - point_start[t] < point_start[s + 1] - point_start[s]):
            flipped = -1.0
            few = thin(t, s, margin, radius[t], radius[s], placed, found)
        else:
            few = thin(s, t, margin, radius[s], radius[t], placed, found)
        few = keep_few(few, found)
        for i in range(few):
            if count < out.shape[0]:
                shape[count, 0], shape[count, 1] = s, t
                for a in range(7):
                    out[count, a] = found[i, a] * (flipped if 3 <= a < 6 else 1.0)
            count += 1
    return count


@kernel("i8(i4[::1], f8[:,::1], f8[::1], i4[::1], i4[::1], f8[::1], f8[:,::1], i4[:,::1], f8[:,::1])")
def ground_contacts(points, normals, gaps, owner, body, radius, x, shape, out):  # type: ignore[no-untyped-def]
    """A few of each body's points (k,) that touch the ground, as above, with room for all; the ground is shape −1."""
    found = np.empty((MANY, 7))
    count = k = 0
    while k < points.shape[0]:
        s, few = owner[points[k]], 0
        while k < points.shape[0] and owner[points[k]] == s:
            if few == MANY:  # the deepest stays
                few = keep_few(few, found)
            for a in range(3):
                found[few, a] = x[points[k], a] - (radius[s] + 0.5 * gaps[k]) * normals[k, a]
                found[few, 3 + a] = normals[k, a]
            found[few, 6] = gaps[k]
            few += 1
            k += 1
        few = keep_few(few, found) if body[s] >= 0 else 0
        for i in range(few):
            shape[count, 0], shape[count, 1] = s, -1
            for a in range(7):
                out[count, a] = found[i, a]
            count += 1
    return count


@kernel("void(f8[:,:,::1], i4[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[::1])")
def contact_wrenches(E, body, point, normal, obstacle, out, target):  # type: ignore[no-untyped-def]
    """out (3 k, 2, 6): forces along the k normals and then along two tangents of each, at right angles to each other,
    on a contact's first body and back on its second. target (3 k,): what the rows make of `obstacle` (k, 3).
    """
    k = body.shape[0]
    axes = np.empty((3, 3))
    for i in range(k):
        least = 0
        for a in range(3):
            axes[0, a] = normal[i, a]
            axes[1, a] = 0.0
            if abs(normal[i, a]) < abs(normal[i, least]):
                least = a
        # n × e along the axis e that it is farthest from, then n × that
        second, third = (least + 1) % 3, (least + 2) % 3
        size = np.sqrt(normal[i, second] * normal[i, second] + normal[i, third] * normal[i, third])
        axes[1, second], axes[1, third] = normal[i, third] / size, -normal[i, second] / size
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            axes[2, a] = axes[0, b] * axes[1, c] - axes[0, c] * axes[1, b]
        for row in range(3):
            to = i if row == 0 else k + 2 * i + row - 1
            f0, f1, f2 = axes[row, 0], axes[row, 1], axes[row, 2]
            target[to] = f0 * obstacle[i, 0] + f1 * obstacle[i, 1] + f2 * obstacle[i, 2]
            for side in range(2):
                w = out[to, side]
                b = body[i, side]
                for a in range(6):
                    w[a] = 0.0
                if b < 0:
                    continue
                F = E[b]
                sign = 1.0 if side == 0 else -1.0
                r0, r1, r2 = point[i, 0] - F[0, 3], point[i, 1] - F[1, 3], point[i, 2] - F[2, 3]
                t0, t1, t2 = r1 * f2 - r2 * f1, r2 * f0 - r0 * f2, r0 * f1 - r1 * f0
                for a in range(3):
                    w[a] = sign * (F[0, a] * t0 + F[1, a] * t1 + F[2, a] * t2)
                    w[3 + a] = sign * (F[0, a] * f0 + F[1, a] * f1 + F[2, a] * f2)
