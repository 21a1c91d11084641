"""Improvement of triangles at features that are too short or too thin: the preprocessing loop of section 2.6.1.

A split whose new vertex would be collapsed in the next round is done at once, as a flip if that makes equal triangles.
"""

from __future__ import annotations

from math import dist, tan

import numpy as np

from ..state import Index
from .insertion import Conforming
from .joining import slip
from .mending_kernels import find_thin_at_features
from .sheet_mesh import LAST, NEXT
from .working import Outcome

OBTUSE = float(np.cos(np.deg2rad(115.0)))  #: cos: a thin triangle with a wider angle is a cap, else a needle
THINNEST = float(np.tan(np.deg2rad(2.5)))  #: tan of the smallest angle after a collapse, if there is no better one
AT_END = 0.5  #: of the limit angle: least angle of a triangle at the end of the step


def mend(now: Conforming) -> bool:
    """Collapse short edges and improve thin triangles at features until nothing changes; return whether anything did.
    [Thesis 2.6.1]"""
    tried, done = dict[tuple[int, ...], int](), False
    for _ in range(now.limits.rounds):
        changed = False
        for face in find_thin_faces(now).tolist():
            corners = now.working.faces[face]
            if corners[0] < 0 or now.spares(*corners.tolist()):
                continue
            key = tuple(sorted(corners.tolist()))
            tried[key] = tried.get(key, 0) + 1
            if tried[key] <= 3:
                changed |= _collapse_short(now, face) or _unfold(now, face) or _mend(now, face)
        done |= changed or bool(now.carried_over)
        now.pay()
        if not changed:
            break
    return done


def find_thin_faces(now: Conforming) -> Index:
    """Return the faces at features with a short edge or a small angle, now or at the end of the step, (k,)."""
    working, limits = now.working, now.limits
    rows: Index = np.empty(int(working.counts[1]), np.int32)
    count = find_thin_at_features(working.arrays, now.runs.points, now.h, limits.shortest, float(np.tan(limits.ill)),
                                  float(np.tan(AT_END * limits.ill)), rows)
    return rows[:count]


def _lengths(X: list[list[float]]) -> list[float]:
    """Return the lengths of the edges opposite to the corners of a triangle X, (3, 2) [m], (3,) [m]."""
    return [dist(X[NEXT[k]], X[LAST[k]]) for k in range(3)]


def _sharpness(X: list[list[float]]) -> float:
    """Return tan of the smallest angle of a triangle X, (3, 2) [m], negative if the triangle is inverted."""
    least, middle, most = sorted(length * length for length in _lengths(X))
    (ax, ay), (bx, by), (cx, cy) = X
    twice = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return 2.0 * twice / max(middle + most - least, 1e-300)


def _collapse_short(now: Conforming, face: int) -> bool:
    """Collapse the shortest edge of a face if it is below the limit; return whether it was collapsed."""
    working = now.working
    corners = working.faces[face]
    lengths = _lengths(working.material[corners].tolist())
    k = lengths.index(min(lengths))
    if lengths[k] >= now.limits.shortest:
        return False
    return _collapse(now, int(corners[(k + 1) % 3]), int(corners[(k + 2) % 3]))


def _collapse(now: Conforming, a: int, b: int) -> bool:
    """Collapse an edge towards the end that remains, on a feature, on the border or required; return whether it was."""
    working = now.working

    def rank(i: int) -> tuple[bool, bool, bool, int]:
        on = int(working.on[i])
        return bool(working.required[i]), 0 <= on < now.runs.points, working.on_border(i) or on >= 0, -i

    removed, into = (a, b) if rank(a) < rank(b) else (b, a)
    for vertex, other in ((removed, into), (into, removed)):
        # towards the vertex on the feature, always
        if not working.on[vertex] >= 0 > working.on[other] and _collapse_any(now, vertex, [other]):
            now.new.pop(vertex, None)
            return True
    return False


def _collapse_any(now: Conforming, removed: int, ends: list[int]) -> bool:
    """Collapse a vertex onto the first admissible of `ends`, at worse triangles if necessary; return whether it was."""
    working = now.working
    for thinnest in (working.thinnest, THINNEST):
        usual, working.thinnest = working.thinnest, thinnest
        done = any(working.collapse(removed, end) is Outcome.DONE for end in ends)
        working.thinnest = usual
        if done:
            return True
    return False


def _unfold(now: Conforming, face: int) -> bool:
    """Remove a face whose vertices are all on one run, without area in the world; return whether it was such a face.

    The long edge is flipped, or the vertex between the others is collapsed or leaves the run.
    """
    working, runs = now.working, now.runs
    corners = working.faces[face].copy()
    on = working.on[corners].tolist()
    run = max(on) - runs.points
    if run < 0 or min(on) < 0 or not all(feature == runs.points + run or feature in runs.ends[run] for feature in on):
        return False
    a, middle, b = corners[np.argsort(runs.along(run, working.x[corners]))].tolist()
    if slip(now, a, b):
        return True
    if working.on[middle] < runs.points:
        return False
    if any(working.collapse(middle, end) is Outcome.DONE for end in (a, b)):
        now.new.pop(middle, None)
    else:
        now.release(middle)
    return True


def _mend(now: Conforming, face: int) -> bool:
    """Replace a thin triangle by better ones; return whether anything changed."""
    working = now.working
    corners = working.faces[face].copy()
    X = working.material[corners].tolist()
    later = (working.material[corners] + now.h * working.slide[corners]).tolist()
    sharpness = _sharpness(X)
    # at the end of the step, if that is worse
    if _sharpness(later) < min(sharpness, tan(AT_END * now.limits.ill)):
        X = later
    elif sharpness >= tan(now.limits.ill):
        return False
    lengths = _lengths(X)
    k = lengths.index(max(lengths))
    apex, a, b = int(corners[k]), int(corners[(k + 1) % 3]), int(corners[(k + 2) % 3])
    (x, y), (ax, ay), (bx, by) = X[k], X[(k + 1) % 3], X[(k + 2) % 3]
    if (ax - x) * (bx - x) + (ay - y) * (by - y) < OBTUSE * lengths[(k + 1) % 3] * lengths[(k + 2) % 3]:
        return _mend_cap(now, apex, a, b)
    k = lengths.index(min(lengths))
    return _mend_needle(now, int(corners[k]), int(corners[(k + 1) % 3]), int(corners[(k + 2) % 3]))


def _mend_cap(now: Conforming, apex: int, a: int, b: int) -> bool:
    """Improve a cap, a triangle whose apex is close to the opposite edge a b; return whether anything changed."""
    working = now.working
    if working.conformal(a, b):
        if working.on[apex] >= 0:
            # all three on one run: the long edge only doubles the two others
            return working.conformal(a, apex) and working.conformal(apex, b) and slip(now, a, b)
        if working.required[apex] or working.on_border(apex):
            return False
        return _split_and_collapse(now, apex, a, b, into_new=True) or _collapse_onto(now, apex, a, b)
    if working.flip(a, b) is Outcome.DONE:
        return True
    if working.faces_of(a, b)[1] < 0:
        # a vertex so near to the border cannot slide
        released = working.on[apex] >= 0
        if released:
            now.release(apex)
        return _collapse_onto(now, apex, a, b) or released
    if working.on[apex] < 0 and _collapse_onto(now, apex, a, b):
        return True
    return working.on[apex] >= 0 and _split_and_collapse(now, apex, a, b, into_new=False)


def _collapse_onto(now: Conforming, apex: int, a: int, b: int) -> bool:
    """Collapse a Lagrangian apex onto vertex a or b, the nearer one first; return whether it was collapsed."""
    X = now.working.material
    return _collapse_any(now, apex, sorted((a, b), key=lambda end: float(np.linalg.norm(X[end] - X[apex]))))


def _split_and_collapse(now: Conforming, apex: int, a: int, b: int, into_new: bool) -> bool:
    """Split the edge a b at the foot of the apex and collapse the short new edge; return whether it was split."""
    working, X = now.working, now.working.material
    edge_vector = X[b] - X[a]
    length = float(np.linalg.norm(edge_vector))
    fraction = float((X[apex] - X[a]) @ edge_vector) / length**2
    if not now.limits.shortest < fraction * length < length - now.limits.shortest:
        return False
    run = int(working.on[a] if working.on[a] >= now.runs.points else working.on[b]) - now.runs.points
    conformal = working.conformal(a, b)
    vertex = working.split_edge(a, b, fraction)
    if conformal:
        if run < 0:
            run = int(working.on[vertex]) - now.runs.points
        working.x[vertex] = now.runs.nearest(run, working.x[vertex][None])[2][0]
    if into_new:
        working.collapse(apex, vertex)
    else:
        working.collapse(vertex, apex)
    return True


def _mend_needle(now: Conforming, apex: int, a: int, b: int) -> bool:
    """Improve a needle, a triangle whose edge a b is much shorter than the others; return whether anything changed."""
    working = now.working
    if _collapse(now, a, b):
        return True
    # a flip of one of the long edges may remove it
    for end in (a, b):
        if not working.conformal(apex, end) and working.flip(apex, end) is Outcome.DONE:
            return True
    return False

