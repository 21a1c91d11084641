"""fTetWild, a mesher of any surface: open, self-intersecting and dirty ones too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np

from ..errors import Environment
from ..state import Index, Vec
from .random_device import fix_random_device
from .surface import Surface, measure_enclosed_volumes

MOST_TRIANGLES = 15_000  #: fTetWild's own simplification takes minutes from about here
MOST_WHEN_QUICK = 3_000  #: triangles of what is played
MOST_ENVELOPE = 0.03  #: of the box diagonal; more would lose limbs
LOSES = 0.02  #: of the volume: a simplified surface that has lost or won more is not trusted
ENOUGH = 100.0  #: energy of the worst tetrahedron where time counts; a regular one has 3
FINER = 4.0  #: a surface with this many times the triangles that the tetrahedra will have is as good as a finer one


class TetWild:
    """A robust mesher within an envelope around the surface; on Linux the tetrahedra are the same each time."""

    in_child = True
    covers = False  #: whether cells stand out of the surface, which are to count by what is inside of it
    seconds: float | None = None  #: of the first try; None: from the number of tetrahedra

    def __init__(self) -> None:
        self._first_energy = 0.0
        self._fraction = 0.0

    def settings(self, surface: Surface, params: Mapping[str, float]) -> dict[str, float]:
        """Return the edge length and the envelope as fractions of the box diagonal, and limits of the optimisation.

        The envelope is a tenth of the edge, since the render mesh is embedded and needs no exact surface; on thin
        shapes a tenth of their thickness 2 V / A, so that both sides are separate. Raises Environment where pytetwild
        is not installed.
        """
        if find_spec("pytetwild") is None:
            raise Environment("fTetWild is not installed here", "Install the Python package pytetwild, make the volume "
                              "on a machine that has it, or use another mesher")
        edge = min((params["edge_length"] or surface.diagonal / 20.0) / surface.diagonal, 1.0)
        a, b, c = (surface.vertices[surface.triangles[:, i]] for i in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        needed = area / (0.43 * (edge * surface.diagonal / surface.scale) ** 2)
        thickness = 2.0 * abs(surface.volume) / area * surface.scale / surface.diagonal
        envelope = min(0.1 * edge, 0.1 * thickness) if thickness > 0.0 else 0.1 * edge
        return {"edge_length": edge, "envelope": float(np.clip(envelope, 2e-4, MOST_ENVELOPE)), "energy": 10.0,
                "passes": 80, "triangles": float(np.clip(FINER * needed, 3000, MOST_TRIANGLES))}

    def coarser(self, vertices: Vec, triangles: Index) -> tuple[Vec, Index]:
        """Return the surface unchanged: vertices (n, 3) and triangles (m, 3)."""
        return vertices, triangles

    def retry(self, settings: Mapping[str, float], slow: bool) -> dict[str, float]:
        """Return other settings after a try that was too slow (coarser) or failed (closer to the surface)."""
        if slow:
            return {**settings, "envelope": min(2.0 * settings["envelope"], MOST_ENVELOPE), "energy": 30.0,
                    "edge_length": min(1.3 * settings["edge_length"], 1.0), "passes": 20,
                    "triangles": 0.5 * settings["triangles"]}
        return {**settings, "envelope": max(0.4 * settings["envelope"], 1e-4), "energy": 20.0,
                "edge_length": 0.8 * settings["edge_length"]}

    def mesh(self, vertices: Vec, triangles: Index, settings: Mapping[str, float]) -> tuple[Vec, Index]:
        """Return nodes (k, 3) and tets (e, 4) in unit-box units, of either orientation. Runs in the child process,
        since fTetWild may crash or hang."""
        import pytetwild

        fix_random_device(pytetwild.PyfTetWildWrapper.__file__)
        if len(triangles) > settings["triangles"]:
            vertices, triangles = _simplify(vertices, triangles, settings)
        nodes, tets = pytetwild.tetrahedralize(
            np.ascontiguousarray(vertices, dtype=np.float64), np.ascontiguousarray(triangles, dtype=np.int32),
            edge_length_fac=settings["edge_length"], epsilon=settings["envelope"], stop_energy=settings["energy"],
            num_opt_iter=int(settings["passes"]), quiet=False, loglevel=6)
        return nodes, tets

    def progress(self, line: str) -> tuple[float | None, str] | None:
        """Return the progress in a line of fTetWild's output: fraction done, and words; None where it has none."""
        match = re.search(r"max_energy = ([\d.e+-]+)", line)
        if match and float(match[1]) > 0.0:
            energy = max(float(match[1]), 10.0)
            self._first_energy = max(self._first_energy, energy)
            done = 1.0 - np.log(energy / 10.0) / max(np.log(self._first_energy / 10.0), 1e-3)
            self._fraction = max(self._fraction, 0.95 * float(np.clip(done, 0.0, 1.0)))
            return self._fraction, f"fTetWild: worst tetrahedron {energy:.4g}, until 10"
        match = re.search(r"pass (\d+)", line)
        return (self._fraction or None, f"fTetWild: improving, pass {int(match[1]) + 1}") if match else None


class QuickTetWild(TetWild):
    """An fTetWild that stops as soon as no tetrahedron is a sliver, in a quarter of the time, for live play."""

    seconds = 5.0

    def settings(self, surface: Surface, params: Mapping[str, float]) -> dict[str, float]:
        """Return the settings of fTetWild for this surface, with an energy at which it stops early."""
        return {**super().settings(surface, params), "energy": ENOUGH}

    def coarser(self, vertices: Vec, triangles: Index) -> tuple[Vec, Index]:
        """Return the surface with about `MOST_WHEN_QUICK` triangles at most, vertices (n, 3) and triangles (m, 3): with
        60,000 it took half a minute to find near sheets and to check the tetrahedra against the surface."""
        if len(triangles) <= MOST_WHEN_QUICK:
            return vertices, triangles
        points, faces = np.array(vertices, dtype=np.float64), np.array(triangles, dtype=np.int32)  # may be read-only
        return _simplify(points, faces, {"triangles": MOST_WHEN_QUICK, "envelope": MOST_ENVELOPE})


def _simplify(vertices: Vec, triangles: Index, settings: Mapping[str, float]) -> tuple[Vec, Index]:
    """Return the surface with about as many triangles as the settings specify.

    Quadric edge collapse alone ruins surfaces with many slivers, such as the poles of a UV sphere of 100,000 triangles:
    two fifths of its volume are lost. There vertices that lie in one cell of the envelope's size are merged before.
    """
    import fast_simplification

    target, whole = int(settings["triangles"]), float(measure_enclosed_volumes(vertices, triangles).sum())

    def loss(surface: tuple[Vec, Index]) -> float:
        return abs(float(measure_enclosed_volumes(*surface).sum()) - whole)

    simple: tuple[Vec, Index] = fast_simplification.simplify(vertices, triangles, target_count=target)
    if loss(simple) <= LOSES * abs(whole):
        return simple
    cell = settings["envelope"] * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    merged = _merge(vertices, triangles, cell)
    again = fast_simplification.simplify(*merged, target_count=target) if len(merged[1]) > target else merged
    return min(simple, again, key=loss)


def _merge(vertices: Vec, triangles: Index, cell: float) -> tuple[Vec, Index]:
    """Return the surface with all vertices in one cell of a grid merged at their mean. cell: its edge, in the vertices'
    units."""
    at = np.floor((vertices - vertices.min(axis=0)) / cell).astype(np.int64)
    _, group, count = np.unique(at, axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    middle = np.stack([np.bincount(group, vertices[:, axis]) / count for axis in range(3)], axis=1)
    a, b, c = corners = group[triangles].T
    corners = corners[:, (a != b) & (b != c) & (c != a)].T
    first = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)[1]
    return middle, np.ascontiguousarray(corners[np.sort(first)], dtype=np.int32)
