"""Kernels of the contact times of points with triangles, and of edges, along straight displacements."""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel
from .distance_kernels import DIFFERENCE, FREE, SQUARE, WORK, nearest_in_triangle, nearest_on_edges
from .near_kernels import REMAINING

BY_SPEED = 200  #: advances after which a separating plane is used: most pairs need a few
ROUNDING = 1.0e-15  #: relative to coordinates: rounding of a distance along a direction


@inline
def _separating_direction(position, is_point, work, out):  # type: ignore[no-untyped-def]
    """Write a separating direction of a pair to `out`, (3,): the unit normal of a triangle, or of two edges, with
    nearest points inside; else the direction between the nearest points, inaccurate where they are very near."""
    if work[FREE] == 2.0:
        base, u, v = (1, 2, 3) if is_point else (0, 1, 3)
        other = 1 if is_point else 2
        for axis in range(3):
            one, two = (axis + 1) % 3, (axis + 2) % 3
            out[axis] = ((position[u, one] - position[base, one]) * (position[v, two] - position[other, two])
                         - (position[u, two] - position[base, two]) * (position[v, one] - position[other, one]))
    else:
        for axis in range(3):
            out[axis] = work[DIFFERENCE + axis]
    along = out[0] * work[DIFFERENCE] + out[1] * work[DIFFERENCE + 1] + out[2] * work[DIFFERENCE + 2]
    length = np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    scale = (1.0 if along >= 0.0 else -1.0) / length if length > 0.0 else 0.0
    for axis in range(3):
        out[axis] *= scale


@inline
def _separate(position, step, is_point, work, near, direction):  # type: ignore[no-untyped-def]
    """Return the fraction of a displacement, at most 1, in which a plane separates the two sides by the mean of their
    distance and `near` [m]; 0 if the plane does not separate them.

    position, step: positions and displacements of the point and the triangle, or of the edges, (4, 3) [m]. direction:
    (3,), scratch space for the plane's normal. The least distance along any direction is a lower bound, and falls by
    the speed of corners along it alone.
    """
    _separating_direction(position, is_point, work, direction)
    least, first, fraction = 0.5 * (np.sqrt(work[SQUARE]) + near), 1 if is_point else 2, 1.0
    for i in range(first):
        for j in range(first, 4):
            gap = closing = size = 0.0
            for axis in range(3):
                gap += direction[axis] * (position[i, axis] - position[j, axis])
                closing -= direction[axis] * (step[i, axis] - step[j, axis])
                size += abs(direction[axis]) * (abs(position[i, axis]) + abs(position[j, axis]))
            clearance = gap - least - ROUNDING * size
            if clearance <= 0.0:
                return 0.0
            if clearance < fraction * closing:
                fraction = clearance / closing
    return fraction


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], i4[:,::1], i8, i8, f8[::1])")
def impact_times(start, stop, x, end, nodes, points, most, out):  # type: ignore[no-untyped-def]
    """Write to `out`, (k,), the fractions of straight displacements after which pairs start to stop nearly touch.

    The fraction is infinite for pairs that do not touch. x, end: positions before and after, (n, 3) [m]. nodes: (k, 4),
    of which the first `points` pairs are of a point and a triangle. Each advance, of which there are `most` at most, is
    as long as no contact is possible at the largest speed of corners: additive continuous collision detection, as in
    ipctk. After BY_SPEED advances it is as long as a plane separates the two sides, which is far longer where they
    slide along each other.
    """
    position, initial, step, speed = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3)), np.empty(4)
    own = np.arange(4).astype(np.int32)
    work, plane = np.empty(WORK), np.empty(3)
    for k in range(start, stop):
        for i in range(3):
            mean = 0.0
            for a in range(4):
                position[a, i] = initial[a, i] = x[nodes[k, a], i]
                step[a, i] = end[nodes[k, a], i] - x[nodes[k, a], i]
                mean += 0.25 * step[a, i]
            for a in range(4):
                step[a, i] -= mean
        for a in range(4):
            speed[a] = np.sqrt(step[a, 0] * step[a, 0] + step[a, 1] * step[a, 1] + step[a, 2] * step[a, 2])
        if k < points:
            fastest = speed[0] + max(speed[1], speed[2], speed[3])
            nearest_in_triangle(position, own, work)
        else:
            fastest = max(speed[0], speed[1]) + max(speed[2], speed[3])
            nearest_on_edges(position, own, work)
        distances = np.sqrt(work[SQUARE])
        near, time = REMAINING * distances, 0.0
        out[k] = np.inf
        for count in range(most):
            if (1.0 - time) * fastest <= (1.0 - REMAINING) * distances:
                break
            advance = (1.0 - REMAINING) * distances / fastest
            if count >= BY_SPEED:
                advance = max(advance, _separate(position, step, k < points, work, near, plane))
                if time + advance >= 1.0:
                    break
            for a in range(4):
                for i in range(3):
                    if count < BY_SPEED:
                        position[a, i] += advance * step[a, i]
                    else:  # so that rounding does not accumulate
                        position[a, i] = initial[a, i] + (time + advance) * step[a, i]
            if k < points:
                nearest_in_triangle(position, own, work)
            else:
                nearest_on_edges(position, own, work)
            distances = np.sqrt(work[SQUARE])
            if time > 0.0 and distances < near or advance == 0.0:
                out[k] = time
                break
            time += advance
        else:
            out[k] = time
