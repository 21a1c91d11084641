"""Motion of pinned nodes with the animated surface around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .. import catalogue
from ..job import schema
from ..state import Vec

NEIGHBOURS = 16  #: nearest vertices that a node is fitted to
STIFFENING = 1e-3  #: ε, regularisation of a flat neighbourhood
CHUNK = 100_000  # node-samples at a time


def hard_weights(pin: schema.Pin, weights: NDArray[Any]) -> NDArray[Any]:
    """Return weights of a hard pin, (n,) in [0, 1]: vertices above 0.5 are pinned. weights: painted ones, (n,).

    Where painted weights are strengths of soft pins, the result is 1 for the strongest, which are hard, and 0 for
    others.
    """
    return weights if pin.stiffness is None else (weights >= catalogue.HARD).astype(np.float64)


def follow(nodes: Vec, rest: Vec, motion: Vec) -> Vec:
    """Return positions of nodes at each sample, (T, p, 3) [m], each by the affine fit of its nearest vertices.

    nodes: rest positions, (p, 3) [m]. rest: of the moving vertices, (s, 3) [m]. motion: their positions, (T, s, 3) [m].
    The fit is A = (C + ε s² R)(D + ε s² I)⁻¹ with D, C the weighted second moments at rest and between rest and sample,
    and R the rotation in C: a rigid motion is followed exactly, and a flat or straight neighbourhood does not change
    its thickness.
    """
    count = min(NEIGHBOURS, len(rest))
    distance, near = cKDTree(rest).query(nodes, np.arange(1, count + 1))
    weights = 1.0 / np.maximum(distance**2 + (0.25 * distance[:, -1:]) ** 2, 1e-300)
    weights /= weights.sum(axis=1, keepdims=True)
    around = rest[near]
    centre = np.einsum("pk,pkd->pd", weights, around)
    arms = around - centre[:, None]
    moment = np.einsum("pk,pki,pkj->pij", weights, arms, arms)
    size2 = np.maximum(np.trace(moment, axis1=1, axis2=2), 1e-300)
    inverse = np.linalg.inv(moment / size2[:, None, None] + STIFFENING * np.eye(3))
    offset = np.einsum("pij,pj->pi", inverse, nodes - centre)

    samples = len(motion)
    where = np.empty((samples, len(nodes), 3))
    step = max(1, CHUNK // samples)
    for start in range(0, len(nodes), step):
        p = slice(start, min(start + step, len(nodes)))
        moved = motion[:, near[p]]
        moved_centre = np.einsum("pk,tpkd->tpd", weights[p], moved)
        cross = np.einsum("pk,tpki,pkj->tpij", weights[p], moved - moved_centre[:, :, None], arms[p])
        cross /= size2[p, None, None]
        fit = cross + STIFFENING * nearest_rotations(cross, moment[p] / size2[p, None, None])
        where[:, p] = moved_centre + np.einsum("tpij,pj->tpi", fit, offset[p])
    return where


def nearest_rotations(cross: Vec, moment: Vec) -> Vec:
    """Return the rotation R that maximises tr(Rᵀ C) for each C, (..., 3, 3). cross: C. moment: D, broadcast against C.

    Where all vertices are collinear, R is the smallest rotation of their line; where they coincide, the identity.
    """
    u, spread, vt = np.linalg.svd(cross)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    u = u * np.stack([np.ones_like(sign), np.ones_like(sign), sign], axis=-1)[..., None, :]
    rotation: Vec = u @ vt
    largest = np.broadcast_to(np.trace(moment, axis1=-2, axis2=-1), spread.shape[:-1])
    straight = spread[..., 1] <= 1e-9 * np.maximum(spread[..., 0], largest)
    if straight.any():
        rotation[straight] = _line_rotations(cross[straight], np.broadcast_to(moment, cross.shape)[straight])
    return rotation


def _line_rotations(cross: Vec, moment: Vec) -> Vec:
    """Return the smallest rotations, (l, 3, 3), that take the direction d of D into that of C d."""
    direction = np.linalg.eigh(moment)[1][..., -1]
    image = np.einsum("lij,lj->li", cross, direction)
    length = np.linalg.norm(image, axis=1, keepdims=True)
    image = np.where(length > 1e-12, image / np.maximum(length, 1e-300), direction)
    # a reflection through the bisector plane after one through the plane across d: two reflections are a rotation
    across = _across(direction)
    bisector = direction + image
    opposite = np.linalg.norm(bisector, axis=1, keepdims=True) < 1e-9
    bisector = np.where(opposite, across, bisector)
    rotations: Vec = _reflections(bisector) @ _reflections(direction)
    return rotations


def _across(direction: Vec) -> Vec:
    """Return a vector at right angles to each direction, (l, 3)."""
    axis = np.eye(3)[np.abs(direction).argmin(axis=1)]
    across: Vec = np.cross(direction, axis)
    return across


def _reflections(normal: Vec) -> Vec:
    """Return I − 2 n nᵀ / n·n for each normal, (l, 3, 3)."""
    n = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    reflections: Vec = np.eye(3) - 2.0 * n[:, :, None] * n[:, None, :]
    return reflections
