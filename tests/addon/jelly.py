"""A small soft body in real Blender, for the tests that bake."""

import time

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import conjac  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402

LAST = 12


@pytest.fixture()
def scene(tmp_path):
    """Return the scene of a saved file with ConJac registered."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conjac.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    yield scene
    conjac.unregister()


def add_jelly(name="Jelly", step=1 / 48):
    """Add a cube of 20 cm that hangs from its top, with a dynamic node at a lower corner."""
    bpy.ops.mesh.primitive_cube_add(size=0.2)
    obj = bpy.context.object
    obj.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=2)
    bpy.ops.object.mode_set(mode="OBJECT")
    co = rest_of(obj)
    for group, chosen in (("Pin", co[:, 2] > 0.09), ("Dynamic", (co < -0.09).all(axis=1))):
        obj.vertex_groups.new(name=group).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    settings = obj.conjac
    settings.enabled, settings.mesher, settings.edge_length, settings.step = True, "grid", 0.05, step
    settings.youngs_modulus = 5.0e3
    return obj


def rest_of(obj):
    co = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.vertices.foreach_get("co", co)
    return co.reshape(-1, 3)


def seen_at(obj, frame):
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    co = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", co)
    return co.reshape(-1, 3)


def frames_of(obj):
    """Return the bytes of every frame on disk."""
    folder = place.job_folder(obj) / "cache" / "frames"
    return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.npy"))}


def assert_plays(obj, frames):
    cache = place.cache_of(place.job_folder(obj))
    for frame in frames:
        np.testing.assert_allclose(seen_at(obj, frame), cache.frame(frame)[obj.name], atol=1e-6)


def run_until(bake, condition, seconds=240.0):
    """Tick like the window's timer until a condition is met."""
    until = time.monotonic() + seconds
    while not condition():
        assert bake.tick(), bake.progress
        assert time.monotonic() < until, bake.progress
        time.sleep(0.01)
