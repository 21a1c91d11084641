"""A small armature in real Blender, for the tests of mechanisms."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import conjac  # noqa: E402
from conjac.conjac_addon import gather  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402

LAST = 6


@pytest.fixture()
def scene(tmp_path):
    """Return the scene of a saved file with ConJac registered, frames 1 to 6."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conjac.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    yield scene
    conjac.unregister()


def add_armature(bones, name="Rig"):
    """Add an armature. bones: (name, head, tail, parent or None, connected)."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, head, tail, parent, connected in bones:
        made = data.edit_bones.new(bone)
        made.head, made.tail = head, tail
        if parent is not None:
            made.parent, made.use_connect = data.edit_bones[parent], connected
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.conjac.enabled = True
    return armature


def add_chain(count=3, length=0.3, name="Rig"):
    """Add an armature with bones "B0", "B1", … one after the other along X."""
    return add_armature([(f"B{k}", (k * length, 0, 0), ((k + 1) * length, 0, 0), f"B{k - 1}" if k else None, k > 0)
                         for k in range(count)], name)


def job_of(obj, folder, notes=None):
    """Return the gathered scene.json, which the solver has read and accepted, and the loaded job."""
    gather.write_job(obj, bpy.context.scene, folder, (lambda text: None) if notes is None else notes.append)
    return json.loads((folder / "scene.json").read_text()), load(folder)


def world_of(armature, bone):
    """Return a bone's pose in world as Blender shows it at the present frame, (4, 4)."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = armature.evaluated_get(depsgraph)
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[bone].matrix)
