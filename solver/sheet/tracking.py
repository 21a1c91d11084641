"""Where the vertices on features are after a step: still there, past an end, lifted off, or at the cloth's border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Mask, Vec
from .limits import Limits
from .runs import Runs
from .sheet_mesh import SheetMesh


@dataclass(frozen=True)
class Tracked:
    """Vertices that were on features, anew."""

    x: Vec  #: [m], (n, 3), those on features exactly there
    on: Index  #: (n,), with runs
    released: Index  #: numbers of vertices that are Lagrangian from now on, (r,)
    turned: Index  #: vertices that ran over the end of their run and are the corner's now, and that corner, (t, 2)
    ended: Index  #: vertices that ran over the end of their run, and the corner there, which has one already, (e, 2)


def track(mesh: SheetMesh, runs: Runs, limits: Limits, h: float, free: Mask | None) -> Tracked:
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


def _at_the_border(mesh: SheetMesh, vertices: Index, limits: Limits, h: float) -> Mask:
    """Which of the vertices run up to the border within the step, or along it up to a corner of it."""
    # none but those of faces at the border are so near
    close = np.zeros(len(mesh.x), dtype=bool)
    close[mesh.faces[mesh.border[mesh.faces].any(axis=1)]] = True
    at: Mask = close[vertices]
    asked = vertices[at]
    if not len(asked):
        return at
    border, segments = mesh.border[asked], mesh.material[mesh.border_edges]
    corners, near = mesh.material[mesh.kept & mesh.border], np.zeros(len(asked), dtype=bool)
    for share in (0.0, 0.5, 1.0) if mesh.slide[asked].any() else (0.0,):
        X = mesh.material[asked] + share * h * mesh.slide[asked]
        to_corner = np.linalg.norm(X[:, None] - corners, axis=2).min(axis=1, initial=np.inf)
        near |= np.where(border, to_corner, border_distance(segments, X)) < 0.5 * limits.shortest
    at[at] = near
    return at


def border_distance(segments: Vec, X: Vec) -> Vec:
    """Of places X (k, 2) in material space to the border's edges, (b, 2, 2), (k,) [m]."""
    first, way = segments[:, 0], segments[:, 1] - segments[:, 0]
    t = np.einsum("kbi,bi->kb", X[:, None] - first, way) / np.einsum("bi,bi->b", way, way)
    off = X[:, None] - first - np.clip(t, 0.0, 1.0)[..., None] * way
    nearest: Vec = np.sqrt(np.einsum("kbi,kbi->kb", off, off).min(axis=1, initial=np.inf))
    return nearest


def material_reach(mesh: SheetMesh, h: float, left: float = 0.2) -> float:
    """The largest share of a step of h [s], in [0, 1], in which sliding leaves every face this share of its area."""
    moving = np.flatnonzero(np.any(mesh.slide[mesh.faces] != 0.0, axis=(1, 2)))
    if not len(moving):
        return 1.0
    X, S = mesh.material[mesh.faces[moving]], h * mesh.slide[mesh.faces[moving]]

    def across(one: Vec, two: Vec) -> Vec:
        b, c = one[:, 1] - one[:, 0], two[:, 2] - two[:, 0]
        twice: Vec = b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]
        return twice

    # area a t² + b t + c: the first t at which it is what shall be left
    a, b, c = across(S, S), across(X, S) + across(S, X), (1.0 - left) * across(X, X)
    root = b * b - 4.0 * a * c
    # the smallest positive root, written so that a = 0 does no harm
    down = -b + np.sqrt(np.maximum(root, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where((root >= 0.0) & (down > 0.0), 2.0 * c / down, np.inf)
    return float(min(1.0, first.min()))
