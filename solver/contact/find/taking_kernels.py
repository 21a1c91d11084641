"""Kernels on lists of pairs: near pairs, their activation distances, and admissible displacements of nodes."""

from __future__ import annotations

import numpy as np

from ...threads import kernel


@kernel("void(i8, i8, i8[::1], i4[:,::1], f8[::1], i4[::1], i4[::1], i4[:,::1], i4[:,::1], f8[::1])")
def take_pairs(  # type: ignore[no-untyped-def]
    start, stop, within, listed, squares, nodes, owner, out_nodes, out_bodies, out_squares,
):
    """Write node numbers, bodies of both sides and squared distances of the listed pairs within[start:stop].

    within: rows of the list, (m,). listed: numbers among `nodes` (s,), (k, 4). squares: (k,) [m²]. owner: body of each
    of `nodes`, (s,). out_nodes: (m, 4). out_bodies: (m, 2). out_squares: (m,) [m²].
    """
    for m in range(start, stop):
        pair = listed[within[m]]
        for c in range(4):
            out_nodes[m, c] = nodes[pair[c]]
        out_bodies[m, 0], out_bodies[m, 1] = owner[pair[0]], owner[pair[3]]
        out_squares[m] = squares[within[m]]


@kernel("void(i8, i8, i4[:,::1], i4[:,::1], f8[::1], f8[:,::1], f8[::1], f8, f8[::1], f8[::1], b1[::1])")
def reach_of_pairs(  # type: ignore[no-untyped-def]
    start, stop, nodes, bodies, squares, activation, thickness, times, out_activation, out_thickness, out,
):
    """Write δ and t of pairs start to stop, (m,) [m], and to `out`, (m,), whether they are nearer than t + `times` δ.

    t is the sum of the thicknesses of both sides, zero within one body. nodes: (m, 4). bodies: (m, 2). squares: squared
    distances, (m,) [m²]. activation: δ of each two bodies, (b, b), or of all, (1, 1) [m]. thickness: of each node, (n,)
    [m].
    """
    is_one = activation.shape[0] == 1
    for m in range(start, stop):
        a, b = bodies[m, 0], bodies[m, 1]
        out_thickness[m] = 0.0 if a == b else thickness[nodes[m, 0]] + thickness[nodes[m, 3]]
        out_activation[m] = activation[0, 0] if is_one else activation[a, b]
        reach = times * out_activation[m] + out_thickness[m]
        out[m] = squares[m] < reach * reach


@kernel("b1(f8[::1], i4[:,::1], i8[::1], f8[::1], b1, f8[::1])")
def reduce_fractions(when, pairs, number, steps, until_contact, out):  # type: ignore[no-untyped-def]
    """Write reduced fractions of the displacements of groups to `out`, (g,), and return whether any pair touches.

    when: fraction of the tried displacements after which each pair touches, (k,), above 1 if it does not. pairs: nodes,
    (k, 4). number: group of each node, (s,). steps: fractions of the displacements that were tried, (g,).
    until_contact: whether a node moves until it touches a blocked node; else it moves as far as the blocked node does.
    """
    for g in range(steps.shape[0]):
        out[g] = steps[g]
    touches = False
    for k in range(pairs.shape[0]):
        if not when[k] <= 1.0:
            continue
        touches, least, most = True, steps[number[pairs[k, 0]]], steps[number[pairs[k, 0]]]
        for c in range(1, 4):
            own = steps[number[pairs[k, c]]]
            least, most = min(least, own), max(most, own)
        for c in range(4):
            g = number[pairs[k, c]]
            cut = steps[g] * when[k]
            if least != most:
                cut = max(cut, least) if until_contact else least
            out[g] = min(out[g], cut)
    return touches


@kernel("void(i8, i8, i4[:,::1], i8[::1], f8[::1], f8[::1], b1[::1])")
def mark_reduced(start, stop, pairs, number, before, after, out):  # type: ignore[no-untyped-def]
    """Write to `out`, (k,), whether a node of each of the pairs start to stop has a smaller fraction than before.

    pairs: nodes, (k, 4). number: group of each node, (s,). before, after: fractions of the displacements of groups,
    (g,).
    """
    for k in range(start, stop):
        out[k] = False
        for c in range(4):
            g = number[pairs[k, c]]
            out[k] |= after[g] < before[g]


@kernel("b1(f8[:,::1], f8[:,::1], i4[::1], i4[:,::1], i8, f8[::1], f8, f8)")
def cannot_touch(start, end, surface, nodes, points, square, other_pairs, closing):  # type: ignore[no-untyped-def]
    """Return whether no pair can lose the fraction `closing` of its distance on straight displacements.

    start, end: positions of all nodes, (n, 3) [m]. surface: nodes of surfaces, (s,). nodes: (k, 4) of the nearest
    pairs, of which the first `points` are of a point and a triangle. square: their squared distances, (k,) [m²].
    other_pairs: lower bound of the distances of all other pairs [m].
    """
    moved, farthest = np.zeros(len(start)), 0.0
    for s in range(len(surface)):
        total = 0.0
        for i in range(3):
            total += (end[surface[s], i] - start[surface[s], i]) ** 2
        moved[surface[s]] = np.sqrt(total)
        # NaN, of a step that failed, is no bound
        farthest = max(farthest, moved[surface[s]] if total < np.inf else np.inf)
    if not 2.0 * farthest < closing * other_pairs:
        return False
    for k in range(len(nodes)):
        a, b, c, d = moved[nodes[k, 0]], moved[nodes[k, 1]], moved[nodes[k, 2]], moved[nodes[k, 3]]
        both = a + max(b, c, d) if k < points else max(a, b) + max(c, d)
        if not both * both < closing * closing * square[k]:
            return False
    return True
