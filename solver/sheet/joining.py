"""Edges of the sheet along features: consecutive vertices on a run are joined, by flips or by more vertices."""

from __future__ import annotations

import numpy as np

from ..contact.find.sharp_kernels import RECEDES
from . import mesh_kernels as queries
from .insertion import Conforming
from .working import Outcome

MOST = 8  #: edges that are crossed from one vertex to the next, at most
LOOKAHEAD = 3  #: vertices on a run that may be of another layer of the cloth before the next of this one
STRETCH = 2.0  #: ratio of the lengths along the run and in the material, at most; beyond it the cloth leaves the run


def join(now: Conforming) -> list[tuple[int, int]]:
    """Join consecutive vertices on each run by edges; return the pairs of vertices that could not be joined."""
    left = []
    for run in _with_vertices(now):
        vertices, along = _on_run(now, run)
        for k in range(len(vertices) - 1):
            for j in range(k + 1, min(k + 1 + LOOKAHEAD, len(vertices))):
                a, b = vertices[k], vertices[j]
                if now.working.faces_of(a, b)[0] >= 0:
                    break
                if _is_along(now, a, b, along[j] - along[k]):
                    if not now.spares(a, b) and not _join(now, run, a, b):
                        left.append((a, b))
                    break
    return left


def _with_vertices(now: Conforming) -> list[int]:
    """Return the runs with a vertex on them, or with vertices on both their ends."""
    working, runs = now.working, now.runs
    on = working.on[:int(working.counts[0])][working.alive]
    has = np.zeros(runs.points + len(runs.ends) + 1, dtype=bool)  # the last is for missing ends
    has[on[on >= 0]] = True
    return [int(run) for run in (has[runs.points:-1] | has[runs.ends].all(axis=1)).nonzero()[0]]


def _on_run(now: Conforming, run: int) -> tuple[list[int], list[float]]:
    """Return the vertices on a run and its ends in their order along the run, and their arc lengths [m]."""
    working, runs = now.working, now.runs
    n = int(working.counts[0])
    on = np.where(working.alive, working.on[:n], -1)
    vertices = (on == runs.points + run).nonzero()[0]
    along = runs.along(run, working.x[vertices])
    length = runs.length_to_ends(run) if runs.ends[run, 0] >= 0 else np.zeros(2)
    for end in range(2):
        corner = int(runs.ends[run, end])
        if corner >= 0:
            at = (on == corner).nonzero()[0]
            vertices, along = np.concatenate([vertices, at]), np.concatenate([along, np.full(len(at), length[end])])
    order = np.lexsort((vertices, along))
    return vertices[order].tolist(), along[order].tolist()


def _is_along(now: Conforming, a: int, b: int, length: float) -> bool:
    """Return whether the distance of two vertices in material space agrees with the run's length between them [m]."""
    material = float(np.linalg.norm(now.working.material[b] - now.working.material[a]))
    return length < STRETCH * material and material < STRETCH * max(length, now.limits.shortest)


def _join(now: Conforming, run: int, a: int, b: int) -> bool:
    """Join vertices a and b on a run by edges along the straight line between them in material space.

    Edges that the line crosses are flipped, or split with the new vertex on the run. Returns False where the vertices
    should be joined and could not be.
    """
    working, runs, limits = now.working, now.runs, now.limits
    for _ in range(MOST):
        if working.faces_of(a, b)[0] >= 0:
            return True
        crossed = _first_crossed(now, a, b)
        if crossed is None:
            return False
        p, q, t = crossed
        face, beyond = working.faces_of(p, q)
        far = -1 if beyond < 0 else int(working.faces[beyond].sum()) - p - q
        near = int(working.faces[face].sum()) - p - q
        if {far, near} == {a, b} and working.flip(p, q) is Outcome.DONE:
            return True
        if working.conformal(p, q):
            return False
        position = (1.0 - t) * working.x[p] + t * working.x[q]
        edge, _, onto = (nearest[0] for nearest in runs.nearest(run, position[None]))
        if np.linalg.norm(onto - position) > limits.thickness + limits.depth:
            return False
        velocity = (1.0 - t) * working.v[p] + t * working.v[q]
        feature = runs.velocity(np.array([runs.points + run]), onto[None])[0]
        if {p, q} & now.released or now.h * (velocity - feature) @ runs.outward[edge] > RECEDES * limits.thickness:
            return True  # the cloth between the two is leaving the run
        length = float(np.linalg.norm(working.material[q] - working.material[p]))
        vertex = p if t * length < limits.shortest else q if (1.0 - t) * length < limits.shortest else -1
        if vertex >= 0 and (working.on[vertex] == runs.points + run or 0 <= working.on[vertex] in runs.ends[run]):
            a = vertex  # a vertex that has been put onto the run since
            continue
        if vertex >= 0 and (working.on[vertex] >= 0 or working.required[vertex] or working.on_border(vertex)):
            return False
        if vertex < 0:
            vertex = working.split_edge(p, q, t)
        else:
            weights, corners = np.zeros(3), working.faces[face].tolist()
            weights[corners.index(p)], weights[corners.index(q)] = 1.0 - t, t
            now.move(vertex, face, weights)
        now.sit(vertex, runs.points + run, onto)
        if vertex == a or working.faces_of(a, vertex)[0] < 0:
            return False
        a = vertex
    return False


def _first_crossed(now: Conforming, a: int, b: int) -> tuple[int, int, float] | None:
    """Return the first edge that the straight line from a to b in material space crosses, and the fraction along it.

    None where the line is along an edge or leaves the cloth.
    """
    X = now.working.material
    line = X[b] - X[a]
    for face in now.working.faces_around(a).tolist():
        corners = now.working.faces[face]
        k = int(np.argmax(corners == a))
        p, q = int(corners[(k + 1) % 3]), int(corners[(k + 2) % 3])
        one, two = X[p] - X[a], X[q] - X[a]
        to_p, to_q = one[0] * line[1] - one[1] * line[0], line[0] * two[1] - line[1] * two[0]
        if to_p >= 0.0 and to_q >= 0.0 and to_p + to_q > 0.0:
            return p, q, float(to_p / (to_p + to_q))
    return None


def slip(now: Conforming, a: int, b: int) -> bool:
    """Flip the edge a b along a run that has another vertex between a and b; return whether it was flipped."""
    working = now.working
    edge = queries.find_edge(working.arrays, a, b)
    if edge < 0:
        return False
    was, working.on[a] = int(working.on[a]), -1
    done = working.flip(a, b) is Outcome.DONE
    working.on[a] = was
    return done
