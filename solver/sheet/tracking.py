"""Where the vertices on features are after a step: still there, past an end, lifted off, or at the cloth's border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Mask, Vec
from .limits import RemeshLimits
from .runs import Runs
from .sheet_mesh import SheetMesh
from .tracking_kernels import nearest_segment, share_with_area, up_to_border


@dataclass(frozen=True)
class Tracked:
    """Vertices that were on features, anew."""

    x: Vec  #: [m], (n, 3), those on features exactly there
    on: Index  #: (n,), with runs
    released: Index  #: numbers of vertices that are Lagrangian from now on, (r,)
    turned: Index  #: vertices that ran over the end of their run and are the corner's now, and that corner, (t, 2)
    ended: Index  #: vertices that ran over the end of their run, and the corner there, which has one already, (e, 2)


def track(mesh: SheetMesh, runs: Runs, limits: RemeshLimits, h: float, free: Mask | None) -> Tracked:
    """What became of the vertices on features, which are where they are now, before a step of h [s]. free: whose
    constraints pulled nothing in the last step, (n,): these lift off."""
    x, on = mesh.x.copy(), runs.from_edges(mesh.on)
    vertices = np.flatnonzero(on >= 0)
    gone = np.zeros(len(x), dtype=bool) if free is None else free & (on >= 0)
    gone[vertices] |= _at_the_border(mesh, vertices, limits, h)

    # points: outside of them by more than the thickness is off
    at_point = vertices[on[vertices] < runs.points]
    place = runs.features.points[on[at_point]]
    outward = runs.features.point_normals.sum(axis=1)[on[at_point]]
    gone[at_point] |= _is_off(x[at_point] - place, outward, limits.thickness)
    x[at_point] = np.where(gone[at_point, None], x[at_point], place)

    ended, turned = [], []
    for run in np.unique(on[on >= runs.points]) - runs.points:
        here = np.flatnonzero((on == runs.points + run) & ~gone)
        edge, share, place = runs.nearest(int(run), x[here])
        ends = runs.features.points[runs.features.edges[edge]]
        beside = x[here] - ends[:, 0] - share[:, None] * (ends[:, 1] - ends[:, 0])
        off = _is_off(beside, runs.outward[edge], limits.thickness)
        gone[here[off]] = True
        inner = (share >= 0.0) & (share <= 1.0)
        x[here[~off & inner]] = place[~off & inner]
        for i, t in zip(here[~off].tolist(), share[~off].tolist()):
            if not 0.0 <= t <= 1.0:
                corner = int(runs.ends[run, 0 if t < 0.0 else 1])
                if mesh.border[i]:
                    gone[i] = True  # over a corner the border goes nowhere along itself
                elif np.any((on == corner) & ~gone):
                    ended.append((i, corner))
                else:
                    on[i] = corner
                    turned.append((i, corner))
    on[gone] = -1
    return Tracked(x, on, np.flatnonzero(gone).astype(np.int32), _pairs(turned), _pairs(ended))


def _pairs(found: list[tuple[int, int]]) -> Index:
    return np.array(found, np.int32).reshape(-1, 2)


def _is_off(way: Vec, outward: Vec, thickness: float) -> Mask:
    """Whether ways off features (k, 3) lead outwards, or anywhere from what is thin, by more than the thickness."""
    outside = np.einsum("ki,ki->k", way, outward) >= 0.0
    off: Mask = outside & (np.linalg.norm(way, axis=1) > thickness)
    return off


def _at_the_border(mesh: SheetMesh, vertices: Index, limits: RemeshLimits, h: float) -> Mask:
    """Which of the vertices run up to the border within the step, or along it up to a corner of it."""
    at: Mask = np.empty(len(vertices), dtype=bool)
    up_to_border(np.ascontiguousarray(mesh.material), np.ascontiguousarray(mesh.slide),
                 np.ascontiguousarray(mesh.faces), mesh.border, mesh.border_edges, mesh.kept,
                 vertices.astype(np.int32), h, 0.5 * limits.shortest, at)
    return at


def border_distance(segments: Vec, X: Vec) -> Vec:
    """Of places X (k, 2) in material space to the border's edges, (b, 2, 2), (k,) [m]."""
    nearest: Vec = np.empty(len(X))
    nearest_segment(np.ascontiguousarray(segments), np.ascontiguousarray(X), nearest)
    return nearest


def material_reach(mesh: SheetMesh, h: float, left: float = 0.2) -> float:
    """The largest share of a step of h [s], in [0, 1], in which sliding leaves every face this share of its area."""
    return float(share_with_area(np.ascontiguousarray(mesh.material), np.ascontiguousarray(mesh.slide),
                                 np.ascontiguousarray(mesh.faces), h, left))
