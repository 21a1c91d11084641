"""From an artist's surface to a volume that a simulation can trust, or a clear refusal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .. import catalogue
from ..errors import BadMesh, ConJacError, MesherFailed
from ..state import Index, Vec
from .child import ChildFailed, ChildTooSlow, Report, run_mesher
from .sheets import find_sheets, thickened
from .surface import Surface, clean
from .volume import (
    Volume,
    boundary_faces,
    face_parts,
    nonmanifold_edges,
    split_pinches,
    tet_quality,
    tet_volumes,
    used_nodes,
)
from .winding import winding_numbers

__all__ = ["Volume", "fillable", "tetrahedralize"]

MOST_TETS = 5e6
WORST_QUALITY = 1e-3  # mean ratio; below it a step of any useful size blows up
EDGE_SHARE = 0.05  # of the box diagonal: the edge length where none is given
SECONDS, SECONDS_PER_TET, MOST_SECONDS = 100.0, 0.003, 600.0  # of a try: three times what clean meshes take
MOSTLY = 0.8  # of the area: where more than this encloses nothing, filling the rest is not what was meant
SAMPLES = 2000  # points at which an overlapping or open surface is asked for its volume


class _Unusable(Exception):
    """What the mesher returned cannot be used: says why."""


@dataclass(frozen=True)
class _Filled:
    """What came of a surface."""

    volume: Volume
    before: int  #: parts of the surface that came apart
    after: int  #: pieces of the volume that they are in; 0 where nothing did

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.after:
            return self.volume.notes
        was = "one piece" if self.before == 1 else f"{self.before} pieces"
        return (f"What was {was} of the mesh is {self.after} pieces of tetrahedra, since what is thin between them was "
                "lost: make it thicker or lower the edge length", *self.volume.notes)


def tetrahedralize(vertices: NDArray, triangles: NDArray, mesher_key: str, params: Mapping[str, float], *,
                   name: str, report: Report | None = None, seconds: float | None = None) -> Volume:
    """Tetrahedra that fill a surface.

    vertices: (n, 3) [m]; triangles: (m, 3); mesher_key: of catalogue family "mesher"; params: its parameters, those
    left out take their defaults; name: of the object, for errors. report(share done or None, words) is called a few
    times a second; what it raises stops the mesher. seconds: time limit of each of two tries, by what the edge length
    asks for where left out.
    Raises BadMesh where no volume can come of this surface, MesherFailed where the mesher crashed or was too slow
    twice, Environment where it is not installed.
    """
    entry = catalogue.find("mesher", mesher_key)
    values = {param.key: params.get(param.key, param.default) for param in entry.params}
    mesher = entry.load(__package__.rpartition(".")[0])()
    say: Report = report or (lambda done, words: None)
    try:
        if not mesher.in_child:
            surface = clean(vertices, triangles, name)
            _refuse_too_many(surface, values)
            settings = mesher.settings(surface, values)
            nodes, tets = mesher.mesh(surface.vertices * surface.scale, surface.triangles, settings)
            return Volume(nodes + surface.centre, tets.astype(np.int32))
        surface, notes = fillable(vertices, triangles, name, values["sheet_thickness"])
        _refuse_too_many(surface, values)
        settings = mesher.settings(surface, values)
        limit = seconds or min(SECONDS + SECONDS_PER_TET * _asked_for(surface, values), MOST_SECONDS)
        volume = _in_two_tries(mesher, entry.label, surface, settings, say, limit)
        return replace(volume, notes=(*notes, *volume.notes))
    except ConJacError as error:
        error.object = error.object or name
        raise


def fillable(vertices: NDArray, triangles: NDArray, name: str, thickness: float) -> tuple[Surface, list[str]]:
    """The surface that is to be filled: without what encloses nothing, or with that thickened [m]; and notes on it.

    Raises BadMesh where hardly anything is left.
    """
    surface = clean(vertices, triangles, name, flat=thickness > 0.0)
    sheets = find_sheets(surface)
    count = int(sheets.parts.sum())
    if not count:
        return clean(vertices, triangles, name) if thickness > 0.0 else surface, []
    places, solid = surface.vertices * surface.scale + surface.centre, surface.triangles[~sheets.triangles]
    what = "an open sheet that encloses" if count == 1 else f"{count} open sheets or loose faces that enclose"
    if thickness > 0.0:
        plates, around = thickened(places, surface.triangles[sheets.triangles], thickness)
        whole = clean(np.concatenate([places, plates]), np.concatenate([solid, around + len(places)]), name)
        return whole, [f"The mesh has {what} nothing: thickened to {thickness:.3g} m"]
    if sheets.share > MOSTLY:
        raise BadMesh(f"the mesh is {what} no volume",
                      f"Set its Sheet Thickness, such as {0.5 * EDGE_SHARE * surface.diagonal:.2g} m, "
                      "or close it or add a Solidify modifier", where="mesher.params.sheet_thickness")
    return (clean(places, solid, name),
            [f"The mesh has {what} nothing: not filled, it follows what is next to it. Set Sheet Thickness to fill it"])


def _in_two_tries(mesher: Any, label: str, surface: Surface, settings: Mapping[str, float], report: Report,
                  seconds: float) -> Volume:
    """The volume from a child process; after a failure, or where it came apart, once more at other settings."""
    failures: list[Exception] = []
    notes: list[str] = []
    apart: _Filled | None = None
    for which in ("first try", "last try"):
        began = time.monotonic()
        try:
            nodes, tets = run_mesher(mesher, surface.vertices, surface.triangles, settings, seconds,
                                     _timed(report, seconds, which))
            filled = _accepted(nodes, tets, surface)
        except (ChildFailed, _Unusable) as failure:
            if apart is not None:
                break
            slow = isinstance(failure, ChildTooSlow)
            failures.append(failure)
            settings = mesher.retry(settings, slow)
            coarser = ", and its tetrahedra are coarser than asked for" if slow else ""
            notes = [f"{label} was run twice, since at first {failure}{coarser}"]
            report(None, f"{label}: {failure}; trying other settings")
            continue
        if apart is not None and apart.after <= filled.after:
            break
        if not filled.after or failures or apart is not None or time.monotonic() - began > 0.5 * seconds:
            return replace(filled.volume, notes=(*filled.notes, *notes))
        apart, settings = filled, mesher.retry(settings, False)
        report(None, f"{label}: what is thin was lost; trying closer to the surface")
    if apart is not None:
        return replace(apart.volume, notes=apart.notes)
    last = failures[-1]
    if isinstance(last, ChildTooSlow):
        raise MesherFailed(f"{label} could not mesh it: {last}, nor coarser; {_looks(surface)}",
                           "Use a larger edge length or a simpler mesh, such as a Remesh modifier makes") from last
    if isinstance(last, ChildFailed):
        raise MesherFailed(f"{label} could not mesh it: {last}",
                           "Repair the mesh (a Remesh modifier often helps) or use another mesher") from last
    raise BadMesh(f"{label} could not fill it: {last}",
                  "Make the mesh closed and thicker, for instance with a Remesh or Solidify modifier") from last


def _timed(report: Report, seconds: float, which: str) -> Report:
    """The same, which tells the time of this try too, ten times."""
    began = time.monotonic()

    def timed(done: float | None, words: str) -> None:
        spent = int(10 * (time.monotonic() - began) / seconds) * seconds / 10
        report(done, f"{words or 'Filling'} ({spent:.0f} s of at most {seconds:.0f} s, {which})" if spent else words)

    return timed


def _looks(surface: Surface) -> str:
    """What can be counted of a surface that was too hard."""
    parts = f"{surface.parts} loose parts" if surface.parts > 1 else "one part"
    a, b, c = (surface.vertices[surface.triangles[:, i]] for i in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    thickness = 2.0 * abs(surface.volume) / area * surface.scale
    return (f"it has {parts}, {len(surface.triangles)} triangles and is about {thickness:.2g} m thick, "
            f"{surface.diagonal:.2g} m across")


def _asked_for(surface: Surface, params: Mapping[str, float]) -> float:
    """About how many tetrahedra of the edge length fill the surface."""
    edge = params.get("edge_length", 0.0) or EDGE_SHARE * surface.diagonal
    return abs(surface.volume) * surface.scale**3 * 6.0 * float(np.sqrt(2.0)) / edge**3


def _refuse_too_many(surface: Surface, params: Mapping[str, float]) -> None:
    """Raises BadMesh where the edge length asks for more tetrahedra than any computer here can simulate."""
    expected = _asked_for(surface, params)
    if expected > MOST_TETS:
        raise BadMesh(f"an edge length of {params['edge_length']:.3g} m gives about {expected:.1e} tetrahedra",
                      "Make the edge length larger", where="mesher.params.edge_length")


def _accepted(nodes: NDArray, tets: NDArray, surface: Surface) -> _Filled:
    """The mesher's answer, put in order, checked against the surface and moved back to the world. Raises _Unusable."""
    if len(tets) == 0 or tets.ndim != 2 or tets.shape[1] != 4:
        raise _Unusable("it returned no tetrahedra")
    if not np.isfinite(nodes).all() or tets.min() < 0 or tets.max() >= len(nodes):
        raise _Unusable("it returned nodes that are not numbers or do not exist")
    if np.abs(nodes).max() > 0.75:
        raise _Unusable("it returned nodes outside of the object's box")
    nodes, tets = np.ascontiguousarray(nodes, dtype=np.float64), tets.astype(np.int32)
    tets = np.where((tet_volumes(nodes, tets) < 0.0)[:, None], tets[:, [0, 1, 3, 2]], tets)
    if (tet_quality(nodes, tets) < WORST_QUALITY).any():
        raise _Unusable("it returned tetrahedra that are flat")

    tets, notes = _parts_that_belong(nodes, tets, surface)
    nodes, tets = used_nodes(*split_pinches(nodes, tets))
    if nonmanifold_edges(boundary_faces(tets)[0]):
        notes.append("Some parts of the volume hang together by an edge only and may turn about it")
    _check_volume(float(tet_volumes(nodes, tets).sum()), surface)
    if surface.open_edges:
        notes.insert(0, f"The surface was open ({surface.open_edges} border edges) and was filled")
    return _Filled(Volume(nodes * surface.scale + surface.centre, tets, tuple(notes)),
                   *_came_apart(nodes, tets, surface))


def _parts_that_belong(nodes: Vec, tets: Index, surface: Surface) -> tuple[Index, list[str]]:
    """Without crumbs and without parts that lie outside of the surface; and notes on parts that came or went."""
    count, part = face_parts(tets)
    volumes = np.bincount(part, tet_volumes(nodes, tets))
    whose, missed = _nearest_parts(nodes, tets, part, surface)
    crumb = (volumes < 1e-3 * volumes.sum()) & ~np.isin(np.arange(count), whose)
    keep = np.flatnonzero(~crumb)
    # a part belongs where its largest tetrahedra lie inside
    order = np.lexsort((-tet_volumes(nodes, tets), part))
    rank = np.arange(len(part)) - np.searchsorted(part[order], part[order])
    probes = order[(rank < 5) & np.isin(part[order], keep)][:5000]
    around = winding_numbers(nodes[tets[probes]].mean(axis=1), surface.vertices, surface.triangles)
    inside = np.bincount(part[probes], around, minlength=count) / np.maximum(
        np.bincount(part[probes], minlength=count), 1)
    belongs = ~crumb & (inside > 0.3)
    if not belongs.any():
        raise _Unusable("none of what it returned lies inside of the surface")
    notes = []
    if missed:
        notes.append(f"{missed} of {surface.parts} loose parts were too thin to be filled and follow their neighbours")
    return tets[belongs[part]], notes


def _came_apart(nodes: Vec, tets: Index, surface: Surface) -> tuple[int, int]:
    """How many connected parts of the surface are more than one piece of the volume, and how many pieces those are.

    What hangs together by an edge only turns about it, and counts as apart.
    """
    used, corners = np.unique(tets, return_inverse=True)
    near = _part_of_vertex(surface)[cKDTree(surface.vertices).query(nodes[used])[1]]
    piece = np.repeat(face_parts(tets)[1], 4)
    pieces = np.bincount(_favourites(piece, near[corners.ravel()]), minlength=surface.parts)
    return int((pieces > 1).sum()), int(pieces[pieces > 1].sum())


def _part_of_vertex(surface: Surface) -> Index:
    """The connected part of each vertex, (n,)."""
    part = np.zeros(len(surface.vertices), dtype=np.int32)
    part[surface.triangles.ravel()] = np.repeat(surface.part, 3)
    return part


def _favourites(voter: NDArray, choice: NDArray) -> NDArray:
    """What each voter, in order, has chosen most often."""
    pairs, votes = np.unique(np.stack([voter, choice], axis=1), axis=0, return_counts=True)
    best = pairs[np.lexsort((-votes, pairs[:, 0]))]
    favourites: NDArray = best[np.unique(best[:, 0], return_index=True)[1], 1]
    return favourites


def _nearest_parts(nodes: Vec, tets: Index, part: Index, surface: Surface) -> tuple[NDArray, int]:
    """For each loose part of the surface the part of the volume that most of its vertices are next to; and how many
    loose parts are nowhere near the volume."""
    owner = np.zeros(len(nodes), dtype=np.int64)
    owner[tets.ravel()] = np.repeat(part, 4)
    used = np.unique(tets)
    distance, at = cKDTree(nodes[used]).query(surface.vertices)
    part_of_vertex = _part_of_vertex(surface)
    whose = _favourites(part_of_vertex, owner[used[at]])
    closest = np.full(surface.parts, np.inf)
    np.minimum.at(closest, part_of_vertex, distance)
    corners = nodes[tets[:, :2]]
    edge = float(np.median(np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1)))
    return whose, int((closest > edge).sum())


def _check_volume(volume: float, surface: Surface) -> None:
    """Raises _Unusable where the tetrahedra fill much more or less than the surface encloses."""
    enclosed = surface.volume
    if not surface.open_edges and not surface.tangled_edges and 0.9 < volume / max(enclosed, 1e-30) < 1.1:
        return
    # it overlaps itself or is open: ask at points spread over the box which of them are inside
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    golden = np.array([0.8191725134, 0.6710436067, 0.5497004779])  # powers of 1/1.2207, Roberts' additive sequence
    points = low + (high - low) * ((0.5 + np.outer(np.arange(1, SAMPLES + 1), golden)) % 1.0)
    share = float((winding_numbers(points, surface.vertices, surface.triangles) > 0.5).mean())
    box = float(np.prod(high - low))
    enclosed, doubt = share * box, 3.0 * box * np.sqrt(max(share * (1.0 - share), 1.0 / SAMPLES) / SAMPLES)
    if not 0.7 * enclosed - doubt <= volume <= 1.4 * enclosed + doubt:
        raise _Unusable(f"what it filled is {volume / max(enclosed, 1e-30):.2f} times of what the surface encloses")
