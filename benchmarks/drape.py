"""Compare cloth that hangs from a clamp with the elastica, for every cut of its faces.

    python -m benchmarks.drape

Strips of 30 by 7.5 cm, B = 1 mN m, of 8, 16 and 32 columns, clamped level at one end: light ones, whose ρ g L³/B is
1.2, and heavy ones of 53. `drape_off`: how far the end of the worst of 32 columns is from the elastica's, as a share of
the length. `drape_converges`: of how much the error of 32 columns is that of 16, at worst. `drape_new_cloth`: how far
it is where the same strips of 32 columns are made cloth by the add-on's operator and baked by it for six seconds, all
but *Area Density* and *Bending Stiffness* as it is by default; its vertex group *Pin* is up to the clamp.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import bpy
import numpy as np
from scipy.integrate import solve_bvp

from benchmarks.flights import loaded
from benchmarks.landings import added, quiet
from benchmarks.report import claim, emit
from examples_blend import addon

G, B, LENGTH, WIDTH = 9.81, 1e-3, 0.3, 0.075
COLUMNS, DENSITIES = (8, 16, 32), {"light": 0.0045, "heavy": 0.2}  #: [kg/m²]
LAWS = ("quadratic_bending", "hinge_bending")
H, STEPS = 1 / 24, 100
HEIGHT, FRAMES = 1.0, 145  #: of the clamp above the ground [m], of a bake


def quads(columns: int, alternate: bool) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of square cells from one before the clamp on, their diagonals alike or in turn."""
    high = LENGTH / columns
    rows = round(WIDTH / high)
    vertices = np.array([[(i - 1) * high, j * high, 0.0] for i in range(columns + 2) for j in range(rows + 1)])
    triangles = []
    for i in range(columns + 1):
        for j in range(rows):
            a = i * (rows + 1) + j
            b, c, d = a + rows + 1, a + rows + 2, a + 1
            triangles += [[a, b, d], [b, c, d]] if alternate and (i + j) % 2 else [[a, b, c], [a, c, d]]
    return vertices, np.array(triangles, np.int32)


def equal_sided(columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Make a strip of triangles of equal sides, in columns across."""
    high = LENGTH / columns
    side = high * 2.0 / np.sqrt(3.0)
    rows = max(2, round(WIDTH / side))
    vertices = np.array([[(i - 1) * high, (j + 0.5 * ((i + 1) % 2)) * side, 0.0]
                         for i in range(columns + 2) for j in range(rows + 1)])
    triangles = []
    for i in range(columns + 1):
        for j in range(rows):
            a = i * (rows + 1) + j
            b, c, d = a + 1, a + rows + 1, a + rows + 2
            triangles += [[a, c, b], [b, c, d]] if i % 2 else [[a, c, d], [a, d, b]]
    return vertices, np.array(triangles, np.int32)


MESHES = {"quads cut in turn": lambda n: quads(n, True), "quads cut alike": lambda n: quads(n, False),
          "equal sides": equal_sided}


def elastica(length: float, weight: float) -> np.ndarray:
    """(x, z) of the end of a clamped level strip [m]. B θ'' = w (L − s) cos θ, θ(0) = 0, θ'(L) = 0."""
    s = np.linspace(0.0, length, 400)
    found = solve_bvp(
        lambda s, y: np.stack([y[1], weight * (length - s) * np.cos(y[0]) / B, np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s,
        np.stack([-1.2 * s / length, -1.2 * np.ones_like(s), s, -s]), tol=1e-9, max_nodes=100000)
    if not found.success:
        raise RuntimeError("the elastica is not found")
    return np.array([found.y[2, -1], found.y[3, -1]])


def off(mesh: str, columns: int, density: float, law: str) -> float:
    """How far the end hangs from the elastica's, as a share of the length. The clamp is midway between the last two
    columns of vertices that are held."""
    vertices, triangles = MESHES[mesh](columns)
    strip = {"name": "Strip", "method": {"kind": "vanilla"},
             "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
             "pin": {"nodes": "arrays/held.npy"}, "damping": {"kind": "rayleigh", "params": {"mass_damping": 3.0}},
             "cloth": {"area_density": density, "drag": 0, "air_friction": 0,
                       "bending": {"kind": law, "params": {"bending_stiffness": B}},
                       "membrane": {"kind": "corotated_membrane",
                                    "params": {"stretch_warp": 2e4, "stretch_weft": 2e4, "shear": 1e4,
                                               "poisson_ratio": 0.0}}}}
    world = loaded({"version": 1, "name": "drape", "time": {"start": 1, "end": 25, "fps": 24, "step": H},
                    "integrator": {"kind": "backward_euler"}, "gravity": [0.0, 0.0, -G], "bodies": [strip]},
                   {"vertices": vertices, "triangles": triangles,
                    "held": np.flatnonzero(vertices[:, 0] < 1e-9).astype(np.int32)})
    part: Any = world.parts[0]
    state = part.initial_state()
    for _ in range(STEPS):
        state = part.step(state, H)
    if np.abs(part.velocity(state)).max() > 1e-3:
        raise RuntimeError(f"the strip of {mesh} has not come to rest")
    return far(part.coordinates.positions(state.q, state.time)[: len(vertices)], vertices, columns, density)


def far(positions: np.ndarray, vertices: np.ndarray, columns: int, density: float) -> float:
    """How far the end of a strip at `positions` (n, 3) [m] is from the elastica's, as a share of the length."""
    end = positions[vertices[:, 0] > LENGTH - 1e-9].mean(axis=0)[[0, 2]]
    half = 0.5 * LENGTH / columns
    return float(np.linalg.norm(end - elastica(LENGTH + half, density * G) + [half, 0.0]) / LENGTH)


def off_as_baked(mesh: str, density: float, folder: Path) -> float:
    """The share of a strip of the most columns that the add-on's operators have made and baked. Raises RuntimeError
    where it is not baked."""
    vertices, triangles = MESHES[mesh](COLUMNS[-1])
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{mesh} {density}.blend"))
    strip = added("Strip", (vertices.tolist(), triangles.tolist()), HEIGHT)
    strip.vertex_groups.new(name="Pin").add(np.flatnonzero(vertices[:, 0] < 1e-9).tolist(), 1.0, "REPLACE")
    bpy.ops.conjac.add_cloth()
    strip.conjac.area_density, strip.conjac.bending_stiffness = density, B
    with quiet():
        if bpy.ops.conjac.bake() != {"FINISHED"}:
            raise RuntimeError(f"the strip of {mesh} is not baked")
    scene.frame_set(FRAMES)
    shown = strip.evaluated_get(bpy.context.evaluated_depsgraph_get())
    positions = np.empty(3 * len(vertices), np.float32)
    shown.data.vertices.foreach_get("co", positions)
    return far(positions.reshape(-1, 3).astype(float), vertices, COLUMNS[-1], density)


def main() -> None:
    threads.configure(None)
    rows: dict[str, dict[str, float]] = {}
    for mesh in MESHES:
        for name, density in DENSITIES.items():
            for law in LAWS:
                rows[f"{mesh}, {name}, {law.replace('_', ' ')}"] = {
                    f"{columns} columns": off(mesh, columns, density, law) for columns in COLUMNS}
    addon.load().register()
    with tempfile.TemporaryDirectory(prefix="conjac-drape-") as folder:
        baked = {f"{mesh}, {name}": off_as_baked(mesh, density, Path(folder))
                 for mesh in MESHES for name, density in DENSITIES.items()}
    last, before = f"{COLUMNS[-1]} columns", f"{COLUMNS[-2]} columns"
    emit("drape", [
        claim("drape_off", max(row[last] for row in rows.values()), "of its length", "<= 0.02"),
        claim("drape_converges", max(row[last] / row[before] for row in rows.values()), "of the error of half as many",
              "< 1"),
        claim("drape_new_cloth", max(baked.values()), "of its length", "<= 0.02"),
    ], {"off": rows, "new cloth": baked})


if __name__ == "__main__":
    main()
