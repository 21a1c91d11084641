"""Drape a sheet over a box by Blender's node cloth: `peers_cloth.py` runs it with a Python that has bpy 5.3.

    PYTHON peer_cloth_program.py IN.npz OUT.npz CONSTRAINT_STEPS

IN: vertices (n, 3) [m] and triangles (m, 3) of the sheet, box (8, 3) [m] and sides (12, 3), frames, mass [kg]. OUT: x
after each frame, (frames, n, 3) [m], processor and wall milliseconds of each frame, and the version. The modifier is
*Cloth Dynamics*, which ships in Blender's assets, with its own defaults but for the constraint steps, the mass and a
collision radius that is smaller than the sheet's edges; the box is an effector with *Collider*.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import bpy
import numpy as np

ASSETS = "datafiles/assets/nodes/geometry_nodes_dynamics_assets.blend"


def groups() -> dict[str, bpy.types.NodeTree]:
    """Return node groups of the assets by name."""
    local = Path(bpy.utils.resource_path("LOCAL"))
    found = next(path for path in (local / ASSETS, *Path(bpy.__path__[0]).glob(f"**/{ASSETS}")) if path.exists())
    with bpy.data.libraries.load(str(found)) as (there, here):
        here.node_groups = there.node_groups
    return {group.name: group for group in here.node_groups}


def added(name: str, vertices: np.ndarray, triangles: np.ndarray) -> bpy.types.Object:
    """Return a new object of the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], triangles.tolist())
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def modifier(obj: bpy.types.Object, group: bpy.types.NodeTree, settings: dict[str, object]) -> None:
    """Add a modifier of a node group with these of its inputs."""
    one = obj.modifiers.new(group.name, "NODES")
    one.node_group = group
    inputs = {item.name: item.identifier for item in group.interface.items_tree
              if item.item_type == "SOCKET" and item.in_out == "INPUT"}
    for name, value in settings.items():
        getattr(one.properties.inputs, inputs[name]).value = value


def main() -> None:
    given, answer, steps = sys.argv[1:]
    scene = np.load(given)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    known = groups()
    box = added("Box", scene["box"], scene["sides"])
    modifier(box, known["Collider"], {"Edge Contacts": True})
    effectors = bpy.data.collections.new("Effectors")
    bpy.context.scene.collection.children.link(effectors)
    effectors.objects.link(box)
    sheet = added("Sheet", scene["vertices"], scene["triangles"])
    modifier(sheet, known["Cloth Dynamics (Experimental)"],
             {"Constraint Steps": int(steps), "Mass": float(scene["mass"]), "Effectors Collection": effectors,
              "Collision Radius": float(scene["radius"])})
    frames = int(scene["frames"])
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 24, frames
    positions, spent, walls = [], [], []
    for frame in range(1, frames + 1):
        began, wall = time.process_time(), time.perf_counter()
        bpy.context.scene.frame_set(frame)
        mesh = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        spent.append(1e3 * (time.process_time() - began))
        walls.append(1e3 * (time.perf_counter() - wall))
        x = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", x)
        positions.append(x.reshape(-1, 3).astype(float))
    np.savez(answer, x=np.array(positions), ms=np.array(spent), wall_ms=np.array(walls), version=bpy.app.version_string)


if __name__ == "__main__":
    main()
