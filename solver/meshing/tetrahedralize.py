"""From an artist's surface to tetrahedra that are fit for simulation, or an error with the reason and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..errors import BadMesh, ConJacError, MesherFailed
from ..job.body_size import estimate_tets
from .accepted import Filled, Unusable, accept_mesh
from .child import ChildFailed, ChildTooSlow, Report, TimedReport, run_mesher
from .parting import Parted, part_sheets
from .sheets import find_sheets, thicken
from .surface import Surface, clean
from .volume import Volume

__all__ = ["Volume", "fillable", "tetrahedralize"]

MOST_TETS = 5e6  #: that an edge length may give
EDGE_FRACTION = 0.05  #: of the box diagonal: the edge length where none is given
SECONDS, SECONDS_PER_TET, MOST_SECONDS = 45.0, 0.003, 600.0  #: of the first try: twice what clean meshes take
CLEARANCE = 3.0  #: of the envelope: sheets with less between them would be meshed as one
LAST_TRY = 0.6  #: time of the last try, of that of the first
QUICKEST = 0.002  #: seconds a tetrahedron of clean meshes
FEWEST = 30  #: tetrahedra of a loose part
MANY_PARTS = 100  #: loose parts from which on they are what takes long
UNSURE = 1.3  #: times the time that there is: so long it may seem to take
MOSTLY = 0.8  #: of the area: where more than this encloses nothing, filling the rest is not what was meant


def tetrahedralize(vertices: NDArray, triangles: NDArray, mesher_key: str, params: Mapping[str, float], *,
                   name: str, report: Report | None = None, seconds: float | None = None) -> Volume:
    """Return tetrahedra that fill a surface.

    vertices: (n, 3) [m]; triangles: (m, 3); mesher_key: of catalogue family "mesher"; params: its parameters, by
    default those of the catalogue; name: of the object, for errors. report: called a few times a second with the
    fraction that is done, or None, and words; an exception that it raises stops the mesher. seconds: time limit of the
    first of two tries; None: from the number of tetrahedra. Raises BadMesh where no volume can come of this surface,
    MesherFailed where the mesher crashed or was too slow twice, Environment where it is not installed.
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
        vertices, triangles = mesher.coarser(vertices, triangles)
        surface, notes = fillable(vertices, triangles, name, values["sheet_thickness"])
        _refuse_too_many(surface, values)
        settings = mesher.settings(surface, values)
        separated = _separate_sheets(surface, settings)
        volume = separated.back(_in_two_tries(mesher, entry.label, separated.surface, settings, say,
                                          _time_for(surface, values, seconds or mesher.seconds)))
        return replace(volume, notes=(*notes, *volume.notes))
    except ConJacError as error:
        error.object = error.object or name
        raise


def _separate_sheets(surface: Surface, settings: Mapping[str, float]) -> Parted:
    """Return the surface with room for the mesher's envelope between its sheets."""
    return part_sheets(surface, CLEARANCE * settings.get("envelope", 0.0) * surface.diagonal / surface.scale)


def fillable(vertices: NDArray, triangles: NDArray, name: str, thickness: float) -> tuple[Surface, list[str]]:
    """Return the surface that is to be filled, and notes: without parts that enclose nothing, or with these thickened.
    vertices: (n, 3) [m]. triangles: (m, 3). thickness: of such parts [m]; 0: they are removed.

    Raises BadMesh where hardly anything remains.
    """
    surface = clean(vertices, triangles, name, flat=thickness > 0.0)
    sheets = find_sheets(surface)
    count = int(sheets.parts.sum())
    if not count:
        return clean(vertices, triangles, name) if thickness > 0.0 else surface, []
    positions, solid = surface.vertices * surface.scale + surface.centre, surface.triangles[~sheets.triangles]
    what = "an open sheet that encloses" if count == 1 else f"{count} open sheets or loose faces that enclose"
    if thickness > 0.0:
        plates, around = thicken(positions, surface.triangles[sheets.triangles], thickness)
        whole = clean(np.concatenate([positions, plates]), np.concatenate([solid, around + len(positions)]), name)
        return whole, [f"The mesh has {what} nothing: thickened to {thickness:.3g} m"]
    if sheets.fraction > MOSTLY:
        raise BadMesh(f"the mesh is {what} no volume",
                      f"Set its Sheet Thickness, such as {0.5 * EDGE_FRACTION * surface.diagonal:.2g} m, "
                      "or close it or add a Solidify modifier", where="mesher.params.sheet_thickness")
    return (clean(positions, solid, name),
            [f"The mesh has {what} nothing: not filled, so it follows the tetrahedra next to it. Set Sheet "
             "Thickness to fill it"])


@dataclass(frozen=True)
class _Time:
    """Time limit of a surface's meshing, and number of its tetrahedra."""

    seconds: float  #: limit of the first try
    tets: int  #: least number of tetrahedra
    is_enough: bool  #: whether these may be made in that time

    @property
    def tries(self) -> list[tuple[float, str]]:
        """Return the time limits of all tries [s], and their names."""
        last = LAST_TRY * self.seconds
        return [(self.seconds, "first try"), (last, "last try")] if self.is_enough else [(last, "coarser")]


def _time_for(surface: Surface, params: Mapping[str, float], seconds: float | None = None) -> _Time:
    """Return the time limit and size of a surface's meshing. seconds: of the first try; None: from the number of
    tetrahedra."""
    expected, needed = estimate_tets(surface.vertices * surface.scale, surface.triangles,
                                     {"edge_length": params.get("edge_length", 0.0)})
    needed = max(needed, FEWEST * surface.parts)
    usual = min(SECONDS + SECONDS_PER_TET * expected, MOST_SECONDS)
    return _Time(seconds or usual, needed, QUICKEST * needed < UNSURE * usual)


def _in_two_tries(mesher: Any, label: str, surface: Surface, settings: Mapping[str, float], report: Report,
                  time: _Time) -> Volume:
    """Return the volume from a child process; after a failure, or where parts came apart, of a second try at other
    settings. Raises MesherFailed or BadMesh where both fail."""
    failures: list[Exception] = []
    notes: list[str] = []
    fragmented: Filled | None = None
    if not time.is_enough:
        settings = mesher.retry(settings, True)
        notes = [f"{label} made coarser tetrahedra than asked for: some {time.tets} would have taken too long"]
        report(None, f"{label}: some {time.tets} tetrahedra would take too long; trying coarser ones")
    for seconds, which in time.tries:
        spent: list[float] = []
        try:
            nodes, tets = run_mesher(mesher, surface.vertices, surface.triangles, settings, seconds,
                                     _time_report(report, seconds, which, spent))
            filled = accept_mesh(nodes, tets, surface)
        except (ChildFailed, Unusable) as failure:
            if fragmented is not None:
                break
            slow = isinstance(failure, ChildTooSlow)
            failures.append(failure)
            if which != "first try":
                break
            settings = mesher.retry(settings, slow)
            coarser = ", and its tetrahedra are coarser than asked for" if slow else ""
            notes = [f"{label} was run twice, since at first {failure}{coarser}"]
            report(None, f"{label}: {failure}; trying other settings")
            continue
        if fragmented is not None and fragmented.after <= filled.after:
            break
        if not filled.after or which != "first try" or spent[-1] > 0.5 * seconds:
            return replace(filled.volume, notes=(*filled.notes, *notes))
        fragmented, settings = filled, mesher.retry(settings, False)
        report(None, f"{label}: thin parts were lost; trying closer to the surface")
    if fragmented is not None:
        return replace(fragmented.volume, notes=fragmented.notes)
    last = failures[-1]
    if isinstance(last, ChildTooSlow):
        what = f"{failures[0]}, nor coarser" if len(failures) > 1 else f"even coarser {last}"
        raise MesherFailed(f"{label} could not mesh it: {what}; {_looks(surface)}", _remedy(surface, time)) from last
    if isinstance(last, ChildFailed):
        raise MesherFailed(f"{label} could not mesh it: {last}; {_looks(surface)}",
                           _remedy(surface, time) if surface.parts > MANY_PARTS else
                           "Repair the mesh (a Remesh modifier often helps) or use another mesher") from last
    raise BadMesh(f"{label} could not fill it: {last}; {_looks(surface)}",
                  _remedy(surface, time) if surface.parts > MANY_PARTS else
                  "Make the mesh closed and thicker, for instance with a Remesh or Solidify modifier") from last


def _time_report(report: Report, seconds: float, which: str, spent: list[float]) -> TimedReport:
    """Return a report that includes the time of this try, ten times. seconds: its limit [s]. spent: receives the time
    so far [s]."""
    def timed(done: float | None, words: str, had: float) -> None:
        spent[:] = [had]
        shown = int(10 * had / seconds) * seconds / 10
        report(done, f"{words or 'Filling'} ({shown:.0f} s of at most {seconds:.0f} s, {which})" if shown else words)

    return timed


def _remedy(surface: Surface, time: _Time) -> str:
    """Return a remedy where meshing takes too long."""
    if surface.parts > MANY_PARTS:
        return "Delete its small loose parts or join them, for instance with a Remesh modifier"
    if not time.is_enough:
        return "Make it thicker, for instance with a Solidify modifier, or divide it into smaller objects"
    return "Use a larger edge length or a simpler mesh, such as a Remesh modifier makes"


def _looks(surface: Surface) -> str:
    """Return a phrase with the size of a surface that could not be meshed: parts, triangles, thickness and extent."""
    parts = f"{surface.parts} loose parts" if surface.parts > 1 else "one part"
    a, b, c = (surface.vertices[surface.triangles[:, i]] for i in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    thickness = 2.0 * abs(surface.volume) / area * surface.scale
    return (f"it has {parts}, {len(surface.triangles)} triangles and is about {thickness:.2g} m thick, "
            f"{surface.diagonal:.2g} m across")


def _estimate_tets(surface: Surface, params: Mapping[str, float]) -> float:
    """Return the approximate number of tetrahedra of the edge length that fill the surface."""
    edge = params.get("edge_length", 0.0) or EDGE_FRACTION * surface.diagonal
    return abs(surface.volume) * surface.scale**3 * 6.0 * float(np.sqrt(2.0)) / edge**3


def _refuse_too_many(surface: Surface, params: Mapping[str, float]) -> None:
    """Raise BadMesh where the edge length results in more than `MOST_TETS` tetrahedra."""
    expected = _estimate_tets(surface, params)
    if expected > MOST_TETS:
        raise BadMesh(f"an edge length of {params['edge_length']:.3g} m gives about {expected:.1e} tetrahedra",
                      "Make the edge length larger", where="mesher.params.edge_length")
