"""Displacement of bodies by prescribed motion in their path, free of intersections and without a factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..contact.laws.interface import ContactLaw
from ..state import Mask, Vec

ROUNDS = 8  #: rounds in which bodies push others along
NEAR = 2.0  #: in activation distances: a body so near to a moving one moves along with it


def carry_along(bodies: Sequence[slice], obstacles: Sequence[slice], is_free: Mask, contacts: Sequence[ContactLaw],
                step_start: Vec, end: Vec, fractions_of: Callable[[Vec, Vec], Vec]) -> Vec | None:
    """Return contact-free positions of all nodes after prescribed motion, (n, 3) [m].

    Prescribed nodes are at their end positions, bodies in their path have made the same rigid or affine motion, and all
    other bodies have not moved; straight displacements to these positions have no contact. None where there are no such
    positions: a prescribed object changes its shape, a body is between two moving objects, or has no room.

    bodies, obstacles: their nodes. is_free: whether each node is not prescribed, (n,). step_start, end: positions at
    the start and at the end of prescribed motion, (n, 3) [m]. fractions_of: returns the contact-free fraction of a
    straight displacement between two positions for each node, (n,), equal for all nodes of a body.
    """
    count, spans = len(bodies), [*bodies, *obstacles]
    x = step_start.copy()
    x[~is_free] = end[~is_free]
    moved = x - step_start

    # prescribed motion: of obstacles, and of bodies with pinned nodes
    motions: dict[int, MovedAsOne] = {}
    prescribed = set[int]()
    for k, nodes in enumerate(spans):
        own = np.flatnonzero(~is_free[nodes]) + nodes.start
        if not len(own):
            continue
        prescribed.add(k)
        if not moved[own].any():
            continue
        motion = MovedAsOne.of(step_start[own], end[own])
        if motion is not None:
            motions[k] = motion
        elif k < count:
            return None
        if k < count and motion is not None:
            x[nodes] = np.where(is_free[nodes, None], motion.of_points(step_start[nodes]), x[nodes])

    links: set[tuple[int, int]] | None = None
    for _ in range(ROUNDS):
        fractions = fractions_of(step_start, x)
        if fractions.min() == 1.0:
            return x
        hit = [k for k in range(count) if k not in prescribed and k not in motions and fractions[spans[k]].min() < 1.0]
        if not hit or not motions:
            return None
        links = _links(contacts, spans, step_start) if links is None else links
        only = next(iter(motions.values())) if len({id(motion) for motion in motions.values()}) == 1 else None
        new_motions: dict[int, MovedAsOne] = {}
        for k in hit:
            motion = next((motions[other] for other in sorted(motions) if (k, other) in links), only)
            if motion is None:
                return None
            new_motions[k] = motion
            x[spans[k]] = motion.of_points(step_start[spans[k]])
        motions |= new_motions
    return None


class MovedAsOne:
    """Rigid or affine motion x ↦ A (x − c) + d."""

    exact = 1.0e-6  #: relative error that is admissible for a motion as one body

    def __init__(self, matrix: Vec, centre: Vec, target: Vec) -> None:
        """matrix: A, (3, 3). centre: c, (3,) [m]. target: d, (3,) [m]."""
        self._matrix, self._centre, self._target = matrix, centre, target

    @classmethod
    def of(cls, start: Vec, end: Vec) -> MovedAsOne | None:
        """Return the rigid or affine motion of points from start to end, (k, 3) [m]; None where it is neither."""
        centre, target = start.mean(axis=0), end.mean(axis=0)
        before, after = start - centre, end - target
        size = float(np.abs(before).max(initial=0.0)) + float(np.abs(target - centre).max())
        u, _, vt = np.linalg.svd(after.T @ before)
        matrix = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt)) or 1.0]) @ vt
        if np.abs(before @ matrix.T - after).max() > cls.exact * size:
            matrix = np.linalg.lstsq(before, after, rcond=None)[0].T
            if np.abs(before @ matrix.T - after).max() > cls.exact * size:
                return None
        return cls(matrix, centre, target)

    def of_points(self, x: Vec) -> Vec:
        """Return points after the motion, (k, 3) [m]."""
        out: Vec = (x - self._centre) @ self._matrix.T + self._target
        return out


def _links(contacts: Sequence[ContactLaw], spans: list[slice], x: Vec) -> set[tuple[int, int]]:
    """Return pairs of bodies and obstacles that are near each other at positions x, (n, 3) [m], in both orders."""
    owner = np.full(len(x), -1)
    for k, nodes in enumerate(spans):
        owner[nodes] = k
    pairs = np.unique(np.concatenate([owner[law.node_pairs_within(x, NEAR)] for law in contacts]), axis=0)
    return {(int(a), int(b)) for pair in pairs if pair[0] != pair[1] for a, b in (pair, pair[::-1])}
