"""Kernels of single pairs: near ones taken out of a list, how far they reach, and how far their nodes may go."""

from __future__ import annotations

from ...threads import kernel


@kernel("void(i8, i8, i8[::1], i4[:,::1], f8[::1], i4[::1], i4[::1], i4[:,::1], i4[:,::1], f8[::1])")
def take_pairs(  # type: ignore[no-untyped-def]
    start, stop, within, listed, squares, nodes, owner, out_nodes, out_bodies, out_squares,
):
    """Node numbers, bodies of both sides and squared distances of the listed pairs `within`, (m,).

    listed: numbers among `nodes` (s,), (k, 4). squares: (k,). owner: body of each of `nodes`, (s,).
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
    """δ and t of pairs start to stop [m], and whether they are nearer than t + `times` δ, out (m,).

    t is the sum of the thicknesses (n,) of both sides, zero within one body. activation: δ of each two bodies, (b, b),
    or (1, 1) of all.
    """
    is_one = activation.shape[0] == 1
    for m in range(start, stop):
        a, b = bodies[m, 0], bodies[m, 1]
        out_thickness[m] = 0.0 if a == b else thickness[nodes[m, 0]] + thickness[nodes[m, 3]]
        out_activation[m] = activation[0, 0] if is_one else activation[a, b]
        reach = times * out_activation[m] + out_thickness[m]
        out[m] = squares[m] < reach * reach


@kernel("b1(f8[::1], i4[:,::1], i8[::1], f8[::1], b1, f8[::1])")
def cut_ways(when, pairs, number, steps, goes_on, out):  # type: ignore[no-untyped-def]
    """Write to out (g,) the fractions of their ways that nodes go, by those `steps` (g,) that were tried and the
    fractions of these, (k,), after which pairs (k, 4) touch: beyond 1 they do not. Says whether any does.

    number: of each node, by which it stands in `steps`, (s,). goes_on: whether a node moves on until it touches one
    that is blocked; else it goes as far as that one does.
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
                cut = max(cut, least) if goes_on else least
            out[g] = min(out[g], cut)
    return touches


@kernel("void(i8, i8, i4[:,::1], i8[::1], f8[::1], f8[::1], b1[::1])")
def goes_less(start, stop, pairs, number, before, after, out):  # type: ignore[no-untyped-def]
    """Write whether a node of each of the pairs start to stop takes a smaller fraction of its displacement than before.

    pairs: nodes, (k, 4). number: index of each node in `before` and `after`, the fractions, (g,). out: (k,).
    """
    for k in range(start, stop):
        out[k] = False
        for c in range(4):
            g = number[pairs[k, c]]
            out[k] |= after[g] < before[g]
