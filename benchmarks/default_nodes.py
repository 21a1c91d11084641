"""Measure the number of nodes of a new soft body and its error relative to a much finer mesh: ten shapes.

    python -m benchmarks.default_nodes wobbles
    python -m benchmarks.default_nodes bounces --only cube,ball
    python -m benchmarks.default_nodes wobbles --shares 0.9,0.6,0.45,0.3      of 2 V / A

The add-on's operator makes each mesh a soft body, which is gathered as for a bake, with default settings. Compared are
its five slowest free wobbles and the sag of its middle when pinned at its foot or resting on its support, on its own
mesh and on one with edges `FINE` times as long. Dropped on the ground from two heights, it bounces up by a share of its
fall; the reference has edges `FINER` times as long, since a bounce takes longer to compute.

`default_error` is the worst relative error of a frequency, `sag_error` that of a sag, part of which is due to the mesh
at the border of the painted region, `bounce_error` that of the mean bounce, and `default_nodes` the number of nodes of
a new cube of 40 cm.

Compact shapes are within 3 %: cube, ball, cylinder, goblet. Thin ones are not, as linear tetrahedra resist bending
across a thickness of one or two of them, by about the square of the edge over the thickness. Shapes that are thin
everywhere (fork, slab) have edges according to their thickness within some 2,000 nodes
(`conjac_addon/operators/fineness.py`) and are .11 off a mesh of 13,000 to 14,000; with edges of a twentieth of the box
they had 500 and 700 nodes and were .33 and .32 off. The error is near .05 from about 6,000 nodes on: fork and slab that
land on the ground then take 5.2 and 7.2 s of processor a frame, 2.6 and 1.6 s by default and .4 s on a twentieth of the
box, as a cube does; *Edge Length* or *Best* selects it. Shapes that were not used for tuning, relative to 14,000 nodes:
a table was .39 off and is .15, a vase with thin walls .56 and .25, a hook of a bent bar .41 and .12.

Where a fork lands, the limit on deformation cuts its steps down to 1/768 s, 19 to 29 of them a frame. Friction of the
ground takes two thirds of the time, since it is solved after each stage: a factor of its own, as expensive as the
stage's, and fourteen solves. Stages with contact between surfaces include that friction; the same for stages on the
ground alone could save most of it and has not been tried.

Bodies with a thick core and thin parts (ears, Suzanne's) have edges of a twentieth of the box, as before: edges that
fit the thin parts would fill the core too, with five times the nodes. Locally shorter edges remain to be done:
fTetWild has a field of lengths, which its Python package does not offer. Quadratic tetrahedra would need no more nodes
and are not implemented.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from solver import threads  # isort: skip  # before numpy: it sets what numba and BLAS read

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from benchmarks import half_life_band, landings
from benchmarks.half_life_band import RIGID, Surface, block, boxes, lathed, made, world_of
from benchmarks.report import claim, emit
from examples_blend import addon
from solver.nonlinear.equilibrium import equilibrium
from solver.parts.nodes.full import Full
from solver.world.nodes import Nodes

STEP, SLOWEST, HEIGHTS = 1 / 48, 5, (0.5175, 0.5675)  #: [s], how many wobbles, [m]
FINE, FINER = 0.5, 0.7


def cylinder() -> Surface:
    return lathed([(0.1, z) for z in np.linspace(0.0, 0.3, 7)], 20, False)


Pinned = Callable[[np.ndarray], np.ndarray]
FOOT: Pinned = lambda at: at[:, 2] < 0.12  # noqa: E731
SHAPES: dict[str, tuple[Callable[[], Surface], Pinned]] = {
    "cube": (lambda: boxes(block(5, 5, 5), 0.08), FOOT), "ball": (landings.ball, FOOT),
    "cylinder": (cylinder, FOOT), "suzanne": (landings.suzanne, FOOT),
    **{name: (half_life_band.SHAPES[name][0], half_life_band.SHAPES[name][1] or FOOT)
       for name in ("torus", "ell", "ears", "fork", "goblet", "slab")}}


def sag(world: Nodes) -> float:
    """How far its middle has sunk where it hangs [m]."""
    x = equilibrium(world, world.rest, 0.0, world.coordinates.free, world.tets, type(world.linear)(), tolerance=1e-7)
    return float(world.mass @ (world.rest - x)[:, 2] / world.mass.sum())


def slowest(world: Nodes) -> np.ndarray:
    """Its slowest wobbles [Hz]."""
    x, free, whole = world.rest, world.coordinates.free, world.condensation
    assert isinstance(whole, Full)
    lin = world.linearise_at(x, None, 0.0, False)
    whole.pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(x)))
    lower = whole.pattern.matrix()
    rows = (3 * whole.pattern.position[free][:, None] + np.arange(3)).ravel()
    stiffness = (lower + sp.tril(lower, -1).T).tocsr()[rows][:, rows].tocsc()
    squares = sla.eigsh(stiffness, k=SLOWEST + 8, M=sp.diags(np.repeat(world.mass[free], 3)).tocsc(), sigma=-1.0,
                        v0=np.cos(np.arange(len(rows), dtype=float)), return_eigenvectors=False)
    squares = np.sort(squares[squares > RIGID * squares.max()])[:SLOWEST]
    return np.asarray(np.sqrt(squares) / (2.0 * np.pi))


def wobbling(obj: bpy.types.Object, edge: float) -> dict[str, Any]:
    """Return the frequencies of the body on edges so long [m]; 0: as a new one has it."""
    world = world_of(obj, STEP, **({"edge_length": edge} if edge else {}))
    return {"nodes": int(np.count_nonzero(world.mass)), "hertz": slowest(world).round(4).tolist()}


def off(own: dict[str, Any], true: dict[str, Any]) -> float:
    return float(np.abs(np.divide(own["hertz"], true["hertz"]) - 1.0).max())


def bounce(name: str, height: float, folder: Path, edge: float) -> float:
    """How far it comes up again, as a share of its fall. edge: of its mesh [m]; 0: as a new one has it."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, landings.FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}_{height:.4f}_{edge:.4f}.blend"))
    obj = landings.added(name, SHAPES[name][0](), height)
    bpy.ops.conjac.add_soft_body()
    if edge:
        obj.conjac.edge_length = edge
    with landings.quiet():
        if bpy.ops.conjac.bake() != {"FINISHED"}:
            raise RuntimeError(f"{name} from {height} m is not baked")
    middles = np.array([landings.middle(obj, frame) for frame in range(1, landings.FRAMES + 1)])
    ways = np.diff(middles)
    lowest = int(np.argmax((ways[:-1] < 0) & (ways[1:] > 0))) + 1
    return float((middles[lowest:lowest + landings.AFTER].max() - (middles[0] - height)) / height)


def thickness(obj: bpy.types.Object) -> float:
    """2 V / A [m]."""
    obj.data.calc_loop_triangles()
    at = np.array([one.co[:] for one in obj.data.vertices])
    a, b, c = np.moveaxis(at[np.array([one.vertices[:] for one in obj.data.loop_triangles])], 1, 0)
    normals = np.cross(b - a, c - a)
    return float(2.0 * abs(np.vdot(a, normals)) / 6.0 / (0.5 * np.linalg.norm(normals, axis=1).sum()))


def wobbles(name: str, fractions: list[float]) -> dict[str, Any]:
    """A row of the shape."""
    surface, pinned = SHAPES[name]
    half_life_band.SHAPES[name] = surface, None
    obj = made(name)
    if fractions:
        row = {f"{fraction:g}": wobbling(obj, fraction * thickness(obj)) for fraction in [0.0, *fractions]}
        finest = row[f"{fractions[-1]:g}"]
        for one in row.values():
            one["off"] = round(off(one, finest), 4)
        return row
    edge = obj.conjac.edge_length or what_0_picks(obj)
    own, true = wobbling(obj, 0.0), wobbling(obj, FINE * edge)
    half_life_band.SHAPES[name] = surface, pinned
    obj = made(name)
    sunk, sunk_fine = (sag(world_of(obj, STEP, edge_length=one)) for one in (obj.conjac.edge_length, FINE * edge))
    return {"nodes": own["nodes"], "nodes_fine": true["nodes"], "edge_m": round(edge, 5),
            "off": round(off(own, true), 4), "hertz": own["hertz"], "hertz_fine": true["hertz"],
            "sunk_mm": round(1e3 * sunk, 3), "sunk_fine_mm": round(1e3 * sunk_fine, 3),
            "sag_off": round(abs(sunk / sunk_fine - 1.0), 4)}


def bounces(name: str, folder: Path) -> dict[str, Any]:
    """A row of the shape."""
    half_life_band.SHAPES[name] = SHAPES[name][0], None
    obj = made(name)
    edge = obj.conjac.edge_length or what_0_picks(obj)
    mean, fine = (float(np.mean([bounce(name, height, folder, one) for height in HEIGHTS]))
                  for one in (0.0, FINER * edge))
    return {"bounce": round(mean, 4), "bounce_fine": round(fine, 4), "bounce_off": round(abs(mean / fine - 1.0), 4)}


def what_0_picks(obj: bpy.types.Object) -> float:
    """Return the edge length that an Edge Length of 0 picks [m]."""
    return float(np.linalg.norm([*obj.dimensions])) / 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["wobbles", "bounces"])
    parser.add_argument("--only", default=",".join(SHAPES), help=f"of: {', '.join(SHAPES)}")
    parser.add_argument("--shares", default="", help="of 2 V / A, the finest last")
    chosen = parser.parse_args()
    threads.configure(1)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.load().register()
    fractions = [float(one) for one in chosen.shares.split(",") if one]
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="conjac-nodes-") as folder:
        for name in chosen.only.split(","):
            rows[name] = wobbles(name, fractions) if chosen.part == "wobbles" else bounces(name, Path(folder))
            print(name, rows[name], file=sys.stderr, flush=True)
    found = rows.values()
    if chosen.part == "bounces":
        emit("default_nodes.bounces", [
            claim("bounce_error", max(row["bounce_off"] for row in found), "of a bounce", "<= 0.05")], rows)
    elif not fractions:
        emit("default_nodes.wobbles", [
            claim("default_nodes", rows.get("cube", next(iter(found)))["nodes"], "of a new cube", "<= 1234"),
            claim("default_error", max(row["off"] for row in found), "of a frequency", "<= 0.05"),
            claim("sag_error", max(row["sag_off"] for row in found), "of a sag", "<= 0.05")], rows)


if __name__ == "__main__":
    main()
