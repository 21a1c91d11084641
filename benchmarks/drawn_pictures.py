"""Pictures of drawn meshes, docs/drawn_*.png: shapes held where they are painted, a hand of five fingers, landings.

    python -m benchmarks.drawn_pictures pins|hand|landings

The scenes are those of benchmarks.drawn, benchmarks.apart, benchmarks.seen and benchmarks.seen_resting, baked through
the add-on with its defaults. Painted parts are red; small balls mark the animated positions of painted vertices.
"""

from __future__ import annotations

import contextlib
import math
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARKS = 24  #: painted vertices with a ball, at most
SAMPLES, PIXELS = 12, 300  #: rays a pixel, and each side of a picture in the row
PINS_FRAME = 14  #: frame in which what is pinned is looked at
INSIDE = "core"  #: what is painted of it lies within
Tile = np.ndarray  #: (height, width, 4)


def main(part: str) -> int:
    """Bake the scenes of a part and write its picture."""
    from examples_blend import addon, contact_sheet

    extension = addon.load()
    extension.register()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        tiles = list(PICTURES[part](Path(folder)))
        whole = Path(folder) / "whole.png"
        contact_sheet.save(contact_sheet.sheet(tiles, 3), whole)
        contact_sheet.fewer_colours(whole, DOCS / f"drawn_{part}.png")
    extension.unregister()
    return 0


def pins(folder: Path) -> Iterable[Tile]:
    """Yield a picture of each of the nine shapes of benchmarks.drawn."""
    import bpy

    from benchmarks import drawn

    for name in drawn.SHAPES:
        off = drawn.per_mille(name, folder)
        body = bpy.context.object
        print(name, off, file=sys.stderr)
        painted = np.array([any(one.group == body.vertex_groups["Pin"].index for one in vertex.groups)
                            for vertex in body.data.vertices])
        coloured(body, painted, name == INSIDE)
        seen = drawn.positions(body, PINS_FRAME)
        played = [one for one in body.modifiers if one.type in {"MESH_CACHE", "MESH_SEQUENCE_CACHE"}]
        for one in played:
            one.show_viewport = False
        target = drawn.positions(body, PINS_FRAME)
        for one in played:
            one.show_viewport = True
        few = np.flatnonzero(painted)
        for vertex in few[:: max(1, len(few) // MARKS)]:
            marked(target[vertex], 0.012 * float(np.ptp(seen, axis=0).max()))
        yield pictured(folder, seen, PINS_FRAME, (0.5, -1.0, 0.45))


def hand(folder: Path) -> Iterable[Tile]:
    """Yield pictures of the hand of benchmarks.apart, its fingers 20, 1 and .1 mm apart, with Self Collision."""
    import bpy

    from benchmarks import apart, drawn

    for gap in (0.02, 0.001, 0.0001):
        bend, _ = apart.baked(folder / f"hand {gap}", gap, apart.hand, itself=True)
        print("hand", gap, bend, file=sys.stderr)
        body = bpy.context.object
        coloured(body, drawn.local(body)[:, 2] > 0.03, False)
        yield pictured(folder, drawn.positions(body, apart.FRAMES), apart.FRAMES, (0.15, -1.0, 0.1))


def landings(folder: Path) -> Iterable[Tile]:
    """Yield pictures of a ball on an edge, one on a tilted block and a box in a hammock, each where it is pressed."""
    import bpy

    from benchmarks import seen, seen_resting

    for name in ("edge 642", "tilted 162"):
        seen.landed(folder / name, *seen.LANDINGS[name], True)
        ball = next(one for one in bpy.data.objects if one.name.startswith("Icosphere"))
        yield most_pressed(folder, ball, seen.FRAMES, (0.0, -1.0, 0.08))
    _, box, _ = seen_resting.baked("hammock", folder)
    yield most_pressed(folder, box, seen_resting.FRAMES, (0.5, -1.0, 0.9))


def most_pressed(folder: Path, body: Any, frames: int, direction: tuple[float, float, float]) -> Tile:
    """Return a picture of a body in the frame in which it is least high, from a direction."""
    from benchmarks.drawn import positions

    coloured(body, np.zeros(len(body.data.vertices), dtype=bool), False)
    pressed = min(range(2, frames + 1), key=lambda frame: float(np.ptp(positions(body, frame)[:, 2])))
    return pictured(folder, positions(body, pressed), pressed, direction)


def coloured(body: Any, painted: np.ndarray, is_glass: bool) -> None:
    """Give faces with a painted vertex another colour, and make the others of glass where that is inside."""
    from examples_blend import stage

    plain = stage.surface("Plain", (0.55, 0.72, 0.85))
    if is_glass:
        plain.node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.25
    body.data.materials.clear()
    for one in (plain, stage.surface("Painted", (0.85, 0.12, 0.08))):
        body.data.materials.append(one)
    for face in body.data.polygons:
        face.material_index = int(painted[list(face.vertices)].any())


def marked(point: np.ndarray, radius: float) -> None:
    """Put a small dark ball at a place, (3,) [m]."""
    import bpy

    from examples_blend import stage

    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=radius, location=point.tolist())
    bpy.context.object.data.materials.append(stage.surface("Mark", (0.02, 0.02, 0.02)))


def pictured(folder: Path, seen: np.ndarray, frame: int, direction: tuple[float, float, float]) -> Tile:
    """Return a frame as Cycles renders it, with what is seen in its middle. seen: where that is, (n, 3) [m]. direction:
    from there to the camera."""
    import bpy

    from examples_blend import contact_sheet, stage

    scene = bpy.context.scene
    middle, size = seen.mean(axis=0), float(np.ptp(seen, axis=0).max())
    start, fps = scene.frame_end, scene.render.fps
    stage.prepare(scene, start, PIXELS, PIXELS, ambient=0.6)
    scene.render.fps, scene.cycles.samples = fps, SAMPLES
    scene.cycles.use_denoising = False
    away = np.array(direction) / math.sqrt(sum(one * one for one in direction))
    stage.camera(scene, tuple(middle + 3.2 * size * away), tuple(middle), 70.0)
    stage.light(scene, "Key", tuple(middle + 3.0 * size * np.array((-1.0, -1.0, 1.2))), tuple(middle), 300.0 * size**2,
                2.0 * size)
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(folder / "tile.png")
    scene.frame_set(frame)
    with contact_sheet.silence():
        bpy.ops.render.render(write_still=True)
    return contact_sheet.pixels(folder / "tile.png")


PICTURES: dict[str, Callable[[Path], Iterable[Tile]]] = {"pins": pins, "hand": hand, "landings": landings}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
