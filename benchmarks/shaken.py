"""Measure frames of bodies in changing contact: two in a shaken glass, ten before a paddle, one on cloth, a stack.

    python -m benchmarks.shaken glass
    python -m benchmarks.shaken mixed
    python -m benchmarks.shaken hammock
    python -m benchmarks.shaken stack

New soft bodies, added by the add-on's operators, with default settings. A jelly of 25 cm and a ball of 16 cm are in a
glass that moves 8 cm to and fro twice a second; ten objects of 8 to 507 vertices fall on each other and the ground
before a paddle that comes and goes; a box of 30 cm falls on a hammock of new cloth of 576 faces (the scene of
`benchmarks.hammock`); four jellies of 40 cm stand on each other and topple from the ninth frame on. `shaken_frame_s`,
`mixed_frame_s`, `hammock_frame_s` and `stack_frame_s` are processor seconds a frame, on one thread, without
tetrahedralization and compilation. `shaken_off` is the relative difference of the mean height or spread
of a body, or the kinetic energy of both, over all frames, from that with steps of 1/768 s, none halved.

`shaken_off` was .007 and .043 before sliding bodies had a viscosity (`solver/world/sliding_damping.py`), .127 with one
from their first slip on, and .14 with one whose slip must last for some waves: slip in a glass is mostly slower than a
body sways by its own weight, and counted immediately. The carrier of a body may now change its own velocity by as much
as that sway, and the viscosity does not act in the glass at all. Frames with cut steps, eleven, take two thirds of the
time, and half of all iterations are those that finish friction.

A frame of the hammock is eight stages of 1.7 factors, 6 iterations and 14 evaluations each, none of its steps cut.
Factors and their assembly are 36 % of it, evaluations 30 %, the iterations that finish friction 23 %. The goal would be
one factor a stage. Of the ten mixed bodies 16 frames are cut. On the ground, unlike on obstacles, the steps of a body
that another one pushes are cut too; without that rule 13 frames are, and the bake is no cheaper. Nor is a frame of the
impact without any halving: two steps have 87 factors there and four have 106, as most iterations find what touches.
"""

from __future__ import annotations

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import argparse
import importlib
import math
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks import hammock
from benchmarks.report import claim, emit
from examples_blend import addon
from solver.build.world import build
from solver.groups import GroupSteps
from solver.job.load import load
from solver.reshape.regroup import Regroup
from solver.simulate import Halved, Pace, Timeline, advance_frame
from solver.world.nodes_part import NodesPart

FPS, FINEST = 24, 1.0 / 768.0
OBJECTS = [("cube", 0.25, 0, (0.3, 0.2, 0.0)), ("ball", 0.13, 2, (0.0, 0.0, 0.0)), ("cube", 0.22, 3, (0.5, 0.1, 0.3)),
         ("torus", 0.14, 0, (0.0, 0.0, 0.0)), ("monkey", 0.25, 0, (0.0, 0.0, 0.0)),
         ("cylinder", 0.1, 0, (0.4, 0.3, 0.0)), ("ball", 0.12, 3, (0.0, 0.0, 0.0)), ("cone", 0.13, 0, (0.0, 0.0, 0.0)),
         ("sphere", 0.12, 0, (0.0, 0.0, 0.0)), ("cube", 0.2, 2, (0.0, 0.0, 0.0))]


def select(*objects: bpy.types.Object) -> bpy.types.Object:
    for one in bpy.context.view_layer.objects:
        one.select_set(one in objects)
    bpy.context.view_layer.objects.active = objects[0]
    return objects[0]


def cube(size: float, at: tuple[float, float, float], cuts: int = 0,
         turn: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=size, location=at, rotation=turn)
    if cuts:
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=cuts)
        bpy.ops.object.mode_set(mode="OBJECT")
    return bpy.context.object


def moved(obj: bpy.types.Object, frames: int, along_x: Callable[[float], float]) -> None:
    """Animate the position of an object at each frame and make it a collider. along_x: x [m] at a time [s]."""
    for frame in range(1, frames + 1):
        obj.location.x = along_x((frame - 1) / FPS)
        obj.keyframe_insert("location", frame=frame)
    select(obj)
    bpy.ops.conjac.add_collider()


def shaken(frames: int) -> bpy.types.Object:
    glass = cube(0.4, (0.0, 0.0, 0.25))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for one in glass.data.polygons:
        one.select = one.normal.z > 0.9
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="FACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    wall = glass.modifiers.new("Wall", "SOLIDIFY")
    wall.thickness, wall.offset = 0.02, 1.0
    bpy.ops.object.modifier_apply(modifier="Wall")
    moved(glass, frames, lambda t: 0.08 * math.sin(4.0 * math.pi * t))
    jelly = cube(0.25, (0.0, 0.0, 0.2), 3)
    bpy.ops.conjac.add_soft_body()
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.08, location=(0.02, 0.01, 0.42))
    bpy.ops.conjac.add_soft_body()
    return jelly


def mixed(frames: int) -> bpy.types.Object:
    add = bpy.ops.mesh
    made = []
    for k, (kind, size, fine, turn) in enumerate(OBJECTS):
        at = (0.05 * math.sin(2.0 * k), 0.04 * math.cos(3.0 * k), 0.25 + 0.34 * k)
        if kind == "cube":
            cube(size, at, fine, turn)
        elif kind == "ball":
            add.primitive_ico_sphere_add(subdivisions=fine, radius=size, location=at)
        elif kind == "torus":
            add.primitive_torus_add(location=at, major_radius=size, minor_radius=0.05, major_segments=24,
                                    minor_segments=12)
        elif kind == "monkey":
            add.primitive_monkey_add(size=size, location=at)
        elif kind == "cylinder":
            add.primitive_cylinder_add(vertices=16, radius=size, depth=0.2, location=at, rotation=turn)
        elif kind == "cone":
            add.primitive_cone_add(vertices=24, radius1=size, depth=0.2, location=at)
        else:
            add.primitive_uv_sphere_add(segments=16, ring_count=12, radius=size, location=at)
        made.append(bpy.context.object)
    paddle = cube(0.3, (0.6, 0.0, 0.15))
    paddle.scale = (0.1, 2.0, 1.0)
    moved(paddle, frames, lambda t: 0.6 - 0.35 * math.sin(math.pi * t) ** 2)
    first = select(*made)
    bpy.ops.conjac.add_soft_body()
    return first


def lying(frames: int) -> bpy.types.Object:
    cloth = hammock.sheet()
    hammock.dropped(*hammock.BODIES["box"])
    return cloth


def stacked(frames: int) -> bpy.types.Object:
    """Add four jellies, one after another, each a third of its size further along x than the one below it."""
    made = []
    for k, across in enumerate((0.0, 0.02, -0.01, 0.03)):
        made.append(cube(0.4, (0.13 * k, across, 0.2 + 0.405 * k)))
        bpy.ops.conjac.add_soft_body()
    return select(made[0])


SCENES: dict[str, tuple[Callable[[int], bpy.types.Object], int]] = {
    "glass": (shaken, 24), "mixed": (mixed, 49), "hammock": (lying, 48), "stack": (stacked, 24)}
GOALS = {"glass": ("shaken_frame_s", "<= 0.6"), "mixed": ("mixed_frame_s", "<= 1.5"),
         "stack": ("stack_frame_s", "<= 3"), "hammock": ("hammock_frame_s", "<= 0.6")}


def job_of(name: str, folder: Path) -> Any:
    """Return the job of a scene as the add-on gathers it. Raises RuntimeError where its first frame does not bake."""
    make, frames = SCENES[name]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, FPS
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    obj = make(frames)
    bake: Any = importlib.import_module("conjac.conjac_addon.bake.foreground").bake
    messages: list[str] = []
    if bake(obj, scene, frames=(1, 1), report=messages.append):
        raise RuntimeError(f"the first frame was not baked: {messages[-1]}")
    place: Any = importlib.import_module("conjac.conjac_addon.bake.place")
    return load(Path(place.job_folder(obj)))


def run(job: Any, step: float | None = None) -> dict[str, Any]:
    """Bake a job and return seconds a frame, cut steps, and height, spread and kinetic energy by frame and body.

    step: length of all steps [s]; by default the scene's step, which may be cut.
    """
    regroup = Regroup(job)
    world, line = build(job, lambda *_: None, grouping=regroup.begin).world, Timeline.of(job.scene.time)
    groups = None if step is not None else GroupSteps(regroup)
    if step is not None:  # equal steps for all bodies
        world = build(job, lambda *_: None).world
        line = replace(line, step=step, largest_deformation=0.0)
    state, pace, seen_rows, shortest = replace(world.initial_state(), time=0.0), Pace(), [], []
    state = state if groups is None else groups.begin(state)
    began = time.process_time()
    for frame in range(line.start + 1, line.end + 1):
        halved, at = Halved(), time.process_time()
        if groups is None:
            state = advance_frame(world, state, line, frame, halved=halved, pace=pace)
        else:
            world, state = groups.advance_frame(world, state, line, frame, lambda: False, halved)
        if halved:
            shortest.append(halved.shortest)
        print(f"frame {frame}: {time.process_time() - at:.2f} s, {len(world.parts)} groups, {len(halved)} steps cut"
              + (f", as {halved[-1][1]}" if halved else ""), file=sys.stderr, flush=True)
        looks = {}
        for part, own in zip(world.parts, world.split_state(state)):
            if not isinstance(part, NodesPart):
                raise TypeError("all parts have to be soft bodies")
            x, v = part.nodes_at(own)
            looks |= {body.name: seen(part.mass[body.nodes], x[body.nodes], v[body.nodes])
                      for body in part.bodies_in_world}
        seen_rows.append([looks[name] for name, _, _ in world.bodies])
    nodes = sum(int(np.count_nonzero(part.mass)) for part in world.parts if isinstance(part, NodesPart))
    return {"frame_s": (time.process_time() - began) / (line.end - line.start), "frames_cut": len(shortest),
            "shortest_step": min(shortest, default=line.step), "nodes": nodes,
            "told": np.array(seen_rows)}


def seen(mass: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[float, float, float]:
    middle = mass @ x / mass.sum()
    return (float(middle[2]), float(np.sqrt(mass @ ((x - middle) ** 2).sum(axis=1) / mass.sum())),
            0.5 * float(mass @ (v**2).sum(axis=1)))


def off(seen_rows: np.ndarray, truth: np.ndarray) -> float:
    """Return the largest relative difference of means over all frames, of energies summed over all bodies.

    seen_rows, truth: (frames, bodies, 3), height, spread and kinetic energy.
    """
    own, other = seen_rows.mean(axis=0), truth.mean(axis=0)
    found = np.abs(own[:, :2] / other[:, :2] - 1.0).max(), abs(own[:, 2].sum() / other[:, 2].sum() - 1.0)
    return float(max(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scene", choices=[*SCENES])
    name = parser.parse_args().scene
    threads.configure(1)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.load().register()
    with tempfile.TemporaryDirectory(prefix="conjac-shaken-") as folder:
        job = job_of(name, Path(folder))
        row = run(job)
        key, goal = GOALS[name]
        claims = [claim(key, row["frame_s"], "s of processor a frame", goal)]
        if name == "glass":
            claims.append(claim("shaken_off", off(row["told"], run(job, FINEST)["told"]), "of its own", "<= 0.05"))
    emit(f"shaken.{name}", claims, {key: value for key, value in row.items() if key != "told"})


if __name__ == "__main__":
    main()
