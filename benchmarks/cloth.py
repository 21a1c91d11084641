"""Measure a step of cloth and its parts: squares of 128, 2,048 and 10,082 faces, compared with Blender's cloth.

    python -m benchmarks.cloth [most faces]

A square of 1 m of cotton hangs by two corners, and one falls onto a box and drapes over it; Vanilla FEM, Backward Euler
by Newton, Visible at 1/96 s, as Add Cloth sets it, one thread. Thread milliseconds a step, medians, and the shares of
elements, linear solves and contact. Blender's cloth has the same square pinned alike, without collisions:
milliseconds of each of its steps.

One of 20,000 faces falls onto a ball: the first steps in which it lies on it, which are the dearest. It buckles all
around there, and settles after 15 to 26 factors and 30 to 58 iterations a step where on a box it takes 3 and 6; each
costs what it does there (38 % factors and solves, 20 % evaluations, 12 % stiffness, 15 % what is near).
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.report import claim, emit
from solver.build.world import build
from solver.job.load import load
from solver.linear.cholesky.single import SingleFactor
from solver.world.nodes import Nodes

CELLS = (8, 32, 71)
H, STEPS, WARM = 1 / 96, 20, 60  #: steps that are measured, and those before them
ON_BALL = 100, 6, 13  #: cells a side, and such steps as it meets the ball
BOX = 0.25 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-4, 0)])  #: half as wide as the square
SIDES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
         [1, 5, 7], [1, 7, 3]]


def square(cells: int) -> tuple[Any, Any]:
    """Vertices (n, 3) and triangles (m, 3) of a level square of 1 m about the origin, diagonals turned by turns."""
    grid = np.linspace(-0.5, 0.5, cells + 1)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    number = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (n.ravel() for n in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    turned = (np.add.outer(np.arange(cells), np.arange(cells)) % 2).ravel().astype(bool)
    one = np.where(turned[:, None], np.column_stack([a, b, d]), np.column_stack([a, b, c]))
    two = np.where(turned[:, None], np.column_stack([b, c, d]), np.column_stack([a, c, d]))
    return np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3), np.concatenate([one, two]).astype(np.int32)


def ball(radius: float = 0.25, around: int = 32) -> tuple[Any, Any]:
    """Vertices (n, 3) and triangles (m, 3) of a ball below z = 0."""
    rings = around // 2
    height, turn = np.meshgrid(np.linspace(0.0, np.pi, rings + 1)[1:-1], 2.0 * np.pi * np.arange(around) / around,
                               indexing="ij")
    points = np.stack([np.sin(height) * np.cos(turn), np.sin(height) * np.sin(turn), np.cos(height)], axis=-1)
    a = np.arange((rings - 1) * around).reshape(rings - 1, around)
    b = np.roll(a, -1, axis=1)
    top, bottom = np.full(around, a.size), np.full(around, a.size + 1)
    sides = [(a[:-1], a[1:], b[1:]), (a[:-1], b[1:], b[:-1]), (top, a[0], b[0]), (bottom, b[-1], a[-1])]
    triangles = np.concatenate([np.stack(one, axis=-1).reshape(-1, 3) for one in sides]).astype(np.int32)
    return radius * (np.concatenate([points.reshape(-1, 3), [[0, 0, 1], [0, 0, -1]]]) - [0, 0, 1]), triangles


def world(folder: Path, cells: int, onto: tuple[Any, Any] | None) -> Nodes:
    """The square as the one part of a world, over an obstacle's vertices and triangles; None: it hangs."""
    vertices, triangles = square(cells)
    (folder / "arrays").mkdir(parents=True)
    arrays = {"vertices": vertices + [0.0, 0.0, 0.05], "triangles": triangles,
              "pinned": np.array([0, cells], np.int32)}
    if onto is not None:
        arrays["below"], arrays["sides"] = onto
    for name, values in arrays.items():
        np.save(folder / "arrays" / f"{name}.npy", values)
    body = {"name": "Cloth", "cloth": {}, "method": {"kind": "vanilla"},
            "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"},
            "pin": {} if onto is not None else {"nodes": "arrays/pinned.npy"}}
    scene: dict[str, Any] = {
        "version": 1, "name": "cloth", "bodies": [body], "integrator": {"kind": "backward_euler"},
        "stage_solver": {"kind": "newton_visible"}, "time": {"start": 1, "end": 97, "fps": 24, "step": H}}
    if onto is not None:
        scene["contact"] = {}
        scene["obstacles"] = [{"name": "Below", "vertices": "arrays/below.npy", "triangles": "arrays/sides.npy"}]
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    part = build(load(folder), lambda *_: None)[0].parts[0]
    assert isinstance(part, Nodes)
    return part


def clocked(spent: dict[str, float], key: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, whose thread time goes to the entry of this key."""
    def call(*arguments: Any, **more: Any) -> Any:
        began = time.thread_time()
        try:
            return function(*arguments, **more)
        finally:
            spent[key] += time.thread_time() - began
    return call


def measured(part: Nodes, steps: int = STEPS, warm: int = WARM) -> dict[str, Any]:
    """Thread milliseconds of a step, the median of so many after those before them, and the shares of where they go."""
    spent = {"elements": 0.0, "linear": 0.0, "contact": 0.0}
    for one in part.elastic:
        for name in ("fill", "measure"):
            setattr(one, name, clocked(spent, "elements", getattr(one, name)))
    for law in part.contacts:
        for name in ("fill", "measure", "largest_step", "largest_steps", "lag_friction"):
            if hasattr(law, name):
                setattr(law, name, clocked(spent, "contact", getattr(law, name)))
    originals = {(one, name): getattr(one, name) for one in (part.linear, SingleFactor) for name in ("factor", "solve")}
    for (one, name), function in originals.items():
        setattr(one, name, clocked(spent, "linear", function))
    state = part.initial_state()
    for _ in range(warm):
        state = part.step(state, H)
    for key in spent:
        spent[key] = 0.0
    times = []
    for _ in range(steps):
        began = time.thread_time()
        state = part.step(state, H)
        times.append(time.thread_time() - began)
    for (one, name), function in originals.items():
        setattr(one, name, function)
    whole = sum(times)
    fractions = {f"{key}_share": round(value / whole, 3) for key, value in spent.items()}
    return {"ms": round(1e3 * statistics.median(times), 2), **fractions}


def blenders(cells: int) -> float | None:
    """Milliseconds of a step of Blender's own cloth on the same square, None where there is no Blender."""
    try:
        import bpy
    except ImportError:
        return None
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    vertices, triangles = square(cells)
    mesh = bpy.data.meshes.new("Cloth")
    mesh.from_pydata(vertices.tolist(), [], triangles.tolist())
    obj = bpy.data.objects.new("Cloth", mesh)
    scene = bpy.context.scene
    scene.collection.objects.link(obj)
    obj.vertex_groups.new(name="Pin").add([0, cells], 1.0, "REPLACE")
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    modifier.settings.vertex_group_mass, modifier.settings.quality = "Pin", 4
    modifier.collision_settings.use_collision = False
    scene.render.fps, scene.frame_end = 24, 100
    times = []
    for frame in range(1, 22):
        began = time.perf_counter()
        scene.frame_set(frame)
        obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        times.append((time.perf_counter() - began) / modifier.settings.quality)
    return round(1e3 * statistics.median(times[1:]), 2)


def main() -> None:
    threads.configure(1)
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 2 * CELLS[-1] ** 2
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="conjac-cloth-") as name:
        for cells in (one for one in CELLS if 2 * one * one <= most):
            row: dict[str, Any] = {"vertices": (cells + 1) ** 2, "blender_ms": blenders(cells)}
            for kind, onto in (("hanging", None), ("on_a_box", (BOX, np.array(SIDES, np.int32)))):
                row[kind] = measured(world(Path(name) / f"{kind}{cells}", cells, onto))
            rows[str(2 * cells * cells)] = row
            print({2 * cells * cells: row}, file=sys.stderr, flush=True)
        if most >= 2 * CELLS[-1] ** 2:
            cells, steps, warm = ON_BALL
            on_ball = measured(world(Path(name) / "ball", cells, ball()), steps, warm)
            rows[str(2 * cells * cells)] = {"vertices": (cells + 1) ** 2, "on_a_ball": on_ball}
    claims = [claim(f"cloth_{faces}", row["on_a_box"]["ms"], "ms", goal)
              for (faces, row), goal in zip(rows.items(), ("<= 3", "<= 40", "<= 250"))]
    emit("cloth", claims, {"steps": rows, "step": H})


if __name__ == "__main__":
    main()
