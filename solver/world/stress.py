"""Stress, stretch, pressure and speed at the output vertices of bodies, for colours and shaders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..forces.stencils import BodyElements
from ..meshing.volume import shape_gradients
from ..state import Index, Mask, Vec
from .bodies import BodyInWorld

COLUMNS = 4  #: von Mises stress [Pa], largest stretch, pressure [Pa], speed [m/s]

FLATTEST = 0.01  #: fraction of the rest volume: a flatter or inverted element gets the stress at this volume


def at_vertices(bodies: Sequence[BodyInWorld], elastic: Sequence[BodyElements], rest: Vec, x: Vec, v: Vec,
                time: float) -> Vec | None:
    """Return von Mises stress [Pa], largest principal stretch, pressure [Pa] and speed [m/s] of vertices, (v, 4).

    Rows are zero for bodies that show no stress; None where no body does. elastic: elements of each body. rest, x, v:
    rest positions, positions and velocities of all nodes, (n, 3) [m], [m], [m/s].
    """
    if not any(body.shows_stress for body in bodies):
        return None
    return np.concatenate([_of_body(body, elements, rest, x, v, time) if body.shows_stress
                           else np.zeros((body.vertices, COLUMNS)) for body, elements in zip(bodies, elastic)])


def _of_body(body: BodyInWorld, elements: BodyElements, rest: Vec, x: Vec, v: Vec, time: float) -> Vec:
    """Return stress, stretch, pressure and speed of one body's vertices, (v, 4), zero stress for cloth and ropes.

    Element values are averaged at nodes by rest volume.
    """
    tets = elements.tets[~_padding(elements.tets)]
    nodes = np.zeros((len(x), 7))  #: σ in the order xx, yy, zz, xy, xz, yz, and the stretch
    weights = np.zeros(len(x))
    if (tets[:, 2] == tets[:, 3]).any():
        corners, values, size = _measure_thin(tets, rest, x)
    else:
        corners, values, size = _solid(tets, elements, rest, x, time)
    for corner in corners.T:
        np.add.at(nodes, corner, values * size[:, None])
        np.add.at(weights, corner, size)
    nodes /= np.maximum(weights, 1.0e-300)[:, None]
    nodes[weights == 0.0, 6] = 1.0
    own, speed = nodes[body.nodes], v[body.nodes]
    if body.embedding is not None:
        own, speed = body.embedding.matrix @ own, body.embedding.apply(speed)
    pressure = -own[:, :3].mean(axis=1)
    deviator = own[:, :3] + pressure[:, None]
    mises = np.sqrt(1.5 * (deviator**2).sum(axis=1) + 3.0 * (own[:, 3:6] ** 2).sum(axis=1))
    return np.stack([mises, np.maximum(own[:, 6], 0.0), pressure, np.linalg.norm(speed, axis=1)], axis=1)


def _padding(tets: Index) -> Mask:
    """Return whether each element is a copy of the first element that pads arrays to whole vector lanes, (p,)."""
    copies: Mask = (tets == tets[0]).all(axis=1)
    copies[0] = False
    return copies


def _solid(tets: Index, elements: BodyElements, rest: Vec, x: Vec, time: float) -> tuple[Index, Vec, Vec]:
    """Return corners, (e, 4), Cauchy stress [Pa] and stretch, (e, 7), and rest volumes, (e,) [m³], of tetrahedra.

    σ = −1/v Σ_a f_a ⊗ x_a, of the forces f on the corners, which include fiber forces. [virial stress]
    """
    forces = np.empty((*elements.tets.shape, 3))
    elements.activate(time)
    elements.measure(x, forces)
    forces = forces[~_padding(elements.tets)]
    gradients, six_volumes = shape_gradients(rest, tets)
    arms = x[tets] - x[tets[:, :1]]
    deformation = np.einsum("eai,eaj->eij", arms, gradients)  #: F
    volume = six_volumes / 6.0
    now = np.maximum(np.linalg.det(deformation), FLATTEST) * volume
    stress = -np.einsum("eai,eaj->eij", forces, arms) / now[:, None, None]
    stress = 0.5 * (stress + stress.transpose(0, 2, 1))
    stretch = np.linalg.svd(deformation, compute_uv=False)[:, 0]
    upper = [stress[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return tets, np.stack([*upper, stretch], axis=1), volume


def _measure_thin(tets: Index, rest: Vec, x: Vec) -> tuple[Index, Vec, Vec]:
    """Return corners, values and rest sizes of the triangles of cloth, (e, 3), or the segments of ropes, (e, 2).

    Values are zero stress and the largest stretch, (e, 7); sizes are areas [m²] or lengths [m], (e,).
    """
    segments = tets[tets[:, 1] == tets[:, 3]][:, :2]
    if len(segments):
        before, now = (np.linalg.norm(at[segments[:, 1]] - at[segments[:, 0]], axis=1) for at in (rest, x))
        corners, stretch, size = segments, now / before, before
    else:
        corners = tets[tets[:, 2] == tets[:, 3]][:, :3]
        (a, b), (c, d) = (np.moveaxis(at[corners[:, 1:]] - at[corners[:, :1]], 1, 0) for at in (rest, x))
        # the largest stretch is the root of the largest eigenvalue of the metric now over the metric at rest
        metrics = [np.stack([(p * p).sum(1), (p * q).sum(1), (p * q).sum(1), (q * q).sum(1)], axis=1).reshape(-1, 2, 2)
                   for p, q in ((a, b), (c, d))]
        eigenvalues = np.linalg.eigvals(np.linalg.solve(metrics[0], metrics[1]))
        stretch = np.sqrt(np.maximum(eigenvalues.real.max(axis=1), 0.0))
        size = 0.5 * np.linalg.norm(np.cross(a, b), axis=1)
    values = np.zeros((len(corners), 7))
    values[:, 6] = stretch
    return corners, values, size
