"""Bake scenes of ropes, welds, seams and constraints as artists do, to the end, and measure the constraint errors.

    python -m benchmarks.constraint_scenes NAME

The .blend of `examples_blend` is baked by Blender's command-line handler, with all cores, and measured as it plays.
`links_off` is the share of its length by which an inextensible link is off it at most, in any frame. Besides, by scene:
`crane_bow_m`, how far the rope that bears a thousand times its weight is from a straight line, once it turns;
`bridge_lowest_m`, the lowest that the ragdoll comes, the floor at 0; `shirt_widest_m`, how far a seam is open at the
end; `tree_sways`, the width of the crown's last two seconds of swinging as a share of how far it was pulled aside.

The bridge bakes in minutes: a step with the ragdoll on it takes 20 to 75 iterations, of which each moves the whole only
as far as the first pair of surfaces that would touch; finding that takes half of the time. Closer bounds than halves of
a step (bisection to a sixteenth) save no more than a tenth of the iterations.
"""

from __future__ import annotations

import shutil
import time
from typing import Any

import bpy
import numpy as np

from benchmarks.contact_scenes import WORK, row_of_named
from benchmarks.report import claim, emit
from examples_blend import bake, bridge, crane, jelly, tree
from solver.state import Vec

CLAIMS = {"links_off": ("", "<= 1e-4"), "crane_bow_m": ("m", "<= 0.02"), "bridge_lowest_m": ("m", ">= 0.5"),
          "shirt_widest_m": ("m", "<= 0.01"), "tree_sways": ("", ">= 0.05")}


def baked(name: str) -> float:
    """Seconds in which a scene is baked from nothing. Raises RuntimeError where it does not come to its end."""
    folder = WORK.parent / "constraint_scenes" / name
    shutil.rmtree(folder, ignore_errors=True)
    began = time.perf_counter()
    code = bake.bake(name, folder)
    if code:
        raise RuntimeError(f"{name}.blend was not baked to its end: exit code {code}")
    return time.perf_counter() - began


def edges_of(obj: bpy.types.Object, loose: bool = False) -> Vec:
    """Ends of an object's edges, (k, 2); loose: of those without a face."""
    return np.array([list(one.vertices) for one in obj.data.edges if one.is_loose or not loose])


def links_off(scene: bpy.types.Scene) -> float | None:
    """Return the largest drift of inextensible ropes; None where there are none."""
    most = []
    for rope in (one for one in scene.objects if one.conjac.kind == "rope" and one.conjac.rope == "inextensible"):
        ends, lengths = edges_of(rope), []
        for frame in range(scene.frame_start, scene.frame_end + 1):
            # of a Rope Thickness only the first vertices are the rope's own
            rope.modifiers[-1].show_viewport = False
            x = jelly.played(rope.name, frame)
            lengths.append(np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1))
        most.append(float(np.abs(np.array(lengths) / lengths[0] - 1.0).max()))
    return max(most, default=None)


def bow(scene: bpy.types.Scene) -> float:
    """How far the crane's rope is from the line between its ends [m], from the fourth frame on, when it is taut."""
    far = []
    for frame in range(4, scene.frame_end + 1):
        x = jelly.played("Rope", frame)
        direction = x[crane.LINKS] - x[0]
        direction /= np.linalg.norm(direction)
        away = x[:crane.LINKS + 1] - x[0]
        far.append(np.linalg.norm(away - np.outer(away @ direction, direction), axis=1).max())
    return float(max(far))


def widest(scene: bpy.types.Scene) -> float:
    """The longest seam of the shirt at the end [m]."""
    ends, x = edges_of(bpy.data.objects["Shirt"], loose=True), jelly.played("Shirt", scene.frame_end)
    return float(np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1).max())


def sways(scene: bpy.types.Scene) -> float:
    """Between the crown's farthest places along X in the last two seconds, over how far it was pulled."""
    crown = int(np.argmax(jelly.played("Tree", scene.frame_start)[:, 2]))
    last = range(scene.frame_end - 2 * scene.render.fps, scene.frame_end + 1)
    return float(np.ptp([jelly.played("Tree", frame)[crown, 0] for frame in last])) / tree.ASIDE


MEASURES = {"crane": ("crane_bow_m", bow), "bridge": ("bridge_lowest_m", bridge.lowest),
            "shirt": ("shirt_widest_m", widest), "tree": ("tree_sways", sways)}


def measured(name: str) -> dict[str, Any]:
    """A row of the table."""
    seconds, scene = baked(name), bpy.context.scene
    found: dict[str, Any] = {"bake_s": round(seconds, 1)}
    if (off := links_off(scene)) is not None:
        found["links_off"] = float(f"{off:.2g}")
    if name in MEASURES:
        key, measure = MEASURES[name]
        found[key] = float(f"{measure(scene):.3g}")
    return found


def main() -> None:
    name, row = row_of_named("constraint_scenes", __doc__.partition("\n")[0], measured)
    claims = [claim(key if key.startswith(name) else f"{name}_{key}", row[key], *CLAIMS[key])
              for key in row if key in CLAIMS]
    emit(f"constraint_scenes.{name}", claims, {"scene": {name: row}})


if __name__ == "__main__":
    main()
