"""Measure whether fingers of a hand bend alike at any distance between them, through the add-on with its defaults.

    python -m benchmarks.apart

Five fingers of 3 × 4 × 15 cm hang from a pinned palm, and gravity pulls them sideways for fifteen frames; the gaps are
20 to 0.1 mm. Two cubes in one mesh, the upper one pinned, have the same gaps.

Most of `apart_bend` is the palm's: 3 cm of it are not pinned, and it is a third narrower for narrow gaps. As a beam it
rotates by .051 instead of .014 rad and shears by 3 instead of 2 mm, which is 6.6 mm of 73 at the tips.
`apart_bend_fingers` is for hands with fully pinned palms, so that only the fingers bend. Where the hand with wide gaps
alone counted as thin everywhere (`conjac_addon/operators/fineness.py`), it had twice the nodes of the others, which
bent by .12 more at a gap of 5 mm and by .15 at 2 mm. With edges of about the same length gaps of 5 to 0.3 mm
bend by at most .09 more and .03 less.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.drawn import chosen, local, positions, subdivided

FRAMES = 16
GAPS = (0.02, 0.005, 0.002, 0.001, 0.0003, 0.0001)  #: [m]
FREE = 1916.0  #: what falls freely for so many frames [mm]


def main() -> int:
    """Bakes the hands and the cubes, and prints the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    bend, nodes, fell = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        for gap in GAPS:
            bend[gap], nodes[gap] = baked(Path(folder) / f"hand {gap}", gap, hand)
            print("hand", gap, bend[gap], nodes[gap], file=sys.stderr)
        for gap in (0.002, 0.0001):
            fell[gap], _ = baked(Path(folder) / f"cubes {gap}", gap, _cubes)
        alone = {gap: baked(Path(folder) / f"fingers {gap}", gap, partial(hand, above=-1e-4))[0] for gap in GAPS}
    wide = bend[GAPS[0]]
    report.emit("apart", [
        report.claim("apart_bend", max(abs(one / wide - 1.0) for one in bend.values()), "of the bend at 20 mm",
                     "<= 0.1"),
        report.claim("apart_bend_fingers", max(abs(one / alone[GAPS[0]] - 1.0) for one in alone.values()),
                     "of the bend at 20 mm", "<= 0.1"),
        report.claim("apart_nodes", max(nodes.values()) / nodes[GAPS[0]], "times the nodes at 20 mm", "<= 1.5"),
        report.claim("apart_falls", min(fell.values()) / FREE, "of a free fall", ">= 0.99"),
    ], {"gaps mm": [1e3 * gap for gap in GAPS], "bend mm": list(bend.values()), "fingers mm": list(alone.values()),
        "nodes": list(nodes.values())})
    extension.unregister()
    return 0


def baked(folder: Path, gap: float, make: Any, itself: bool = False) -> tuple[float, int]:
    """How far what hangs has moved at the last frame [mm], and how many nodes the body has. itself: whether it collides
    with itself."""
    import bpy

    folder.mkdir()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    body, pinned, watched, axis = make(gap)
    group = body.vertex_groups.new(name="Pin")
    group.add(np.flatnonzero(pinned).tolist(), 1.0, "REPLACE")
    chosen(body)
    bpy.ops.conjac.add_soft_body()
    body.conjac.use_ground = False
    if itself:
        body.conjac.contact.itself = True
    session: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    if session.bake_object(body, True, lambda *words: None):
        raise RuntimeError(f"{folder.name} was not baked")
    moved = positions(body, FRAMES) - positions(body, 1)
    stored = next(path for path in folder.rglob("*_tets_*.npz"))
    return 1e3 * abs(float(moved[watched, axis].mean())), len(np.load(stored)["nodes"])


def hand(gap: float, above: float = 0.03) -> tuple[Any, np.ndarray, np.ndarray, int]:
    """The hand, what of it is pinned, the fingers' tips, and the axis along which gravity pulls. above: the fingers'
    roots, from where on it is pinned [m]."""
    import bpy

    bpy.context.scene.gravity = (9.81, 0.0, 0.0)
    width, xs, solid = 0.03, [0.0], []
    for finger in range(5):
        xs += list(xs[-1] + width * np.arange(1, 5) / 4)
        solid += [True] * 4 + [False] * (finger < 4)
        if finger < 4:
            xs.append(xs[-1] + gap)
    across, deep = np.array(xs) - xs[-1] / 2, np.linspace(-0.02, 0.02, 5)
    down = np.r_[np.linspace(-0.15, 0.0, 16), np.linspace(0.0, 0.1, 9)[1:]]
    full = np.zeros((len(across) - 1, 4, len(down) - 1), dtype=bool)
    full[:, :, 15:] = True
    full[solid, :, :15] = True
    body = _mesh("Hand", [across, deep, down], full)
    body.location.z = 2.0
    z = local(body)[:, 2]
    return body, z > above, z < -0.12, 0


def _mesh(name: str, axes: list[np.ndarray], full: np.ndarray) -> Any:
    """The border of the filled cells of a grid, as quads."""
    import bpy

    number: dict[tuple[int, ...], int] = {}
    faces = []
    for cell in np.argwhere(full):
        for axis in range(3):
            for side in (0, 1):
                beside = cell.copy()
                beside[axis] += 2 * side - 1
                if (beside >= 0).all() and (beside < full.shape).all() and full[tuple(beside)]:
                    continue
                corners = []
                for u, v in ((0, 0), (1, 0), (1, 1), (0, 1))[:: 1 if side else -1]:
                    corner = cell.copy()
                    corner[axis] += side
                    corner[(axis + 1) % 3] += u
                    corner[(axis + 2) % 3] += v
                    corners.append(number.setdefault(tuple(corner.tolist()), len(number)))
                faces.append(corners)
    vertices = [tuple(float(axes[a][i]) for a, i in enumerate(corner)) for corner in number]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    body = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(body)
    return body


def _cubes(gap: float) -> tuple[Any, np.ndarray, np.ndarray, int]:
    """Two cubes in one mesh, of which the upper one is pinned."""
    import bpy

    made = []
    for z in (2.0, 1.7 - gap):
        bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0, 0, z))
        subdivided(4)
        made.append(bpy.context.object)
    chosen(*made)
    bpy.ops.object.join()
    body = bpy.context.object
    lower = local(body)[:, 2] < -0.15 - 0.5 * gap
    return body, ~lower, lower, 2


if __name__ == "__main__":
    sys.exit(main())
