"""Sweeps over a sheet's edges that collapse edges too short in the metric, where no other edge becomes too long."""

from __future__ import annotations

import numpy as np

from ..threads import inline, kernel
from .adapt_kernels import TINY, edges_between, flip_to_delaunay, length2
from .mesh_kernels import FACES, MESH, VERTICES, WIDEST, corner_of, feature_of, ring, sharpness_of
from .operations_kernels import DONE, collapse, may_collapse
from .sizing_kernels import is_other, measure_vertex

POOR = 0.1763  #: tan of 10 degrees: new edges may be longer to remove a face with a smaller angle
HUGE = 2.0  #: longest edges after the collapse of one shorter than TINY, which are split again
STRETCH_INCREASE = 0.05  #: increase of the relative stretch of a new edge over those that it replaces, at most


@inline
def shares_face(mesh, around, removed, into, other):  # type: ignore[no-untyped-def]
    """Return whether one of the faces `around` the vertex `removed` has the vertices `into` and `other`."""
    faces = mesh[7]
    for f in around:
        k = corner_of(faces, f, removed)
        p, q = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        if (p == into and q == other) or (p == other and q == into):
            return True
    return False


@inline
def spread(mesh, f, removed, into):  # type: ignore[no-untyped-def]
    """Return the squared length of the longest new edge of a face when `removed` is moved onto `into`.

    The length is the larger of that in the mean metric of the edge's ends and that in the metric of `removed`, so that
    bends at `removed` are resolved.
    """
    X, metric, faces = mesh[1], mesh[4], mesh[7]
    k, longest = corner_of(faces, f, removed), 0.0
    for i in range(1, 3):
        p = faces[f, (k + i) % 3]
        if p != into:
            u0, u1 = X[p, 0] - X[into, 0], X[p, 1] - X[into, 1]
            longest = max(longest, length2(mesh, into, p), u0 * u0 * metric[removed, 0]
                          + 2.0 * u0 * u1 * metric[removed, 1] + u1 * u1 * metric[removed, 2])
    return longest


@kernel(f"f8({MESH}, i8, i8, f8)")
def longest_after(mesh, removed, into, enough):  # type: ignore[no-untyped-def]
    """Return the squared length in the metric of the longest new edge of a collapse, or of the first above `enough`."""
    faces, across, at = mesh[7], mesh[8], mesh[9]
    longest, f = 0.0, at[removed]
    for _ in range(WIDEST):
        longest = max(longest, spread(mesh, f, removed, into))
        f = across[f, (corner_of(faces, f, removed) + 1) % 3]
        if f < 0 or f == at[removed] or longest > enough:
            break
    if f >= 0:
        return longest
    f = at[removed]
    for _ in range(WIDEST):
        longest = max(longest, spread(mesh, f, removed, into))
        f = across[f, (corner_of(faces, f, removed) + 2) % 3]
        if f < 0 or longest > enough:
            break
    return longest


@kernel(f"b1({MESH}, i8)")
def is_thin(mesh, vertex):  # type: ignore[no-untyped-def]
    """Return whether a face at a vertex has too small an angle; at the border only faces on one side are tested."""
    faces, across, at = mesh[7], mesh[8], mesh[9]
    f = at[vertex]
    for _ in range(WIDEST):
        if sharpness_of(mesh, faces[f, 0], faces[f, 1], faces[f, 2]) < POOR:
            return True
        f = across[f, (corner_of(faces, f, vertex) + 1) % 3]
        if f < 0 or f == at[vertex]:
            break
    return False


@inline
def relative_stretch(mesh, a, b):  # type: ignore[no-untyped-def]
    """Return the absolute relative stretch of the edge a b, in the world relative to material space."""
    x, X = mesh[0], mesh[1]
    length = np.sqrt((x[b, 0] - x[a, 0]) ** 2 + (x[b, 1] - x[a, 1]) ** 2 + (x[b, 2] - x[a, 2]) ** 2)
    return abs(length / np.sqrt((X[b, 0] - X[a, 0]) ** 2 + (X[b, 1] - X[a, 1]) ** 2) - 1.0)


@kernel(f"f8({MESH}, i8, i8, f8)")
def limit_after(mesh, removed, into, longest):  # type: ignore[no-untyped-def]
    """Return the squared admissible length in the metric of the new edges of a collapse of `removed` onto `into`.

    As a rule that of `longest`; 0 where a new edge would be conformal or would be stretched too much, as across a
    pleat, or where `removed` is on an edge feature without neighbours on it in both directions.
    """
    on, faces = mesh[5], mesh[7]
    around = np.empty(WIDEST, np.int32)
    signed = ring(mesh, removed, around)
    count = abs(signed)
    along, worst, least = 0, 1e300, 1e300
    for i in range(count + (1 if signed < 0 else 0)):
        f = around[min(i, count - 1)]
        k = corner_of(faces, f, removed)
        p, q = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        if i < count:
            worst = min(worst, sharpness_of(mesh, removed, p, q))
            if p != into and q != into:
                least = min(least, sharpness_of(mesh, into, p, q))
        else:
            p = q
        if on[removed] >= 0 and feature_of(mesh, removed, p) >= 0:
            along += 1
        if p == into or shares_face(mesh, around[:count], removed, into, p):
            continue
        if on[removed] < 0 and feature_of(mesh, into, p) >= 0:
            return 0.0
        # the cloth would be compressed or stretched by too much at once
        if relative_stretch(mesh, into, p) > STRETCH_INCREASE + max(relative_stretch(mesh, removed, p),
                                                                relative_stretch(mesh, removed, into)):
            return 0.0
    if on[removed] >= 0 and along < 2:
        return 0.0
    if length2(mesh, removed, into) < TINY * TINY:
        return HUGE * HUGE
    return 1.0 if worst < POOR and least > worst else longest * longest


@kernel(f"f8({MESH}, i4[::1], i8)")
def longest_of(mesh, vertices, only):  # type: ignore[no-untyped-def]
    """Return the squared length in the metric of the longest edge at some vertices, only at vertex `only` if not −1."""
    faces = mesh[7]
    around, longest = np.empty(WIDEST, np.int32), 0.0
    for vertex in vertices:
        if only >= 0 and vertex != only:
            continue
        for f in around[:abs(ring(mesh, vertex, around))]:
            k = corner_of(faces, f, vertex)
            longest = max(longest, length2(mesh, vertex, faces[f, (k + 1) % 3]),
                          length2(mesh, vertex, faces[f, (k + 2) % 3]))
    return longest


@kernel(f"b1({MESH}, i8, i8, f8, f8[:,::1])")
def try_collapse(mesh, removed, into, limit, limits):  # type: ignore[no-untyped-def]
    """Collapse `removed` onto `into`, measure the metric again, and undo the collapse if edges become too long.

    Edges of `into` are too long above the root of `limit`, other edges nearby above 1 and their earlier maximum.
    Returns whether the collapse remains. limits: as in `measure_sizing`.
    """
    metric, faces, across, at = mesh[4], mesh[7], mesh[8], mesh[9]
    around, near = np.empty(WIDEST, np.int32), np.empty(WIDEST, np.int32)
    signed = ring(mesh, removed, around)
    count = abs(signed)
    # rows that a collapse writes: the faces around, and those beyond the two removed faces
    rows, many = np.empty(WIDEST + 2, np.int32), count
    rows[:count] = around[:count]
    neighbours = 0
    for i in range(count + (1 if signed < 0 else 0)):
        f = around[min(i, count - 1)]
        k = corner_of(faces, f, removed)
        p, q = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        if i < count and (p == into or q == into) and across[f, k] >= 0:
            rows[many] = across[f, k]
            many += 1
        near[neighbours] = p if i < count else q
        neighbours += 1
    old_faces, old_across = np.empty((many, 3), np.int32), np.empty((many, 3), np.int32)
    old_at, old_metric = np.empty(neighbours, np.int32), np.empty((neighbours, 3))
    for i in range(many):
        for k in range(3):
            old_faces[i, k], old_across[i, k] = faces[rows[i], k], across[rows[i], k]
    for i in range(neighbours):
        old_at[i] = at[near[i]]
        for k in range(3):
            old_metric[i, k] = metric[near[i], k]
    of_removed, longest = at[removed], longest_of(mesh, near[:neighbours], -1)

    collapse(mesh, removed, into)
    for p in near[:neighbours]:
        measure_vertex(mesh, p, limits, metric[p])
    if (longest_of(mesh, near[:neighbours], into) < limit
            and longest_of(mesh, near[:neighbours], -1) < max(1.0, limit, longest)):
        return True
    for i in range(many):
        for k in range(3):
            faces[rows[i], k], across[rows[i], k] = old_faces[i, k], old_across[i, k]
    for i in range(neighbours):
        at[near[i]] = old_at[i]
        for k in range(3):
            metric[near[i], k] = old_metric[i, k]
    at[removed] = of_removed
    return False


@inline
def mark_around(mesh, vertex, marks, around):  # type: ignore[no-untyped-def]
    """Mark a vertex and all vertices that share a face with it in `marks`, (n,). around: scratch space, (WIDEST,)."""
    faces = mesh[7]
    marks[vertex] = True
    for f in around[:abs(ring(mesh, vertex, around))]:
        for k in range(3):
            marks[faces[f, k]] = True


@kernel(f"void({MESH}, b1[::1], b1[::1])")
def widen(mesh, marks, wider):  # type: ignore[no-untyped-def]
    """Write marked vertices, marks (n,), and all that share a face with a marked vertex to `wider`, (n,)."""
    faces, counts = mesh[7], mesh[10]
    for i in range(counts[VERTICES]):
        wider[i] = marks[i]
    for f in range(counts[FACES]):
        if faces[f, 0] >= 0 and (marks[faces[f, 0]] or marks[faces[f, 1]] or marks[faces[f, 2]]):
            wider[faces[f, 0]] = wider[faces[f, 1]] = wider[faces[f, 2]] = True


@kernel(f"void({MESH}, i4[:,::1], f8[:,::1], b1[::1])")
def mark_stale(mesh, known, metric_then, stale):  # type: ignore[no-untyped-def]
    """Mark vertices whose collapses must be tested again: whether one is admissible depends on two rings of faces.

    known, metric_then: corners and neighbours of faces, (m, 6), and metric of vertices, (n, 3), at the last test,
    updated. stale: (n,), output.
    """
    metric, faces, across, at, counts = mesh[4], mesh[7], mesh[8], mesh[9], mesh[10]
    n = counts[VERTICES]
    marks = np.zeros(n, np.bool_)
    for f in range(counts[FACES]):
        if is_other(faces, across, f, known):
            for k in range(3):
                if known[f, k] >= 0:
                    marks[known[f, k]] = True
                if faces[f, k] >= 0:
                    marks[faces[f, k]] = True
                known[f, k], known[f, 3 + k] = faces[f, k], across[f, k]
    for i in range(n):
        for k in range(3):
            if at[i] >= 0 and metric[i, k] != metric_then[i, k]:
                marks[i] = True
            metric_then[i, k] = metric[i, k]
    widen(mesh, marks, stale)
    marks[:] = stale
    widen(mesh, marks, stale)


@kernel(f"i8({MESH}, i8[:,::1], f8, f8[:,::1], f8, f8, b1[::1])")
def collapse_short(mesh, ends, usual, limits, straight, thinnest, stale):  # type: ignore[no-untyped-def]
    """Collapse short edges where no new edge is longer in the metric than `usual`; return the number of collapses.

    An edge shorter than a half permits slightly longer ones. ends: of the edges, the shortest first, (e, 2). limits: as
    in `measure_sizing`. straight, thinnest: as in `may_collapse`. stale: vertices that must be tested again, (n,).
    """
    faces, at, done = mesh[7], mesh[9], 0
    partly = not stale[: mesh[10][VERTICES]].all()
    around, beyond, near = np.empty(WIDEST, np.int32), np.empty(WIDEST, np.int32), np.empty(2 * WIDEST, np.int32)
    for e in range(ends.shape[0]):
        for side in range(2):
            removed, into = ends[e, side], ends[e, 1 - side]
            if at[removed] < 0 or at[into] < 0:
                break
            if not stale[removed]:
                continue
            now = length2(mesh, removed, into)
            # half of an edge that was split is no shorter than a half
            target = usual if now > 0.25 else 0.75 + 0.25 * usual
            enough = HUGE * HUGE if now < TINY * TINY else 1.0
            longest = longest_after(mesh, removed, into, enough)
            if longest > enough or (enough == 1.0 and longest > target * target and not is_thin(mesh, removed)):
                continue
            if may_collapse(mesh, removed, into, straight, thinnest) != DONE:
                continue
            limit = limit_after(mesh, removed, into, target)
            if longest >= limit:
                continue
            count = 0
            for f in around[:abs(ring(mesh, removed, around))]:
                k = corner_of(faces, f, removed)
                near[count], near[count + 1] = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
                count += 2
            if not try_collapse(mesh, removed, into, limit, limits):
                continue
            done += 1
            if partly:
                for p in near[:count]:
                    for f in around[:abs(ring(mesh, p, around))]:
                        for k in range(3):
                            mark_around(mesh, faces[f, k], stale, beyond)
            break
    return done


@kernel(f"UniTuple(i8, 2)({MESH}, f8, f8[:,::1], f8, f8, i4[:,::1], f8[:,::1], i8, i8)")
def collapse_all(mesh, usual, limits, straight, thinnest, known, metric_then, sweeps,  # type: ignore[no-untyped-def]
                 flip_sweeps):
    """Collapse all edges that are shorter in the metric than `usual`, in sweeps, each followed by flips.

    Returns the numbers of collapses and flips. Sweeps end when one collapses nothing, at most `sweeps`. known,
    metric_then: as in `mark_stale`. flip_sweeps: sweeps of flips after each. The other
    arguments are those of `collapse_short`.
    """
    faces, counts = mesh[7], mesh[10]
    edges, lengths = np.empty(3 * counts[FACES], np.int64), np.empty(3 * counts[FACES])
    collapses, flips, stale = 0, 0, np.empty(counts[VERTICES], np.bool_)
    for _ in range(sweeps):
        count = edges_between(mesh, 0.0, usual, edges, lengths)
        ends = np.empty((count, 2), np.int64)
        order = np.argsort(lengths[:count], kind="mergesort")
        for e in range(count):
            f, k = edges[order[e]] // 3, edges[order[e]] % 3
            ends[e, 0], ends[e, 1] = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        mark_stale(mesh, known, metric_then, stale)
        done = collapse_short(mesh, ends, usual, limits, straight, thinnest, stale)
        if done == 0:
            break
        collapses += done
        flips += flip_to_delaunay(mesh, thinnest, flip_sweeps)
    return collapses, flips
