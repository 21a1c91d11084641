"""EDGE of Table 2.1 in all of its variants: what each makes of a cloth that slides over the edge of a box.

    python -m benchmarks.sharp_variants [--cells 20] [--picture FILE]

The same square metre of cotton as in `benchmarks.sharp_cloth`, pulled over the edge by what hangs there, without
friction. Lagrangian variants have the regular mesh, an irregular one, one remeshed to its bends (non-conformal), and
one that gets a vertex wherever it passes the edge at each step (conformal). On the edge they push along the mean of the
box' normals (Fig. 2.3e), the conformal one along both as well (the cone of Fig. 2.3d, which holds it back); EOL has the
cone and lets the cloth slide through its vertices. Printed: columns of the table, the largest gap between edge and
cloth, how deep the cloth is in the box, and how far it has run over the edge.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

import solver.parts.eol.sliding_cloth as stepping
from benchmarks.report import claim, emit
from benchmarks.sharp_cloth import EDGE, PAPER, H, scene, stages_clocked
from solver.contact.find.features import Features
from solver.linear.constrained.rows import MOST, VertexRows
from solver.parts.eol.cone import ROWS, Cone, Standing, cone
from solver.parts.eol.sliding_cloth import Cloth, SlidingCloth
from solver.parts.eol.things import Moment
from solver.sheet.adapt import adapt
from solver.sheet.runs import Runs
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.transfer import world_velocities_at
from solver.state import Index, Mask, Vec

WARM, STEPS, SAMPLES, WOBBLE = 12, 24, 41, 0.3
MARGIN = 0.1  #: of the edge at each end of the cloth, which gets narrower there and runs along it [m]
#: of the dissertation: faces and milliseconds of a step
ROWS_OF_PAPER = {"reg.": (2116, 436.2), "irreg.": (2000, 589.2), "non-conf.": (2521, 638.9), "conf.": (2622, 729.6),
                 "conf., cone": (None, None), "EOL": PAPER["EDGE (EOL)"]}


@dataclass
class Lagrangian(SlidingCloth):
    """Steps of cloth whose vertices keep their material."""

    conforms: bool = False

    def _remeshed(self, cloth: Cloth, now: Moment, h: float) -> Cloth:
        if self.conforms:
            cloth = super()._remeshed(replace(cloth, mesh=_let_go(cloth.mesh)), now, h)
            mesh = cloth.mesh
            v, at = mesh.v.copy(), np.flatnonzero(mesh.on >= 0)
            v[at] = world_velocities_at(mesh, at)
            return replace(cloth, mesh=replace(mesh, v=v, slide=np.zeros_like(mesh.slide)))
        if self.sizing is None:
            return cloth
        runs = Runs(now.features)
        adapted = adapt(cloth.mesh, self.sizing, runs.points, runs.ends)
        return cloth.moved(adapted.mesh, adapted.was) if adapted.changed else cloth

    @staticmethod
    def _off(cone_rows: Cone, moved: SheetMesh, h: float) -> Vec:
        """Nothing is put back onto the edge."""
        return np.zeros((len(cone_rows.vertices), 3))


def _let_go(mesh: SheetMesh) -> SheetMesh:
    return replace(mesh, on=np.full(len(mesh.on), -1, dtype=mesh.on.dtype))


def lagrangian_cone(averaged: bool) -> Any:
    """`cone` of vertices that do not slide. averaged: one row along the mean of the normals in place of one for each.
    """
    def rows_of(mesh: SheetMesh, features: Features, was_flat: Mask, h: float) -> Cone:
        found = cone(mesh, features, was_flat, h)
        at, x = found.vertices, mesh.x[found.vertices]
        normals = Standing.of(x, mesh.on[at], features, np.zeros_like(x)).normals
        if averaged:
            mean = normals.sum(axis=1, keepdims=True)
            normals = mean / np.linalg.norm(mean, axis=2, keepdims=True)
        k, r = np.nonzero(np.einsum("kri,kri->kr", normals, normals) > 0.25)
        push, hold = np.zeros((len(k), MOST)), np.zeros((2 * len(at), MOST))
        push[:, :3] = normals[k, r]
        hold[np.arange(len(hold)), 3 + np.arange(len(hold)) % 2] = 1.0
        gap = np.einsum("ri,ri->r", normals[k, r], (x - found.places)[k])
        both: Index = np.repeat(at, 2)
        key = ROWS * np.concatenate([at[k], both]).astype(np.int64) + np.concatenate([r, 8 + np.arange(len(both)) % 2])
        rows = VertexRows(np.concatenate([at[k], both]).astype(np.int32), np.concatenate([push, hold]),
                          np.concatenate([-gap / h, np.zeros(len(both))]),
                          np.concatenate([np.zeros(len(k), bool), np.ones(len(both), bool)]), key)
        return replace(found, rows=rows)

    return rows_of


def variant(name: str, cells: int) -> tuple[SlidingCloth, Cloth]:
    """Steps and start of one row."""
    steps, cloth = scene(cells, True)
    if name == "EOL":
        return steps, cloth
    mesh = cloth.mesh
    if name == "irreg.":
        wobble = WOBBLE / cells * np.random.default_rng(1).uniform(-1.0, 1.0, mesh.material.shape)
        wobble[mesh.border] = 0.0
        mesh = SheetMesh.at_rest(mesh.x + np.pad(wobble, ((0, 0), (0, 1))), mesh.material + wobble, mesh.faces)
    conforms = name.startswith("conf.")
    made = Lagrangian(steps.fabric, steps.gravity, steps.things, steps.limits,
                      steps.sizing if conforms or name == "non-conf." else None, steps.pins, conforms=conforms)
    return made, Cloth.at_rest(mesh, np.zeros(0, int))


def gap_at_edge(mesh: SheetMesh) -> float:
    """The largest distance of the box' edge to the cloth that lies over it [m]."""
    points = np.stack([np.full(SAMPLES, EDGE), np.linspace(MARGIN - 0.5, 0.5 - MARGIN, SAMPLES), np.zeros(SAMPLES)], 1)
    corners = mesh.x[mesh.faces]
    near = np.flatnonzero(np.abs(corners - [EDGE, 0.0, 0.0])[..., [0, 2]].max(axis=2).min(axis=1) < 0.15)
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


def deepest(mesh: SheetMesh) -> float:
    """How deep the middles of edges and faces and the vertices are in the box [m]."""
    corners = mesh.x[mesh.faces]
    points = np.concatenate([mesh.x, corners.mean(axis=1), *(0.5 * (corners[:, k] + corners[:, k - 1])
                                                             for k in range(3))])
    return float(np.minimum(EDGE - points[:, 0], -points[:, 2]).max(initial=0.0))


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


def measured(name: str, cells: int, spent: dict[str, float]) -> dict[str, Any]:
    """A row, and the profile at its end."""
    steps, cloth = variant(name, cells)
    kept = stepping.cone
    if name != "EOL":
        stepping.cone = lagrangian_cone(name != "conf., cone")
    times, gaps, faces, share, deep = list[float](), list[float](), 0, 0.0, 0.0
    try:
        with stages_clocked(steps, spent):
            for k in range(WARM + STEPS):
                if k == WARM:
                    spent.update(dict.fromkeys(spent, 0.0))
                began = time.thread_time()
                cloth = steps.step(cloth, k * H, H)
                if k >= WARM:
                    times.append(time.thread_time() - began)
                    gaps.append(gap_at_edge(cloth.mesh))
                    deep = max(deep, deepest(cloth.mesh))
                    faces = max(faces, len(cloth.mesh.faces))
                    share = max(share, float(((cloth.mesh.on >= 0) & ~cloth.free).mean()))
    finally:
        stepping.cone = kept
    whole, (paper_faces, paper_ms) = sum(times), ROWS_OF_PAPER[name]
    return {"faces": faces, "sliding_%": round(100 * share, 1) if name == "EOL" else None,
            "ms": round(1e3 * statistics.median(times), 2),
            **{f"{key}_%": round(100 * value / whole, 1) for key, value in spent.items()}, "gap_m": max(gaps),
            "deep_m": deep, "runs_m": -float(cloth.mesh.x[:, 2].min()), "paper_faces": paper_faces,
            "paper_ms": paper_ms, "profile": profile(cloth.mesh, 0.0131)}


def draw(rows: dict[str, dict[str, Any]], path: Path) -> None:
    """Cross-sections of all variants at the same time, and the gap under each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 6.6), layout="constrained")
    axes = figure.subplots(2, 3)
    for axis, (name, row) in zip(axes.ravel(), rows.items()):
        axis.fill([-0.16, EDGE, EDGE, -0.16], [-0.2, -0.2, 0.0, 0.0], color="#d8cfc0")
        for piece in row["profile"]:
            axis.plot(piece[:, 0], piece[:, 1], "-", color="#a01828", linewidth=1.6)
        axis.plot(row["profile"][..., 0].ravel(), row["profile"][..., 1].ravel(), ".", color="#501018", markersize=4)
        axis.set(xlim=(-0.1, 0.2), ylim=(-0.16, 0.06), aspect="equal", xticks=[], yticks=[],
                 title=f"{name}: gap {1e3 * row['gap_m']:.2g} mm, {1e3 * row['deep_m']:.2g} mm deep\n"
                       f"{100 * row['runs_m']:.0f} cm over the edge")
        axis.title.set_fontsize(10)
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    threads.configure(1)
    rows = {name: measured(name, chosen.cells, dict.fromkeys(("detect", "remesh", "fill", "program"), 0.0))
            for name in ROWS_OF_PAPER}
    if chosen.picture:
        draw(rows, chosen.picture)
    for row in rows.values():
        del row["profile"]
    emit("sharp_variants", [claim("edge_gap_eol", rows["EOL"]["gap_m"], "m", "<= 1e-6"),
                            claim("edge_gap_conformal", rows["conf."]["gap_m"], "m", "> 1e-4", "lifts off")],
         {"steps": rows, "step": H, "cells": chosen.cells})


if __name__ == "__main__":
    main()
