"""EDGE and WIRE of Table 2.1 in all of their variants, and the strand of Fig. 2.2: who lets cloth slide, who stops it.

    python -m benchmarks.sharp_variants [edge | edge_held | edge_bent | wire | strand | strand_held | strand_bent]
        [--cells 32] [--picture FILE]

The square metre of cotton of `benchmarks.sharp_cloth`, pulled over an edge by what hangs there, without friction: that
of a box (EDGE), with 43 cm beyond it; the sharp one of a blade whose sides stand 10 degrees from upright (WIRE, which a
mesh that does not conform could not feel if it were a mere line), with 70 cm; and a strip of two cells' width on
the box. Lagrangian variants have the regular mesh, an irregular one, one remeshed to its bends (non-conformal), and one
that gets a vertex wherever it passes the edge at each step (conformal). On the edge they push along the mean of the
normals of both sides (Fig. 2.3e); the last conformal one along both, and its vertices stay (the cone of
Fig. 2.3d: it locks). EOL has the cone and lets cloth slide through its vertices. Printed: columns of the table, the
largest gap between edge and cloth, how deep the cloth is inside, and how far it runs over the edge, all since it hangs
and until EOL has to fly off: where its tension falls below λ v², in WIRE .40 s after it was let go, with .89 m on the
right at quarter steps (Atwood's machine, which begins to run at once, flies off with .881).

Each is let go lying flat, and falls round the edge. There the vertices of the cone leave the box's edge outwards, which
both of its rows allow, as what swings pulls them: it slows the cloth and does not lock it. Fig. 2.6 is of cloth that is
bent before it is pulled: with the cone "the cloth is again able to bend sharply, but as soon as we pull the cloth, it
locks". (The authors' published settings for a box hold two corners for .35 s before these pull.) So the held ones lie
flat too, but their far border is let go when the rest hangs. The bent ones begin with a line of vertices on the edge
and the rest hanging straight down; the irregular mesh has no such line, so it is not among them. Both have to lock, and
so has what folds further over the blade.

At 32 cells the meshes are as fine as the dissertation's. WIRE's regular mesh is pierced by the blade there, .2 s after
it was let go, as a line of its vertices comes by the edge parallel to it; at 16 and 20 cells it is not.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

import solver.parts.eol.solving as solving
from benchmarks.report import claim, emit
from benchmarks.sharp_cloth import EDGE, H, box, scene, solid, stages_clocked
from benchmarks.table_2_1 import PAPER
from solver.contact.find.features import Features
from solver.parts.eol.cloth import Cloth
from solver.parts.eol.cone import ROWS, Cone, OnFeatures, cone
from solver.parts.eol.obstacles import FeatureObstacles, ObstacleMotion
from solver.parts.eol.sliding_cloth import SlidingCloth
from solver.rows.tables import MOST, VertexRows
from solver.sheet.adapt import adapt
from solver.sheet.runs import Runs
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.transfer import world_velocities_at
from solver.state import Index, Mask, Vec

SAMPLES, WOBBLE, YMID, NEAR = 41, 0.3, 0.0131, 1e-9
CONE = "conf., cone"
BLADE, BLADE_AT = np.deg2rad(10.0), -0.2  #: of its sides from upright [rad], and its edge along X [m]
BEGUN = {(False, False): "", (True, False): ", begun bent", (False, True): ", held until it hangs"}
NAMES = ("reg.", "irreg.", "non-conf.", "conf.", CONE, "EOL")


def blade() -> FeatureObstacles:
    """A prism with one sharp edge along Y, at the origin, and sides that go down steeply from it."""
    half, deep = 1.2 * np.tan(BLADE), 1.2
    x = np.array([[a, y, z] for y in (-1.0, 1.0) for a, z in ((-half, -deep), (half, -deep), (0.0, 0.0))])
    return solid("Blade", x + [BLADE_AT, 0.0, 0.0], np.array(
        [[0, 1, 2], [5, 4, 3], [1, 0, 3], [1, 3, 4], [2, 1, 4], [2, 4, 5], [0, 2, 5], [0, 5, 3]], np.int32))


@dataclass(frozen=True)
class Scene:
    """A cloth over one edge along Y at height 0."""

    obstacles: Callable[[], FeatureObstacles]
    at: float  #: the edge's place along X [m]
    sides: Vec  #: outward normals of the side that the cloth runs from and of that which it runs to, (2, 3)
    across: int | None  #: cells of the cloth along the edge, None for as many as the other way
    margin: float  #: of it at either end, where it gets narrower and runs along the edge, as a share
    warm: int  #: steps before anything is measured
    steps: int  #: that are
    drawn: tuple[float, float]  #: what of it is drawn on the left of the edge, and above it [m]
    bent: bool = False  #: it begins bent, a line of its vertices on the edge and the rest along the second side
    pinned: bool = False  #: its border on the first side is, until it is measured
    locks: bool = True  #: with the cone of Fig. 2.6, as it hangs when it is let go

    @property
    def names(self) -> tuple[str, ...]:
        """Variants that there are of it."""
        return tuple(name for name in NAMES if not self.bent or name != "irreg.")

    def wide(self, cells: int) -> float:
        """The cloth [m]."""
        return 1.0 if self.across is None else self.across / cells


UP, OUT = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
STEEP = np.cos(BLADE) * np.stack([-OUT, OUT]) + np.sin(BLADE) * UP
SCENES = {
    "edge": Scene(box, EDGE, np.stack([UP, OUT]), None, 0.1, 20, 16, (0.17, 0.06), locks=False),
    "wire": Scene(blade, BLADE_AT, STEEP, None, 0.1, 20, 16, (0.14, 0.09)),
    "strand": Scene(box, EDGE, np.stack([UP, OUT]), 2, 0.1, 20, 16, (0.17, 0.06), locks=False),
}
SCENES |= {f"{name}_{begins}": replace(SCENES[name], warm=warm, steps=22, locks=True, **{field: True})
           for name in ("edge", "strand") for begins, field, warm in (("held", "pinned", 40), ("bent", "bent", 0))}


@dataclass
class Lagrangian(SlidingCloth):
    """Steps of cloth whose vertices keep their material."""

    conforms: bool = False
    stays: bool = False  #: vertices on the edge stay its own until they lift off, else they are found anew

    def _remesh(self, cloth: Cloth, now: ObstacleMotion, h: float) -> Cloth:
        if self.conforms:
            cloth = super()._remesh(cloth if self.stays else replace(cloth, mesh=_release(cloth.mesh)), now, h)
            mesh = cloth.mesh
            v, at = mesh.v.copy(), np.flatnonzero(mesh.on >= 0)
            v[at] = world_velocities_at(mesh, at)
            return replace(cloth, mesh=replace(mesh, v=v, slide=np.zeros_like(mesh.slide)))
        if self.sizing is None:
            return cloth
        runs = Runs(now.features)
        adapted = adapt(cloth.mesh, self.sizing, runs.points, runs.ends)
        return cloth.with_mesh(adapted.mesh, adapted.was) if adapted.changed else cloth

    @staticmethod
    def _off(cone_rows: Cone, moved: SheetMesh, h: float) -> Vec:
        """Nothing is put back onto the edge."""
        return np.zeros((len(cone_rows.vertices), 3))


def _release(mesh: SheetMesh) -> SheetMesh:
    return replace(mesh, on=np.full(len(mesh.on), -1, dtype=mesh.on.dtype))


def lagrangian_cone(averaged: bool) -> Any:
    """`cone` of vertices that do not slide. averaged: one row along the mean of the normals in place of one for each.
    """
    def rows_of(mesh: SheetMesh, features: Features, was_flat: Mask, h: float) -> Cone:
        found = cone(mesh, features, was_flat, h)
        at, x = found.vertices, mesh.x[found.vertices]
        normals = OnFeatures.of(x, mesh.on[at], features, np.zeros_like(x)).normals  # of sides: nothing is thin
        if averaged:
            mean = normals.sum(axis=1, keepdims=True)
            normals = mean / np.linalg.norm(mean, axis=2, keepdims=True)
        k, r = np.nonzero(np.einsum("kri,kri->kr", normals, normals) > 0.25)
        push, hold = np.zeros((len(k), MOST)), np.zeros((2 * len(at), MOST))
        push[:, :3] = normals[k, r]
        hold[np.arange(len(hold)), 3 + np.arange(len(hold)) % 2] = 1.0
        gap = np.einsum("ri,ri->r", normals[k, r], (x - found.positions)[k])
        both: Index = np.repeat(at, 2)
        key = ROWS * np.concatenate([at[k], both]).astype(np.int64) + np.concatenate([r, 8 + np.arange(len(both)) % 2])
        rows = VertexRows.hard(np.concatenate([at[k], both]).astype(np.int32), np.concatenate([push, hold]),
                               np.concatenate([-gap / h, np.zeros(len(both))]),
                               np.concatenate([np.zeros(len(k), bool), np.ones(len(both), bool)]), key)
        return replace(found, rows=rows)

    return rows_of


def variant(name: str, cells: int, which: Scene) -> tuple[SlidingCloth, Cloth]:
    """Steps and start of one row."""
    steps, cloth = scene(cells, True, which.obstacles(), which.wide(cells))
    mesh = bent(cloth.mesh, which) if which.bent else cloth.mesh
    far = mesh.x[:, 0] < (mesh.x[:, 0].min() + NEAR if which.pinned else -np.inf)
    at = mesh.x[far]
    steps.pins = lambda time: at
    mesh = replace(mesh, required=mesh.required | far)
    if name == "EOL":
        return steps, Cloth.at_rest(mesh, np.flatnonzero(far))
    if name == "irreg.":
        wobble = WOBBLE / cells * np.random.default_rng(1).uniform(-1.0, 1.0, mesh.material.shape)
        wobble[mesh.border] = 0.0
        mesh = SheetMesh.at_rest(mesh.x + np.pad(wobble, ((0, 0), (0, 1))), mesh.material + wobble, mesh.faces, far)
    conforms = name.startswith("conf.")
    made = Lagrangian(steps.sheet_properties, steps.gravity, steps.obstacles, steps.limits,
                      steps.sizing if conforms or name == "non-conf." else None, steps.pins, conforms=conforms,
                      stays=name == CONE)
    return made, Cloth.at_rest(mesh, np.flatnonzero(far))


def release_border(steps: SlidingCloth, cloth: Cloth) -> Cloth:
    """Without pins from now on."""
    steps.pins = lambda time: np.zeros((0, 3))
    return replace(cloth, pin=np.full_like(cloth.pin, -1))


def bent(mesh: SheetMesh, which: Scene) -> SheetMesh:
    """A flat regular cloth moved by less than a cell, so that a line of vertices is on the edge of a box, and hung from
    there: no side changes its length."""
    x = mesh.x.copy()
    x[:, 0] += which.at - x[np.abs(x[:, 0] - which.at).argmin(), 0]
    past = np.maximum(x[:, 0] - which.at, 0.0)
    x[:, 0], x[:, 2] = x[:, 0] - past, -past
    return replace(mesh, x=x)


def gap_at_edge(mesh: SheetMesh, which: Scene) -> float:
    """The largest distance of the edge to the cloth that lies over it [m]."""
    half = (0.5 - which.margin) * float(np.ptp(mesh.material[:, 1]))
    points = np.stack([np.full(SAMPLES, which.at), np.linspace(-half, half, SAMPLES), np.zeros(SAMPLES)], 1)
    corners = mesh.x[mesh.faces]
    near = np.flatnonzero(np.abs(corners - [which.at, 0.0, 0.0])[..., [0, 2]].max(axis=2).min(axis=1) < 0.15)
    least = np.full(SAMPLES, np.inf)
    for a, b, c in corners[near]:
        n = np.cross(b - a, c - a)
        n /= np.linalg.norm(n)
        inside, above = np.ones(SAMPLES, bool), np.abs((points - a) @ n)
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= (points - p) @ np.cross(n, q - p) >= 0.0
            t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
            least = np.minimum(least, np.linalg.norm(points - p - t[:, None] * (q - p), axis=1))
        least[inside] = np.minimum(least, above)[inside]
    return float(least.max())


def deepest(mesh: SheetMesh, which: Scene) -> float:
    """How deep the middles of edges and faces and the vertices are between both sides of the edge [m]."""
    corners = mesh.x[mesh.faces]
    points = np.concatenate([mesh.x, corners.mean(axis=1), *(0.5 * (corners[:, k] + corners[:, k - 1])
                                                             for k in range(3))])
    return float(((np.array([which.at, 0.0, 0.0]) - points) @ which.sides.T).min(axis=1).max(initial=0.0))


def run_over(mesh: SheetMesh, which: Scene) -> float:
    """How much of the cloth, in its middle, is beyond the plane that halves the edge [m]."""
    pieces, (first, second) = profile(mesh, YMID), which.sides[:, [0, 2]]
    beyond = (pieces - [which.at, 0.0]) @ (second - first)
    low, high = beyond.min(axis=1), beyond.max(axis=1)
    fraction = np.clip(high / np.maximum(high - low, 1e-12), 0.0, 1.0)
    return float((fraction * np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1)).sum())


def profile(mesh: SheetMesh, y: float) -> Vec:
    """Pieces of the cloth in the plane across the edge at y [m], (s, 2, 2): x and z of their ends."""
    corners, pieces = mesh.x[mesh.faces], []
    for one in corners[(corners[:, :, 1].min(axis=1) < y) & (corners[:, :, 1].max(axis=1) > y)]:
        ends = []
        for k in range(3):
            a, b = one[k], one[k - 2]
            if (a[1] - y) * (b[1] - y) < 0.0:
                t = (y - a[1]) / (b[1] - a[1])
                ends.append(((1.0 - t) * a + t * b)[[0, 2]])
        if len(ends) == 2:
            pieces.append(ends)
    return np.array(pieces).reshape(-1, 2, 2)


def measured(name: str, cells: int, which: Scene, spent: dict[str, float]) -> dict[str, Any]:
    """A row, and the profile at its end."""
    steps, cloth = variant(name, cells, which)
    original = solving.cone
    if name != "EOL":
        solving.cone = lagrangian_cone(name != CONE)
    times, gaps, faces, fraction, deep, began_at = list[float](), list[float](), 0, 0.0, 0.0, 0.0
    try:
        with stages_clocked(steps, spent):
            for k in range(which.warm + which.steps):
                if k == which.warm:
                    spent.update(dict.fromkeys(spent, 0.0))
                    cloth = release_border(steps, cloth)
                    began_at = run_over(cloth.mesh, which)
                began = time.thread_time()
                cloth = steps.step(cloth, k * H, H)
                if k >= which.warm:
                    times.append(time.thread_time() - began)
                    gaps.append(gap_at_edge(cloth.mesh, which))
                    deep = max(deep, deepest(cloth.mesh, which))
                    faces = max(faces, len(cloth.mesh.faces))
                    fraction = max(fraction, float(((cloth.mesh.on >= 0) & ~cloth.free).mean()))
    finally:
        solving.cone = original
    whole = sum(times)
    return {"faces": faces, "sliding_%": round(100 * fraction, 1) if name == "EOL" else None,
            "ms": round(1e3 * statistics.median(times), 2),
            **{f"{key}_%": round(100 * value / whole, 1) for key, value in spent.items()}, "gap_m": max(gaps),
            "deep_m": deep, "runs_m": run_over(cloth.mesh, which) - began_at, "profile": profile(cloth.mesh, YMID)}


def _mm(length: float) -> str:
    """Millimetres of a length [m]; less than a micrometre is none."""
    return f"{round(1e3 * length, 3):.2g} mm"


def draw(rows: dict[str, dict[str, Any]], scene: str, path: Path) -> None:
    """Cross-sections of all variants of a scene at the same time, and the gap under each."""
    from matplotlib.figure import Figure

    which = SCENES[scene]
    figure = Figure(figsize=(11.0, 7.0), layout="constrained")
    figure.suptitle(scene.partition("_")[0].upper() + BEGUN[which.bent, which.pinned], fontsize=14)
    axes = figure.subplots(2, 3)
    left, above = which.drawn
    down = np.stack([which.sides[:, 2], -which.sides[:, 0]], axis=1)  # along the sides, away from the edge
    down *= np.where(down @ which.sides.mean(axis=0)[[0, 2]] > 0.0, -1.0, 1.0)[:, None]
    solid_part = np.array([which.at, 0.0]) + np.stack([down[0], np.zeros(2), down[1], down.sum(axis=0)])
    for axis in axes.ravel()[len(rows):]:
        axis.set_axis_off()
    for axis, (name, row) in zip(axes.ravel(), rows.items()):
        axis.fill(*solid_part.T, color="#d8cfc0")
        for piece in row["profile"]:
            axis.plot(piece[:, 0], piece[:, 1], "-", color="#a01828", linewidth=1.6)
        axis.plot(row["profile"][..., 0].ravel(), row["profile"][..., 1].ravel(), ".", color="#501018", markersize=4)
        axis.set(xlim=(which.at - left, which.at + 0.3 - left), ylim=(above - 0.22, above), aspect="equal", xticks=[],
                 yticks=[], title=f"{name}: gap {_mm(row['gap_m'])}, {_mm(row['deep_m'])} deep\n"
                                  f"has run {100 * row['runs_m']:.1f} cm")
        axis.title.set_fontsize(10)
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scene", nargs="?", choices=SCENES, default="edge")
    parser.add_argument("--cells", type=int, default=32)
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    threads.configure(1)
    which = SCENES[chosen.scene]
    rows = {name: measured(name, chosen.cells, which, dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))
            for name in which.names}
    if chosen.picture:
        draw(rows, chosen.scene, chosen.picture)
    for name, row in rows.items():
        row["paper_faces"], row["paper_ms"] = PAPER.get(f"{chosen.scene.upper()} ({name})", (None, None))
        del row["profile"]
    runs = rows[CONE]["runs_m"] / rows["EOL"]["runs_m"]
    emit(f"sharp_variants.{chosen.scene}",
         [claim("edge_gap_eol", rows["EOL"]["gap_m"], "m", "<= 1e-6"),
          claim("edge_gap_conformal", rows["conf."]["gap_m"], "m", "> 1e-4", "lifts off"),
          *([claim("cone_runs", runs, "of what EOL runs", "<= 0.1", "locks")] if which.locks else [])],
         {"steps": rows, "step": H, "cells": chosen.cells, "cone_runs_of_eol": runs})


if __name__ == "__main__":
    main()
