"""Tracking of vertices on features after a step: still there, past an end, lifted off, or at the cloth's border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Mask, Vec
from .limits import RemeshLimits
from .runs import Runs
from .sheet_mesh import SheetMesh
from .tracking_kernels import follow, largest_slide, nearest_segment, up_to_border

LEFT = 0.2  #: fraction of its area that a face retains in a step
WORSE = 0.9  #: fraction of its tan that a too small angle retains in a step


@dataclass(frozen=True)
class Tracked:
    """The state of vertices on features after a step."""

    x: Vec  #: [m], (n, 3), those on features exactly there
    on: Index  #: feature of each vertex, with runs in place of edges, (n,)
    released: Index  #: numbers of vertices that are Lagrangian from now on, (r,)
    onto_corner: Index  #: vertices that ran over the end of their run onto the corner there, and that corner, (t, 2)
    ended: Index  #: vertices that ran over the end of their run, and the corner, which has a vertex already, (e, 2)


def track(mesh: SheetMesh, runs: Runs, limits: RemeshLimits, h: float, free: Mask | None) -> Tracked:
    """Return the state of the vertices on features, at the features' present positions, before a step of h [s].

    free: vertices whose constraints had no impulse in the last step, (n,), which lift off; None for no vertex.
    """
    x, on = mesh.x.copy(), runs.from_edges(mesh.on)
    vertices = (on >= 0).nonzero()[0].astype(np.int32)
    released = np.zeros(len(x), dtype=bool) if free is None else free & (on >= 0)
    released[vertices] |= _at_the_border(mesh, vertices, limits, h)
    vertices = vertices[np.argsort(on[vertices], kind="stable")]
    to_corner, over = np.empty(len(vertices), dtype=bool), np.empty((len(vertices), 2), np.int32)
    count = follow(x, on, released, mesh.border, vertices, runs.points, runs.positions, runs.point_outward, runs.edges,
                   runs.outward, runs.first, runs.ends, limits.thickness, to_corner, over)
    on[released] = -1
    over, to_corner = over[:count], to_corner[:count]
    return Tracked(x, on, released.nonzero()[0].astype(np.int32), over[to_corner], over[~to_corner])


def _at_the_border(mesh: SheetMesh, vertices: Index, limits: RemeshLimits, h: float) -> Mask:
    """Return which vertices slide up to the border within h [s], or along it up to a required vertex, (k,)."""
    at: Mask = np.empty(len(vertices), dtype=bool)
    up_to_border(np.ascontiguousarray(mesh.material), np.ascontiguousarray(mesh.slide),
                 np.ascontiguousarray(mesh.faces), mesh.border, mesh.border_edges, mesh.required,
                 vertices, h, 0.5 * limits.shortest, at)
    return at


def border_distance(segments: Vec, X: Vec) -> Vec:
    """Return the distances in material space of points X, (k, 2) [m], from segments, (b, 2, 2) [m], (k,) [m]."""
    nearest: Vec = np.empty(len(X))
    nearest_segment(np.ascontiguousarray(segments), np.ascontiguousarray(X), nearest)
    return nearest


def limit_slide(mesh: SheetMesh, h: float, thinnest: float = 0.0) -> float:
    """Return the largest fraction, in [0, 1], of a step of h [s] in which sliding leaves no face too small or too thin.

    Each face retains LEFT of its area, and no angle gets a tan below both `thinnest` and WORSE of its present smallest.
    """
    return float(largest_slide(np.ascontiguousarray(mesh.material), np.ascontiguousarray(mesh.slide),
                                np.ascontiguousarray(mesh.faces), h, LEFT, thinnest, WORSE))
