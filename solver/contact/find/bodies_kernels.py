"""Kernels of rigid contacts: near pairs of shapes, their contacts, contacts with the ground, and constraint rows."""

from __future__ import annotations

import numpy as np

from ...threads import kernel
from .convex_kernels import PLACED
from .pair_kernels import MANY, collide_polyhedra, collide_thin, reduce_contacts


@kernel("void(i4[::1], f8[:,::1], f8[::1], f8[::1], f8[:,::1])")
def boxes_around(point_start, x, radius, slack, out):  # type: ignore[no-untyped-def]
    """Write the box of each shape, lower and upper corner, to `out`, (s, 6) [m].

    point_start: first point of each shape, (s + 1,). x: points, (P, 3) [m]. radius, slack: by which a shape's box is
    grown, (s,) [m].
    """
    for s in range(out.shape[0]):
        grown = radius[s] + slack[s]
        for a in range(3):
            low, high = np.inf, -np.inf
            for p in range(point_start[s], point_start[s + 1]):
                low, high = min(low, x[p, a]), max(high, x[p, a])
            out[s, a], out[s, 3 + a] = low - grown, high + grown


@kernel("i8(f8[:,::1], i8[::1], i4[::1], i4[::1], i4[::1], b1[::1], i4[::1], i4[:,::1], i4[:,::1])")
def find_overlapping_pairs(box, order, body, link, mechanism, touches_itself, parent, excluded, out):  # type: ignore[no-untyped-def]
    """Write pairs of shapes that may touch and whose boxes overlap to `out`, (k, 2); return their number.

    Pairs beyond the room of `out` are only counted; a moving shape is first. box: (s, 6) [m]. order: shapes by the
    lower x of their boxes, (s,). body: of each shape, (s,), −1 for an obstacle. link: number in the tree of each shape,
    (s,), also of an obstacle that is a body welded to the world, −1 for others. mechanism, parent: of each body.
    Neighbours in the tree and the pairs of `excluded`, (p, 2), never touch, nor do moving bodies of one mechanism
    without self-contact, touches_itself.
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
                # a moving shape first; of two, the one with the lower number
                out[count, 0], out[count, 1] = (s, t) if b < 0 or (a >= 0 and s < t) else (t, s)
            count += 1
    return count


@kernel(f"i8(i4[:,::1], f8[::1], f8[::1], {PLACED}, f8[:,::1], i4[:,::1], f8[:,::1])")
def pair_contacts(pairs, radius, slack, placed, box, shape, out):  # type: ignore[no-untyped-def]
    """Write the contacts of all pairs of shapes to `shape`, (k, 2), and `out`, (k, 7); return their number.

    Contacts beyond the room of the arrays are only counted. pairs: (p, 2). radius, slack: of each shape, (s,) [m].
    placed: see PLACED. box: (s, 6) [m]. out: point [m], unit normal towards the first shape, gap [m].
    """
    point_start, face_start = placed[0], placed[1]
    contacts = np.empty((MANY, 7))
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
            few = collide_polyhedra(s, t, margin, reach, placed, contacts)
        elif solid_s or (not solid_t and point_start[t + 1] - point_start[t] < point_start[s + 1] - point_start[s]):
            flipped = -1.0
            few = collide_thin(t, s, margin, radius[t], radius[s], placed, contacts)
        else:
            few = collide_thin(s, t, margin, radius[s], radius[t], placed, contacts)
        few = reduce_contacts(few, contacts)
        for i in range(few):
            if count < out.shape[0]:
                shape[count, 0], shape[count, 1] = s, t
                for a in range(7):
                    out[count, a] = contacts[i, a] * (flipped if 3 <= a < 6 else 1.0)
            count += 1
    return count


@kernel("i8(i4[::1], f8[:,::1], f8[::1], i4[::1], i4[::1], f8[::1], f8[:,::1], i4[:,::1], f8[:,::1])")
def ground_contacts(points, normals, gaps, owner, body, radius, x, shape, out):  # type: ignore[no-untyped-def]
    """Write at most FEW contacts of each shape with the ground, whose number is −1; return their number.

    points: that touch the ground, ascending, (k,). normals: (k, 3). gaps: (k,) [m]. owner: shape of each point, (P,).
    body: of each shape, −1 for an obstacle, which has no contact, (s,). radius: (s,) [m]. x: points, (P, 3) [m]. shape:
    (k, 2), output. out: point [m], normal, gap [m], (k, 7).
    """
    contacts = np.empty((MANY, 7))
    count = k = 0
    while k < points.shape[0]:
        s, few = owner[points[k]], 0
        while k < points.shape[0] and owner[points[k]] == s:
            if few == MANY:  # the deepest contact remains
                few = reduce_contacts(few, contacts)
            for a in range(3):
                contacts[few, a] = x[points[k], a] - (radius[s] + 0.5 * gaps[k]) * normals[k, a]
                contacts[few, 3 + a] = normals[k, a]
            contacts[few, 6] = gaps[k]
            few += 1
            k += 1
        few = reduce_contacts(few, contacts) if body[s] >= 0 else 0
        for i in range(few):
            shape[count, 0], shape[count, 1] = s, -1
            for a in range(7):
                out[count, a] = contacts[i, a]
            count += 1
    return count


@kernel("void(f8[:,:,::1], i4[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[::1])")
def contact_wrenches(E, body, point, normal, obstacle, out, target):  # type: ignore[no-untyped-def]
    """Write wrenches of unit forces at k contacts to `out`, (3 k, 2, 6), and target velocities, (3 k,) [m/s].

    First are the forces along the normals, then those along two perpendicular tangents of each contact; they act on the
    first body and oppositely on the second, in body frames. E: poses of bodies, (n, 4, 4). body: (k, 2), −1 for none.
    point: (k, 3) [m]. normal: unit, (k, 3). obstacle: velocities of the second side without a body, (k, 3) [m/s]; the
    targets are their components.
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
        # n × e with the axis e most perpendicular to n, then n × (n × e)
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
