"""Contacts of two convex shapes: a few points between them, with the separating direction."""

from __future__ import annotations

import numpy as np

from ...threads import kernel
from .convex_kernels import PLACED, is_of_edge, point_gap, segment_pair

FEW = 4  #: contacts of a pair at most
MANY = 64  #: contacts of a pair before the reduction, at most
EDGE_ODDS = 1.0e-3  #: relative to the shapes' extent: by which a direction of edges must be better than a face's


@kernel("i8(i8, f8[:,::1])")
def reduce_contacts(count, contacts):  # type: ignore[no-untyped-def]
    """Reduce the contacts of a pair to at most FEW, sorted to the front, and return their number.

    The contacts that remain are the deepest, the farthest from it, and on each side of the line between these two the
    contact that spans the largest area with them. count: number of contacts. contacts: point [m], normal and gap [m] of
    each, (MANY, 7).
    """
    if count <= FEW:
        return count
    for slot in range(FEW):
        best, worth = slot, -np.inf
        for k in range(slot, count):
            if slot == 0:
                value = -contacts[k, 6]
            elif slot == 1:
                value = 0.0
                for a in range(3):
                    value += (contacts[k, a] - contacts[0, a]) ** 2
            else:
                # area beside the line of the first two, one on each side
                d0, d1, d2 = (contacts[1, 0] - contacts[0, 0], contacts[1, 1] - contacts[0, 1],
                              contacts[1, 2] - contacts[0, 2])
                r0, r1, r2 = (contacts[k, 0] - contacts[0, 0], contacts[k, 1] - contacts[0, 1],
                              contacts[k, 2] - contacts[0, 2])
                value = (contacts[0, 3] * (d1 * r2 - d2 * r1) + contacts[0, 4] * (d2 * r0 - d0 * r2)
                         + contacts[0, 5] * (d0 * r1 - d1 * r0))
                value = value if slot == 2 else -value
            if value > worth:
                best, worth = k, value
        for a in range(7):
            contacts[slot, a], contacts[best, a] = contacts[best, a], contacts[slot, a]
    return FEW


@kernel(f"i8(i8, i8, f8, {PLACED}, f8[:,::1])")
def clip_faces(f, g, margin, placed, contacts):  # type: ignore[no-untyped-def]
    """Write contacts at the corners of face g clipped by the sides of face f; return their number.

    Corners with a gap to the plane of f below `margin` [m] are contacts. contacts: point [m], unit normal of f and gap
    [m] of each, (MANY, 7). placed: see PLACED.
    """
    _, _, corner_start, corners, _, _, x, planes = placed
    old, new = np.empty((MANY, 3)), np.empty((MANY, 3))
    count = 0
    for c in range(corner_start[g], corner_start[g + 1]):
        if count < MANY:
            for a in range(3):
                old[count, a] = x[corners[c], a]
            count += 1
    n = planes[f]
    last = corners[corner_start[f + 1] - 1]
    for c in range(corner_start[f], corner_start[f + 1]):
        k = corners[c]
        e0, e1, e2 = x[k, 0] - x[last, 0], x[k, 1] - x[last, 1], x[k, 2] - x[last, 2]
        # inward of this side
        s0, s1, s2 = n[1] * e2 - n[2] * e1, n[2] * e0 - n[0] * e2, n[0] * e1 - n[1] * e0
        at = s0 * x[k, 0] + s1 * x[k, 1] + s2 * x[k, 2]
        left = 0
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            p = s0 * old[i, 0] + s1 * old[i, 1] + s2 * old[i, 2] - at
            q = s0 * old[j, 0] + s1 * old[j, 1] + s2 * old[j, 2] - at
            if p >= 0.0 and left < MANY:
                for a in range(3):
                    new[left, a] = old[i, a]
                left += 1
            if (p < 0.0) != (q < 0.0) and left < MANY:
                fraction = p / (p - q)
                for a in range(3):
                    new[left, a] = old[i, a] + fraction * (old[j, a] - old[i, a])
                left += 1
        count = left
        for i in range(count):
            for a in range(3):
                old[i, a] = new[i, a]
        last = k
    written = 0
    for i in range(count):
        gap = n[0] * old[i, 0] + n[1] * old[i, 1] + n[2] * old[i, 2] - n[3]
        if gap < margin:
            for a in range(3):
                contacts[written, a] = old[i, a] - 0.5 * gap * n[a]
                contacts[written, 3 + a] = n[a]
            contacts[written, 6] = gap
            written += 1
    return written


@kernel(f"i8(i8, i8, f8, f8, {PLACED}, f8[:,::1])")
def collide_polyhedra(s, t, margin, reach, placed, contacts):  # type: ignore[no-untyped-def]
    """Write contacts of two polyhedra s and t along their best separating direction; return their number.

    Directions are the normals of faces and of pairs of edges. margin: largest gap of a contact [m]. reach: extent of
    the shapes [m]. placed: see PLACED. contacts: point [m], unit normal from t to s, gap [m] of each, (MANY, 7).
    """
    point_start, face_start, _, _, edges, edge_start, x, planes = placed
    largest, face, of_s = -np.inf, -1, True
    for side in range(2):
        own, other = (s, t) if side == 0 else (t, s)
        for f in range(face_start[own], face_start[own + 1]):
            low = np.inf
            for p in range(point_start[other], point_start[other + 1]):
                low = min(low, planes[f, 0] * x[p, 0] + planes[f, 1] * x[p, 1] + planes[f, 2] * x[p, 2])
            low -= planes[f, 3]
            if low > margin:
                return 0
            # a face of the second shape must be clearly better, so that the choice does not alternate
            if low > largest + (EDGE_ODDS * reach * 0.1 if side == 1 else 0.0):
                largest, face, of_s = low, f, side == 0

    best, edge_s, edge_t = largest + EDGE_ODDS * reach, -1, -1
    n0, n1, n2 = 0.0, 0.0, 0.0
    for i in range(edge_start[s], edge_start[s + 1]):
        a, b = planes[edges[i, 2]], planes[edges[i, 3]]
        p, q = edges[i, 0], edges[i, 1]
        e0, e1, e2 = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1], x[q, 2] - x[p, 2]
        u0, u1, u2 = b[1] * a[2] - b[2] * a[1], b[2] * a[0] - b[0] * a[2], b[0] * a[1] - b[1] * a[0]
        for j in range(edge_start[t], edge_start[t + 1]):
            c, d = planes[edges[j, 2]], planes[edges[j, 3]]
            # the arcs of the two edges' normals have to cross: c and d enter negated
            cu = -(c[0] * u0 + c[1] * u1 + c[2] * u2)
            du = -(d[0] * u0 + d[1] * u1 + d[2] * u2)
            if cu * du >= 0.0:
                continue
            v0, v1, v2 = d[1] * c[2] - d[2] * c[1], d[2] * c[0] - d[0] * c[2], d[0] * c[1] - d[1] * c[0]
            av = a[0] * v0 + a[1] * v1 + a[2] * v2
            bv = b[0] * v0 + b[1] * v1 + b[2] * v2
            if av * bv >= 0.0 or cu * bv <= 0.0:
                continue
            r, w = edges[j, 0], edges[j, 1]
            g0, g1, g2 = x[w, 0] - x[r, 0], x[w, 1] - x[r, 1], x[w, 2] - x[r, 2]
            m0, m1, m2 = e1 * g2 - e2 * g1, e2 * g0 - e0 * g2, e0 * g1 - e1 * g0
            size = m0 * m0 + m1 * m1 + m2 * m2
            if size < 1.0e-8 * (e0 * e0 + e1 * e1 + e2 * e2) * (g0 * g0 + g1 * g1 + g2 * g2):
                continue
            # outward of s: along its faces' normals
            size = np.sqrt(size)
            if m0 * (a[0] + b[0]) + m1 * (a[1] + b[1]) + m2 * (a[2] + b[2]) < 0.0:
                size = -size
            m0, m1, m2 = m0 / size, m1 / size, m2 / size
            gap = m0 * (x[r, 0] - x[p, 0]) + m1 * (x[r, 1] - x[p, 1]) + m2 * (x[r, 2] - x[p, 2])
            if gap > margin:
                return 0
            if gap > best:
                best, edge_s, edge_t, n0, n1, n2 = gap, i, j, m0, m1, m2

    if edge_s >= 0:
        pair = np.empty(8)
        segment_pair(x[edges[edge_s, 0]], x[edges[edge_s, 1]], x[edges[edge_t, 0]], x[edges[edge_t, 1]], pair)
        for k in range(3):
            contacts[0, k] = 0.5 * (pair[2 + k] + pair[5 + k])
        contacts[0, 3], contacts[0, 4], contacts[0, 5], contacts[0, 6] = -n0, -n1, -n2, best
        return 1

    # the face of the other shape whose normal is most opposed
    other = t if of_s else s
    against, low = -1, np.inf
    for g in range(face_start[other], face_start[other + 1]):
        along = planes[face, 0] * planes[g, 0] + planes[face, 1] * planes[g, 1] + planes[face, 2] * planes[g, 2]
        if along < low:
            against, low = g, along
    count = clip_faces(face, against, margin, placed, contacts)
    if of_s:
        for k in range(count):
            contacts[k, 3], contacts[k, 4], contacts[k, 5] = -contacts[k, 3], -contacts[k, 4], -contacts[k, 5]
    return count


@kernel(f"i8(i8, i8, f8, f8, f8, {PLACED}, f8[:,::1])")
def collide_thin(s, t, margin, radius_s, radius_t, placed, contacts):  # type: ignore[no-untyped-def]
    """Write contacts of s, a point or a segment with a radius, with shape t; return their number.

    Contacts are at the ends of s and where it passes over edges of t. margin: largest gap of a contact [m]. radius_s,
    radius_t: [m]. placed: see PLACED. contacts: point [m], unit normal from t to s, gap [m] of each, (MANY, 7).
    """
    point_start, _, _, _, edges, edge_start, x, planes = placed
    count = 0
    near, pair = np.empty(6), np.empty(8)
    for p in range(point_start[s], point_start[s + 1]):
        off = point_gap(x[p], t, placed, near)
        gap = off - radius_s - radius_t
        if gap < margin and count < MANY:
            for a in range(3):
                contacts[count, a] = near[a] + (radius_t + 0.5 * gap) * near[3 + a]
                contacts[count, 3 + a] = near[3 + a]
            contacts[count, 6] = gap
            count += 1
    for i in range(edge_start[s], edge_start[s + 1]):
        for j in range(edge_start[t], edge_start[t + 1]):
            segment_pair(x[edges[i, 0]], x[edges[i, 1]], x[edges[j, 0]], x[edges[j, 1]], pair)
            if pair[0] <= 0.0 or pair[0] >= 1.0 or count >= MANY:
                continue
            n0, n1, n2 = pair[2] - pair[5], pair[3] - pair[6], pair[4] - pair[7]
            off = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            gap = off - radius_s - radius_t
            if gap >= margin or off < 1.0e-12:
                continue
            near[0], near[1], near[2] = n0 / off, n1 / off, n2 / off
            if is_of_edge(near[:3], planes, edges[j]):
                for a in range(3):
                    contacts[count, a] = pair[5 + a] + (radius_t + 0.5 * gap) * near[a]
                    contacts[count, 3 + a] = near[a]
                contacts[count, 6] = gap
                count += 1
        if edge_start[t] == edge_start[t + 1]:  # a sphere beside a capsule
            q = point_start[t]
            segment_pair(x[q], x[q], x[edges[i, 0]], x[edges[i, 1]], pair)
            n0, n1, n2 = pair[5] - x[q, 0], pair[6] - x[q, 1], pair[7] - x[q, 2]
            off = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            gap = off - radius_s - radius_t
            if 0.0 < pair[1] < 1.0 and gap < margin and off > 1.0e-12 and count < MANY:
                contacts[count, 0], contacts[count, 3] = x[q, 0] + n0 / off * (radius_t + 0.5 * gap), n0 / off
                contacts[count, 1], contacts[count, 4] = x[q, 1] + n1 / off * (radius_t + 0.5 * gap), n1 / off
                contacts[count, 2], contacts[count, 5] = x[q, 2] + n2 / off * (radius_t + 0.5 * gap), n2 / off
                contacts[count, 6] = gap
                count += 1
    return count
